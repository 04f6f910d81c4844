"""Three machines that nobody made for a cluster, and a bastion in front of them.

They are containers of the local platform's machine image, simulated metal: plain hosts with sshd
and a user who may become root, who is let in from the bastion only. What they have before a cluster
comes is what they must have once it is gone.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from components.local.containers.machines import create_machine
from components.local.containers.mirrors import create_mirror
from components.local.containers.networks import create_network
from components.local.containers.requests import MachineRequest, MirrorRequest, NetworkRequest
from components.local.image.build import image_tag
from tests.e2e import machine
from tests.engine.cli import Config

NETWORK, CIDR = "metalhosts", "172.31.79.0/24"
MASTER, *NODES = HOSTS = ("metalhosts-a", "metalhosts-b", "metalhosts-c")
GATE, MIRROR = "metalhosts-gate", "metalhosts-mirror"
USER, GATE_USER = "operator", "gate"
RACK = {"example.com/rack": "r7"}

# `*`: a password that nobody has; without one sshd takes the account for locked. No group of its
# own: Debian has one of the name `operator`.
_USER = """\
set -eu
useradd --create-home --no-user-group --shell /bin/bash --password '*' {user}
install -d -m 0700 -o {user} /home/{user}/.ssh
mv /root/.ssh/authorized_keys /home/{user}/.ssh/
chown {user} /home/{user}/.ssh/authorized_keys
printf 'PermitRootLogin no\\nAllowUsers {user}{whence}\\n' >/etc/ssh/sshd_config.d/00-users.conf
systemctl reload ssh
"""
_SUDO = f"""\
echo '{USER} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/{USER}
chmod 0440 /etc/sudoers.d/{USER}
su {USER} -c 'sudo -n true'
"""

# What a machine has, part by part; what changes by itself is left out.
_NOT_OURS = (
    *("/proc", "/sys", "/dev", "/var/log", "/var/lib/systemd", "/run/systemd", "/run/log"),
    *("/run/user", "/run/sudo", "/tmp/systemd-private-*", "/var/tmp/systemd-private-*"),
)
PARTS: Mapping[str, str] = {
    "files": f"find / \\( -path {' -o -path '.join(map(repr, _NOT_OURS))} \\) -prune "
    "-o -printf '%p %y %m %u:%g %l\\n' | sort",
    "contents": "find /etc /home /root -type f -print0 | sort -z | xargs -0 sha256sum",
    "unit files": "systemctl list-unit-files --plain --no-legend --no-pager",
    "units": "systemctl list-units --all --plain --no-legend --no-pager --state=active,failed "
    "| awk '$1 !~ /\\.(scope|device)$/ {print $1, $3}' | sort",
    "mounts": "findmnt --list --noheadings --output TARGET,SOURCE,FSTYPE,PROPAGATION | sort",
    "nftables": "nft --stateless list ruleset",
    "interfaces": "ip -br link",
    "routes": "ip route show table all | sort; ip rule",
    "processes": "ps -e -o comm= | sort -u",
}


@dataclass(frozen=True, kw_only=True)
class Lab:
    """The machines as a person knows them."""

    folder: Path
    keys: Mapping[str, str]  # each machine's public host key
    addresses: Mapping[str, str]
    mirror: Mapping[str, str] | None  # as the config has it

    @property
    def key_file(self) -> str:
        """The private key that may log in everywhere."""
        return str(self.folder / "key")

    @property
    def known_hosts(self) -> str:
        """Who is who, for configs that do not say it."""
        return str(self.folder / "known_hosts")


def make(folder: Path, mirror: str | None) -> Lab:
    """Make the machines. `mirror`: the folder that they need when there is no internet."""
    create_network(NetworkRequest(name=NETWORK, cidr=CIDR, internal=mirror is not None))
    login = asyncssh.generate_private_key("ssh-ed25519")
    (folder / "key").touch(mode=0o600)
    (folder / "key").write_bytes(login.export_private_key())
    keys, addresses = {}, {}
    for name in (GATE, *HOSTS):
        own = asyncssh.generate_private_key("ssh-ed25519")
        keys[name] = _public(own)
        made = create_machine(
            MachineRequest(
                name=name,
                network=NETWORK,
                image=image_tag(),
                authorized_key=_public(login),
                host_key_private=own.export_private_key().decode(),
                host_key_public=keys[name],
            )
        )
        addresses[name] = str(made["address"])
        user, whence = (GATE_USER, "") if name == GATE else (USER, f"@{addresses[GATE]}")
        script = _USER.format(user=user, whence=whence)
        machine.run(
            *("docker", "exec", "-i", name, "bash", "-s"),
            stdin=script if name == GATE else script + _SUDO,
        )
    known = "".join(f"{addresses[name]} {key}\n" for name, key in keys.items())
    (folder / "known_hosts").write_text(known)
    return Lab(folder=folder, keys=keys, addresses=addresses, mirror=_mirror(mirror))


def _public(key: asyncssh.SSHKey) -> str:
    return " ".join(key.export_public_key().decode().split()[:2])


def _mirror(directory: str | None) -> Mapping[str, str] | None:
    if directory is None:
        return None
    served = create_mirror(
        MirrorRequest(name=MIRROR, network=NETWORK, image=image_tag(), directory=directory)
    )
    return {"directory": directory, "url": str(served["url"])}


# The same hosts in three ways.


def listed(lab: Lab, names: tuple[str, ...] = HOSTS) -> Config:
    """In the config itself, host keys and all."""
    return {
        "user": USER,
        "keyFile": lab.key_file,
        "knownHostsFile": "/dev/null",
        "bastion": {
            "address": lab.addresses[GATE],
            "user": GATE_USER,
            "hostKey": lab.keys[GATE],
        },
        "hosts": [
            {
                "name": name,
                "role": "master" if name == MASTER else "node",
                "address": lab.addresses[name],
                "hostKey": lab.keys[name],
                **({"pool": "big", "labels": RACK} if name == NODES[1] else {}),
            }
            for name in names
        ],
    }


def from_terraform(lab: Lab) -> Config:
    """In what `terraform output -json` would print; host keys are known to this computer."""
    hosts = [
        {
            "name": name,
            "role": "master" if name == MASTER else "node",
            "address": lab.addresses[name],
            "user": USER,
            "pool": "big" if name == NODES[1] else None,
            "labels": RACK if name == NODES[1] else None,
        }
        for name in HOSTS
    ]
    bastion = {"address": lab.addresses[GATE], "user": GATE_USER}
    outputs = {"kubernetes_anywhere_hosts": hosts, "kubernetes_anywhere_bastion": bastion}
    file = lab.folder / "outputs.json"
    file.write_text(
        json.dumps(
            {
                name: {"sensitive": False, "type": "dynamic", "value": value}
                for name, value in outputs.items()
            }
        )
    )
    return _with_inventory(lab, "terraform", file)


def from_ansible(lab: Lab) -> Config:
    """In an inventory, with the bastion in the arguments of ssh."""
    lines = {name: f"{name} ansible_host={lab.addresses[name]}" for name in HOSTS}
    big = f'kubernetes_anywhere_pool=big kubernetes_anywhere_labels="{RACK}"'
    file = lab.folder / "inventory.ini"
    file.write_text(
        f"[masters]\n{lines[MASTER]}\n"
        f"[workers]\n{lines[NODES[0]]}\n{lines[NODES[1]]} {big}\n"
        f"[all:vars]\nansible_user={USER}\n"
        f"ansible_ssh_common_args='-o ProxyJump={GATE_USER}@{lab.addresses[GATE]}'\n"
    )
    return _with_inventory(lab, "ansible", file)


def _with_inventory(lab: Lab, tool: str, file: Path) -> Config:
    return {
        "inventory": {tool: str(file)},
        "keyFile": lab.key_file,
        "knownHostsFile": lab.known_hosts,
    }


WAYS: Mapping[str, Callable[[Lab], Config]] = {
    "list": listed,
    "terraform": from_terraform,
    "ansible": from_ansible,
}


def found(host: str) -> dict[str, list[str]]:
    """What a machine has, part by part."""
    return {
        part: machine.run("docker", "exec", "-i", host, "bash", "-s", stdin=script).splitlines()
        for part, script in PARTS.items()
    }


def differences(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> str:
    """What is not as it was: nothing if all is."""
    lines = [
        line
        for part in PARTS
        for line in difflib.unified_diff(
            before[part], after[part], f"{part} before", f"{part} after", lineterm="", n=0
        )
    ]
    return "\n".join(lines)
