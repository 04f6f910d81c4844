"""Hosts from Terraform or OpenTofu: `terraform output -json`, or a state file of version 4.

The contract is three outputs, of which the first is needed. Nothing is guessed from resources:
which address of a machine is the right one, only who wrote the configuration knows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue
from pydantic.alias_generators import to_camel

from components.metal.inventories.found import Entry, Fault, Found

HOSTS = "kubernetes_anywhere_hosts"  # a list of objects as `metal.hosts` has them, or a map by name
OTHERS = {"kubernetes_anywhere_api_host": "apiHost", "kubernetes_anywhere_bastion": "bastion"}
STATE_VERSION = 4
AGAIN = "write the file that `terraform output -json >outputs.json` (or `tofu`) makes"


def parse(text: str) -> Found:
    """What a file of Terraform's says of hosts."""
    try:
        document = json.loads(text)
    except ValueError as error:
        return _refused("the file", f"is no JSON: {error}", AGAIN)
    words = _form_fault(document)
    if words:
        return _refused("the file", words, AGAIN)
    outputs = _outputs(document)
    if HOSTS not in outputs:
        there = f"its outputs are {', '.join(sorted(outputs))}" if outputs else "it has no outputs"
        return _refused(
            f"the output {HOSTS}",
            f"is missing: {there}",
            f"add `output {HOSTS}` with the hosts, as docs/metal.md has it, and apply",
        )
    return _found({name: outputs[name] for name in (HOSTS, *OTHERS) if name in outputs})


def _form_fault(document: Any) -> str | None:  # noqa: ANN401 (JSON has no narrower type)
    """What is wrong with the file as a whole."""
    if not isinstance(document, dict):
        return "has no outputs by name"
    # By type: an output may have any of these names, too.
    if isinstance(document.get("encrypted_data"), str):
        return "is an encrypted state"
    if isinstance(document.get("format_version"), str):
        return "is what `terraform show -json` prints"
    if _is_state(document) and document["version"] != STATE_VERSION:
        return f"is a state of version {document['version']}, not {STATE_VERSION}"
    outputs = _outputs(document)
    if not isinstance(outputs, dict) or not all(_is_output(item) for item in outputs.values()):
        return "is neither the outputs nor a state of version 4"
    return None


def _is_state(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("version"), int)


def _outputs(document: Mapping[str, Any]) -> Any:  # noqa: ANN401 (as above)
    return document.get("outputs") if _is_state(document) else document


def _is_output(item: JsonValue) -> bool:
    return isinstance(item, dict) and "value" in item


def _refused(place: str, message: str, remedy: str) -> Found:
    return Found(faults=(Fault(place=place, message=message, remedy=remedy),))


def _found(outputs: Mapping[str, Any]) -> Found:
    faults = [
        Fault(
            place=f"the output {name}",
            message="is sensitive, but addresses and names show in previews and on the nodes",
            remedy="wrap its value in nonsensitive() and take `sensitive` away",
            key=OTHERS.get(name, ""),
        )
        for name, output in outputs.items()
        if output.get("sensitive")
    ]
    others = {
        OTHERS[name]: Entry(value=_keys(output["value"]), place=name)
        for name, output in outputs.items()
        if name in OTHERS and output["value"] is not None
    }
    hosts = outputs[HOSTS]["value"]
    if isinstance(hosts, dict):
        entries = [
            Entry(value=_named(name, host), place=f"{HOSTS}[{json.dumps(name)}]")
            for name, host in hosts.items()
        ]
    elif isinstance(hosts, list):
        entries = [
            Entry(value=_keys(host), place=f"{HOSTS}[{index}]") for index, host in enumerate(hosts)
        ]
    else:
        return _refused(
            f"the output {HOSTS}",
            "is neither a list nor a map of hosts",
            "make it a list of objects, as docs/metal.md has it",
        )
    return Found(place=HOSTS, hosts=tuple(entries), others=others, faults=tuple(faults))


def _named(name: str, host: JsonValue) -> JsonValue:
    """An object of a map: it is called what it stands under, unless it says so itself."""
    return {"name": name, **_keys(host)} if isinstance(host, dict) else host


def _keys(value: Any) -> Any:  # noqa: ANN401 (whatever it is, the model judges it)
    """The object with the config's keys: Terraform's names have underscores, and null is unset."""
    if not isinstance(value, dict):
        return value
    return {to_camel(key): item for key, item in value.items() if item is not None}
