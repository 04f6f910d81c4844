"""The scripts that make a container what the fabric says: their facts, and how they are run.

A container has its script at one path. It runs it first of all at each start, so that no packet
passes before the rules are there; whoever changes the fabric puts a new one there and runs it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from hashlib import sha256
from ipaddress import IPv4Address

from components.local.containers.engine import docker
from tests.clouds.fabric.boot import FOLDER, text
from tests.clouds.fabric.disks import Device
from tests.clouds.fabric.firewall import firewall
from tests.clouds.fabric.model import Machine, Network
from tests.clouds.fabric.place import gateway
from tests.clouds.fabric.router import Router, rules

SETUP = f"{FOLDER}/setup.sh"
RUN = f"flock {SETUP}.lock sh {SETUP}"
# One after the other, also while the container starts, and never half of a script.
_REPLACE = f"cat >{SETUP}.new && mv {SETUP}.new {SETUP} && {RUN}"


def machine_script(machine: Machine, network: Network, devices: Mapping[str, Device]) -> str:
    """A machine's script; `devices` has the block device of each disk, by its id."""
    facts = {
        "firewall": firewall(machine),
        "mtu": str(machine.mtu),
        "gateway": str(gateway(network)),
        "local_addresses": " ".join(machine.local_addresses),
        "disks": "\n".join(
            f"{device.path} {device.major} {device.minor} {disk.path}"
            for disk in machine.disks
            for device in (devices[disk.id],)
        ),
        # As with the clouds' images, no key lets root in.
        "keys": "\n".join(
            f"{user} {line.strip()}"
            for user, lines in machine.login_keys.items()
            for line in lines
            if user != "root"
        ),
    }
    return _script(facts, "machine.sh")


def router_script(router: Router, own_address: IPv4Address) -> str:
    """The router's script."""
    facts = {
        "own_address": str(own_address),
        "addresses": " ".join(router.addresses),
        "sources": " ".join(router.sources),
        "kept": "\n".join(router.kept),
        "backends": "\n".join(router.backends),
        "probes": "\n".join(router.probes),
        "rules": rules(router),
    }
    return _script(facts, "router.sh")


def _script(facts: Mapping[str, str], body: str) -> str:
    lines = (f"{name}={shlex.quote(value)}\n" for name, value in facts.items())
    return "".join([*lines, text(body)])


def digest(script: str) -> str:
    """What a script is known by once it has run: it may say who logs in."""
    return sha256(script.encode()).hexdigest()


def run(container: str, script: str) -> None:
    """Put the script into a running container and run it there."""
    docker("exec", "--interactive", container, "sh", "-c", _REPLACE, stdin=script.encode())
