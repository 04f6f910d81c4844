"""Which add-ons are had, and who owns their objects: Pulumi or the addon-manager, never both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from addons import ADDONS, EssentialImageError
from interface import ADDONS_DIRECTORY
from tests.addons.cases import CASES, context, delivered, everything, rendered, selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from addons.objects import Manifest

MANAGED = {"addons": {"delivery": "addon-manager"}}
MODE = "addonmanager.kubernetes.io/mode"
UNAVAILABLE = "built from source: refused"


def keys(objects: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return sorted(
        (o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"]) for o in objects
    )


def in_files(raw: dict[str, Any], network: Sequence[Manifest] = ()) -> list[dict[str, Any]]:
    files = delivered(raw, network=network).files
    return [o for text in files.values() for o in yaml.safe_load_all(text)]


@pytest.mark.parametrize("raw", CASES.values(), ids=CASES)
def test_pulumi_owns_every_object_and_none_carries_a_mark(raw: dict[str, Any]) -> None:
    """C10: by a mark, the addon-manager would delete what no file of its has."""
    delivery = delivered(raw)
    assert keys(list(delivery.objects)) == keys(everything(raw))
    assert delivery.files == {}
    assert "addonmanager" not in str(delivery.objects)
    assert "cluster-service" not in str(delivery.objects)


def test_the_addon_manager_owns_the_same_objects_each_with_its_mark() -> None:
    """C10: one mark, and never the old one."""
    assert delivered(MANAGED).objects == ()
    objects = in_files(MANAGED)
    assert keys(objects) == keys(everything())
    assert {o["metadata"]["labels"][MODE] for o in objects} == {"Reconcile"}
    assert "cluster-service" not in str(objects)


def test_but_for_the_mark_the_objects_are_the_same() -> None:
    objects = in_files(MANAGED)
    for o in objects:
        del o["metadata"]["labels"][MODE]
        if not o["metadata"]["labels"]:
            del o["metadata"]["labels"]
    assert objects == everything()


def test_pods_are_not_marked_since_the_addon_manager_removes_marked_ones_that_no_file_has() -> None:
    for o in in_files(MANAGED):
        assert MODE not in str(o.get("spec", ""))


def test_each_add_on_is_one_file_below_the_watched_folder() -> None:
    files = delivered(MANAGED).files
    assert set(files) == {f"{ADDONS_DIRECTORY}/{name}.yaml" for name in rendered()}


def without(*images: str) -> dict[str, str]:
    references = context().images
    return {references[image]: UNAVAILABLE for image in images}


@pytest.mark.parametrize("raw", [{}, MANAGED], ids=["pulumi", "addon-manager"])
def test_an_add_on_without_its_image_is_left_out_as_a_whole(raw: dict[str, Any]) -> None:
    delivery = delivered(raw, without("fluentd", "heapster"))
    (skipped,) = delivery.skipped
    reference = context().images["fluentd"]
    assert str(skipped) == f"fluentd is left out: the mirror has no {reference} ({UNAVAILABLE})"
    assert "fluentd" not in str(delivery.objects) + str(delivery.files)
    assert "kube-logging" not in str(delivery.objects) + str(delivery.files)
    assert "coredns" in str(delivery.objects) + str(delivery.files)


def test_an_add_on_of_two_images_is_left_out_for_want_of_either() -> None:
    optional = replace(ADDONS[2], essential=False)
    assert optional.name == "flannel"
    for image in optional.images:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("addons.ADDONS", (optional,))
            found = selection({}, without(image))
        assert found.enabled == ()
        assert [skip.image for skip in found.skipped] == [context().images[image]]


def test_a_cluster_that_could_not_work_is_refused_with_every_image_that_it_lacks() -> None:
    images = ("kube-proxy", "flannel-cni-plugin", "coredns", "fluentd")
    with pytest.raises(EssentialImageError) as raised:
        selection({}, without(*images))
    references = context().images
    for image in images[:3]:
        assert f"{references[image]} ({UNAVAILABLE})" in str(raised.value)
    assert references["fluentd"] not in str(raised.value)


def test_what_is_switched_off_may_be_missing() -> None:
    raw = {"network": {"proxyMode": "none", "plugin": "none"}, "addons": {"dns": "none"}}
    assert selection(raw, without("kube-proxy", "flannel", "coredns")).skipped == ()


def test_images_are_names_of_the_version_table() -> None:
    for addon in ADDONS:
        assert set(addon.images) <= set(context().images)


@pytest.mark.parametrize("raw", CASES.values(), ids=CASES)
def test_the_table_names_exactly_the_images_that_objects_use(raw: dict[str, Any]) -> None:
    objects = rendered(raw)
    for addon in selection(raw).enabled:
        named = {context(raw).images[image] for image in addon.images}
        text = str(objects[addon.name])
        assert {image for image in context(raw).images.values() if f"'{image}'" in text} == named
