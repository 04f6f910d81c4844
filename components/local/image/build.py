"""Makes the machine image, once for each version of this folder.

On Debian, as root, it is made with debootstrap from the package mirror that the machine already
uses, which needs no image registry; elsewhere from the Dockerfile. Both install `packages.txt` and
run `files/setup.sh`.

`python -m components.local.image.build [debootstrap|dockerfile]` prints the image's tag.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from components.local.containers.shell import (
    CommandError,
    apt_install,
    cache_folder,
    can_apt,
    is_root,
    locked,
    run,
    say,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Way = Literal["debootstrap", "dockerfile"]

HERE = Path(__file__).parent
REPOSITORY = "kubernetes-anywhere/machine"
SUITE = "bookworm"
VARIANT = "minbase"
SETUP = "/tmp/files"  # noqa: S108  (inside the image's root, where nobody else is)
ENTRYPOINT = "/usr/local/sbin/machine-entrypoint"
_ONE_LINE = re.compile(r"\s*deb\s+(\[[^]]*\]\s*)?(?P<uri>\S+)\s+(?P<suite>\S+)")
_RELEASES = frozenset({"bullseye", "bookworm", "trixie", "forky", "sid", "stable", "testing"})


def sources() -> list[Path]:
    """The files that are the image's content, in a stable order."""
    return sorted(
        path
        for path in HERE.rglob("*")
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    )


def content_hash() -> str:
    """Names what the image is made of: this folder, and what this module adds to it."""
    digest = hashlib.sha256(f"{SUITE} {VARIANT} {ENTRYPOINT}\n".encode())
    for path in sources():
        digest.update(f"{path.relative_to(HERE).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]


def image_tag() -> str:
    """The tag that belongs to this folder's content."""
    return f"{REPOSITORY}:{content_hash()}"


def packages() -> list[str]:
    """What the image has beyond Debian's minimum."""
    return (HERE / "packages.txt").read_text().split()


def choose_way(os_release: str, *, root: bool) -> Way:
    """Debian as root has all that debootstrap needs; everybody else can use the Dockerfile."""
    fields = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    return "debootstrap" if root and fields.get("ID", "").strip('"') == "debian" else "dockerfile"


def debian_mirror(apt: Path = Path("/etc/apt")) -> str:
    """The package mirror that this machine's apt uses for Debian itself.

    One-line files look like `deb [options] URI SUITE COMPONENT...`, the others have fields.
    """
    for path in [apt / "sources.list", *sorted(apt.glob("sources.list.d/*"))]:
        if path.suffix in (".list", ".sources") and path.is_file():
            for uri, suites in _entries(path):
                if not _RELEASES.isdisjoint(suites):  # security and updates have longer names
                    return uri
    raise CommandError(f"{apt} names no Debian package mirror: add one, or build the Dockerfile")


def _entries(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The (address, suites) pairs of one apt sources file."""
    text = path.read_text()
    if path.suffix == ".list":
        for line in text.splitlines():
            if entry := _ONE_LINE.match(line):
                yield entry["uri"], [entry["suite"]]
        return
    for stanza in text.split("\n\n"):
        fields = {
            key.strip().lower(): value.split()
            for key, colon, value in (line.partition(":") for line in stanza.splitlines())
            if colon and not key.startswith("#")
        }
        if "deb" in fields.get("types", []) and fields.get("enabled", ["yes"]) != ["no"]:
            for uri in fields.get("uris", []):
                yield uri, fields.get("suites", [])


def image_exists(tag: str) -> bool:
    """Whether the engine has the image."""
    return bool(run(["docker", "image", "ls", "--quiet", tag]).strip())


def ensure_image(way: Way | None = None) -> str:
    """Make the image unless the engine has it; returns its tag."""
    tag = image_tag()
    with locked(cache_folder() / "machine.lock"):
        if image_exists(tag):
            return tag
        started = time.monotonic()
        if (way or _default_way()) == "debootstrap":
            _import(_root_archive(content_hash()), tag)
        else:
            say(f"machine image: building {tag} from the Dockerfile")
            run(["docker", "build", "--tag", tag, str(HERE)])
        say(f"machine image: {tag} made in {time.monotonic() - started:.0f} s")
    return tag


def _default_way() -> Way:
    release = Path("/etc/os-release")
    return choose_way(release.read_text() if release.is_file() else "", root=is_root())


def _import(archive: Path, tag: str) -> None:
    run(["docker", "import", "--change", f'ENTRYPOINT ["{ENTRYPOINT}"]', str(archive), tag])


def _root_archive(name: str) -> Path:
    """The image's root as a tar file, from the cache when a former engine needed it too."""
    folder = cache_folder() / "machine"
    folder.mkdir(exist_ok=True)
    archive = folder / f"{name}.tar"
    if not archive.exists():
        with tempfile.TemporaryDirectory(dir=folder, prefix=f"{name}.") as scratch:
            made = Path(scratch) / "root.tar"
            _make_root(Path(scratch) / "root", folder / "packages", made)
            made.rename(archive)
    return archive


def _make_root(root: Path, downloads: Path, archive: Path) -> None:
    if not shutil.which("debootstrap"):
        if not can_apt():
            raise CommandError("debootstrap is missing: install it, or build the Dockerfile")
        apt_install("debootstrap")
    mirror = debian_mirror()
    say(f"machine image: debootstrap of {len(packages())} packages from {mirror}, about a minute")
    downloads.mkdir(exist_ok=True)
    _alone(
        [
            *("debootstrap", f"--variant={VARIANT}", f"--include={','.join(packages())}"),
            *(f"--cache-dir={downloads}", SUITE, str(root), mirror),
        ]
    )
    inside = root / SETUP.lstrip("/")
    shutil.copytree(HERE / "files", inside)
    _alone(["chroot", str(root), "sh", f"{SETUP}/setup.sh", SETUP])
    shutil.rmtree(inside)
    run(["tar", "--create", "--numeric-owner", f"--file={archive}", f"--directory={root}", "."])


def _alone(argv: list[str]) -> None:
    """Run with mounts of its own: nothing stays mounted under the root, whatever happens."""
    run(["unshare", "--mount", "--propagation", "private", *argv])


def main() -> int:
    """Entry point: make the image and print its tag."""
    ways: dict[str, Way | None] = {
        "": None,
        "debootstrap": "debootstrap",
        "dockerfile": "dockerfile",
    }
    asked = " ".join(sys.argv[1:])
    if asked not in ways:
        say(f"machine image: {asked} is no way to make it: debootstrap or dockerfile")
        return 2
    try:
        sys.stdout.write(f"{ensure_image(ways[asked])}\n")
    except CommandError as error:
        say(f"machine image: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
