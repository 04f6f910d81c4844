"""What is changed in copies of objects of others, which have to be as expected."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from addons.objects import Manifest, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def containers(manifest: Manifest) -> list[Manifest]:
    """The containers of the object's pods, in the order in which they start."""
    spec = pod_spec(manifest)
    return [*spec.get("initContainers", ()), *spec.get("containers", ())]


def container(manifest: Manifest, name: str) -> Manifest:
    """The container of that name. Raises LookupError if there is none."""
    for found in containers(manifest):
        if found["name"] == name:
            return found
    raise LookupError(f"{manifest['metadata']['name']} has no container {name}")


def repository(reference: str) -> str:
    """`weaveworks/weave-kube` of `docker.io/weaveworks/weave-kube:latest`."""
    name, _, last = reference.partition("@")[0].removeprefix("docker.io/").rpartition("/")
    return f"{name}/{last.partition(':')[0]}"


def with_images(objects: Iterable[Manifest], references: Sequence[str]) -> list[Manifest]:
    """The objects with these images in place of others of the same repositories.

    Raises LookupError for an image of a repository that is not among them.
    """
    ours = {repository(reference): reference for reference in references}
    copies = deepcopy(list(objects))
    for found in (one for manifest in copies for one in containers(manifest)):
        if repository(found["image"]) not in ours:
            raise LookupError(f"the version table has no image {found['image']}")
        found.update(image=ours[repository(found["image"])], imagePullPolicy="IfNotPresent")
    return copies


def set_environment(found: Manifest, ours: Mapping[str, str]) -> None:
    """Put our variables into a container, in place of others of the same names."""
    kept = [variable for variable in found.get("env") or () if variable["name"] not in ours]
    found["env"] = [*kept, *({"name": name, "value": value} for name, value in ours.items())]
