"""The catalogue of a mirror: which images and archives it holds, and which it could not get.

`python -m airgap mirror` writes it as `catalog.json` into the mirror's directory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

CATALOGUE_FILE = "catalog.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """What a mirror holds."""

    release: str  # the Kubernetes version that it was made for
    images: Mapping[str, str]  # reference upstream: digest on the mirror
    archives: Mapping[str, str]  # file name: sha256
    unavailable: Mapping[str, str]  # reference upstream: why the mirror has not got it

    def missing(self, references: Iterable[str]) -> dict[str, str]:
        """Those of the references that the mirror has not got, and why."""
        return {
            reference: self.unavailable.get(reference, "it was made before that was asked for")
            for reference in references
            if reference not in self.images
        }


class CatalogueError(Exception):
    """There is no usable catalogue; the message says what is wrong with it."""


_FORM = TypeAdapter(Catalogue)


def read_catalogue(directory: str) -> Catalogue:
    """The catalogue of the mirror in `directory`."""
    path = Path(directory).expanduser() / CATALOGUE_FILE
    try:
        return _FORM.validate_json(path.read_bytes(), strict=True)
    except FileNotFoundError:
        raise CatalogueError(f"holds no {CATALOGUE_FILE}, so it is no mirror") from None
    except OSError as error:
        raise CatalogueError(f"cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise CatalogueError(
            f"has a broken {CATALOGUE_FILE}: {where}{': ' if where else ''}{first['msg']}"
        ) from None
