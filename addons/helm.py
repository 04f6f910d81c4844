"""Helm as a program on PATH that makes objects of a chart. It is asked for text: no cluster."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

SECONDS = 120


class HelmError(Exception):
    """Helm makes nothing of the chart; the message says why, `remedy` what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def template(
    chart: bytes, name: str, *, namespace: str, kubernetes: str, values: Mapping[str, JsonValue]
) -> bytes:
    """The objects of a packed chart as YAML. Raises HelmError."""
    helm = shutil.which("helm")
    if helm is None:
        raise HelmError(
            "is made from a Helm chart, and there is no helm on PATH",
            "install Helm 3 (https://helm.sh), or write another plugin",
        )
    with TemporaryDirectory(prefix="kubernetes-anywhere-") as folder:
        file = Path(folder) / f"{name}.tgz"
        file.write_bytes(chart)
        command = [helm, "template", name, str(file), "--namespace", namespace]
        done = subprocess.run(
            [*command, "--kube-version", kubernetes, "--values", "-"],
            input=json.dumps(values).encode(),
            capture_output=True,
            check=False,
            timeout=SECONDS,
        )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise HelmError(
            f"cannot be made from its chart: {' '.join(lines[-3:])}",
            "use a newer Helm 3 (https://helm.sh), or write another plugin",
        )
    return done.stdout
