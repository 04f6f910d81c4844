"""What each version of each component knows: tables of flags and of kubelet fields.

`flags/<minor>/<component>.txt` has a flag a line, as that version's --help lists them;
`flags/<minor>/kubelet-config.txt` has a field of KubeletConfiguration and its kind a line, read
from `types.go` of the Go module k8s.io/kubelet. The tables are data of ours: one that is missing is
our mistake, never a reason to skip a check.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from versions import Release

FLAGS = Path(__file__).resolve().parent.parent / "flags"
KUBELET_CONFIG = "kubelet-config"


class MissingTableError(Exception):
    """A table that should be in the repository is not."""


@cache
def _rows(path: Path) -> Mapping[str, str]:
    """Each line's first word, and the rest of the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise MissingTableError(
            f"{path} is missing: every version of the version table needs one"
        ) from None
    rows = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return {word.removeprefix("--"): rest.strip() for word, _, rest in rows}


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one release."""

    root: Path
    release: Release

    def flags(self, component: str) -> list[str]:
        """Every flag that the component knows."""
        return list(_rows(self.root / self.release.minor / f"{component}.txt"))

    def kubelet_fields(self) -> Mapping[str, str]:
        """Every field of KubeletConfiguration: the kind of its value."""
        return _rows(self.root / self.release.minor / f"{KUBELET_CONFIG}.txt")

    def version(self, component: str) -> str:
        """`etcd 3.7.3`, for messages."""
        number = self.release.etcd if component == "etcd" else self.release.kubernetes
        return f"{component} {number}"
