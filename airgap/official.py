"""Programs from their own sites, for computers that reach the internet and lack them."""

from __future__ import annotations

import os
import shutil
import sys
import urllib.request
from pathlib import Path

from airgap import paths
from airgap.recipes.engine import PULUMI_VERSION


def official_engine() -> tuple[str, ...]:
    """Pulumi from its own site when it is not installed; returns folders for PATH."""
    if shutil.which("pulumi"):
        return ()
    version = PULUMI_VERSION
    target = paths.cache() / "engine-official" / version
    if not target.exists():
        machine = {"amd64": "x64"}.get(_machine(), _machine())
        name = f"pulumi-v{version}-{sys.platform}-{machine}.tar.gz"
        archive = fetched(f"https://get.pulumi.com/releases/sdk/{name}")
        partial = target.with_suffix(".partial")
        shutil.unpack_archive(archive, partial)
        partial.rename(target)
        archive.unlink()
    return (str(target / "pulumi"),)


def official_kubectl(release: str) -> tuple[str, ...]:
    """A kubectl of the release when none is installed; returns folders for PATH."""
    if shutil.which("kubectl"):
        return ()
    target = paths.cache() / "kubectl-official" / release / "kubectl"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        place = f"{release}/bin/{sys.platform}/{_machine()}"
        program = fetched(f"https://dl.k8s.io/release/{place}/kubectl")
        program.chmod(0o755)
        program.rename(target)
    return (str(target.parent),)


def _machine() -> str:
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)


def fetched(url: str) -> Path:
    """A file from the internet, whole, in the cache's work folder. Raises SystemExit."""
    print(f"fetching {url}", flush=True)
    target = paths.work() / url.rsplit("/", 1)[-1]
    try:
        urllib.request.urlretrieve(url, target)  # noqa: S310 - two addresses, both https
    except OSError as error:
        raise SystemExit(f"cannot fetch {url}: {error}") from None
    return target
