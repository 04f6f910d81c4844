"""What is read from a YAML file of objects, and each thing that can be wrong with one."""

from __future__ import annotations

import pytest

from addons.documents import ADVICE, Fault, read

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
BAD: dict[str, tuple[str, Fault]] = {
    "nothing": ("", Fault("holds no object", ADVICE)),
    "comments only": ("# later\n---\n", Fault("holds no object", ADVICE)),
    "a text": (f"{OBJECT}---\n404 not found\n", Fault("document 2 is no object", ADVICE)),
    "a list": (f"- {{}}\n---\n{OBJECT}", Fault("document 1 is no object", ADVICE)),
    "no version": (
        "kind: ConfigMap\nmetadata: {name: a}\n",
        Fault("document 1 has no apiVersion", "add apiVersion to it"),
    ),
    "no kind": (
        f"{OBJECT}---\n---\napiVersion: v1\nmetadata: {{name: a}}\n",
        Fault("document 3 has no kind", "add kind to it"),
    ),
    "a kind that is no text": (
        "apiVersion: v1\nkind: 7\nmetadata: {name: a}\n",
        Fault("document 1 has no kind", "add kind to it"),
    ),
    "no metadata": (
        "apiVersion: v1\nkind: Pod\n",
        Fault("document 1 (Pod) has no metadata.name", "add one to it"),
    ),
    "a name that is made later": (
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n",
        Fault("document 1 (Pod) has no metadata.name", "add one to it"),
    ),
    "no name in a List": (
        "apiVersion: v1\nkind: List\nitems:\n"
        + "".join(f"- {{apiVersion: v1, kind: Pod, {x}}}\n" for x in ("metadata: {name: a}", "")),
        Fault("document 1, item 2 (Pod) has no metadata.name", "add one to it"),
    ),
    "a label of the addon-manager": (
        f"{OBJECT.replace('name: a', 'name: a, labels: {addonmanager.kubernetes.io/mode: X}')}",
        Fault(
            "document 1 (ConfigMap a) has the label addonmanager.kubernetes.io/mode, by which the "
            "addon-manager would own it",
            "take the label out",
        ),
    ),
}


@pytest.mark.parametrize(("text", "fault"), BAD.values(), ids=BAD)
def test_a_fault_names_the_document_and_the_remedy(text: str, fault: Fault) -> None:
    assert read(text.encode()).faults == [fault]


def test_all_faults_are_told() -> None:
    found = read(f"kind: A\n---\n{OBJECT}---\napiVersion: v1\nkind: B\n".encode())
    assert [fault.message for fault in found.faults] == [
        "document 1 has no apiVersion",
        "document 3 (B) has no metadata.name",
    ]
    assert len(found.objects) == 1


@pytest.mark.parametrize("data", [b"a: {b\n", b"a: b: c", b"\xff\xfe\xff", b"a: \x00"])
def test_what_is_no_yaml_is_told_with_the_place(data: bytes) -> None:
    (fault,) = read(data).faults
    assert fault.message.startswith("is no YAML: ")
    assert "\n" not in fault.message
    (broken,) = read(b"kind: A\nb: c: d\n").faults
    assert "line 2" in broken.message


def test_what_no_object_can_hold_is_told() -> None:
    (fault,) = read(b"a: !!binary aGVsbG8=\n").faults
    assert "holds what no object can" in fault.message


def test_objects_keep_their_order_and_a_list_is_its_items() -> None:
    listed = "apiVersion: v1\nkind: ConfigMapList\nitems:\n- " + OBJECT.replace("\n", "\n  ")
    found = read(f"{OBJECT.replace('a}', 'z}')}---\n{listed}\n---\n\n---\n{OBJECT}".encode())
    assert found.faults == []
    assert [item["metadata"]["name"] for item in found.objects] == ["z", "a", "a"]


def test_dates_and_signs_are_texts_and_anchors_are_copies() -> None:
    text = f"{OBJECT}data: &d {{day: 2026-11-30, sign: =, time: 2026-11-30T10:00:00Z}}\nmore: *d\n"
    (found,) = read(text.encode()).objects
    assert found["data"] == {"day": "2026-11-30", "sign": "=", "time": "2026-11-30T10:00:00Z"}
    assert found["more"] == found["data"]
    assert found["more"] is not found["data"]
