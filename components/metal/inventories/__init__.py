"""Hosts from files of other tools: read as data, never run.

`expand` is the thin part that reads the file; each reader is a pure function from a text to what it
says of hosts. What it cannot understand it refuses: a host with half of its variables would be
another host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from components.expansion import Expansion
from components.metal.files import UnreadableError, read_text, resolve
from components.metal.inventories import ansible, terraform
from components.metal.inventories.found import Found
from findings import Finding, Loc

SECTION, HOSTS, INVENTORY = "metal", "hosts", "inventory"
READERS: Mapping[str, Callable[[str], Found]] = {
    "terraform": terraform.parse,
    "ansible": ansible.parse,
}
# What the model cannot tell as long as the hosts are not known.
UNKNOWN: tuple[Loc, ...] = ((SECTION, HOSTS), ("masters", "count"))
JSON = dict[str, JsonValue]


def expand(keys: JSON) -> Expansion:
    """The config with the hosts of its inventory in the inventory's place.

    One that is not as the model wants it is left to the model, and so is one beside `hosts`.
    """
    section = keys.get(SECTION)
    if not isinstance(section, dict):
        return Expansion(keys=keys)
    inventory = section.get(INVENTORY)
    chosen = {**inventory} if isinstance(inventory, dict) else {}
    tool, path = chosen.popitem() if len(chosen) == 1 else ("", None)
    if section.get(HOSTS) or tool not in READERS or not isinstance(path, str):
        return Expansion(keys=keys)
    at = (SECTION, INVENTORY, tool)
    try:
        found = READERS[tool](read_text(path))
    except UnreadableError as error:
        finding = Finding(at, path, str(error), "write a file that is there and may be read")
        return Expansion(keys=keys, findings=(finding,), unknown=UNKNOWN)
    return _expanded(keys, section, found, at, path)


def _expanded(keys: JSON, section: JSON, found: Found, at: Loc, path: str) -> Expansion:
    taken = {key: entry for key, entry in found.others.items() if key not in section}
    places = {
        f"{SECTION}.{HOSTS}": f"{path}: {found.place}",
        **{f"{SECTION}.{key}": f"{path}: {entry.place}" for key, entry in taken.items()},
    }
    for index, host in enumerate(found.hosts):
        start = f"{SECTION}.{HOSTS}[{index}]"
        places[start] = f"{path}: {host.place}"
        places |= {f"{start}.{key}": f"{path}: {name}" for key, name in host.names.items()}
    whole: JSON = {
        **{key: value for key, value in section.items() if key != INVENTORY},
        **{key: entry.value for key, entry in taken.items()},
        HOSTS: [host.value for host in found.hosts],
    }
    findings = tuple(_findings(found, section, at, path))
    return Expansion(
        keys={**keys, SECTION: whole},
        findings=findings,
        places=places,
        unknown=UNKNOWN if findings else (),
    )


def _findings(found: Found, section: JSON, at: Loc, path: str) -> Iterator[Finding]:
    for fault in found.faults:
        if fault.key not in section:  # what the config says itself is not asked of the file
            yield Finding(at, path, f"{fault.place}: {fault.message}", fault.remedy)
    beside = [name for name in found.beside if (resolve(path).parent / name).is_dir()]
    if beside:
        yield Finding(
            at,
            path,
            f"has {' and '.join(beside)} beside it, whose variables only Ansible can put together",
            "write the file that `ansible-inventory -i INVENTORY --list >inventory.json` makes",
        )
