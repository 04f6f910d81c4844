"""Hosts that `reachable` refuses before anything is changed: each with host, fact and remedy."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from bootstrap import preflight
from interface import Traits
from model import Role
from tests.bootstrap.sandbox import NAME
from tests.bootstrap.views import MIRROR, VALID_FROM, on, view

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.bootstrap.sandbox import Sandbox

ARCHIVE = f"{MIRROR}/archives/containerd-2.3.4-linux-amd64.tar.gz"


def used(at: str, kind: str = "tcp", by: str = "nginx") -> str:
    """A line of `ss`."""
    return f'{kind} LISTEN 0 128 {at} *:* users:(("{by}",pid=7,fd=3))\n'


def from_now(seconds: int) -> str:
    """A moment, as a certificate has it."""
    return (dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def without(symbols: str) -> str:
    """The kernel's symbols, but for one kind."""
    kinds = ("ovl", "nf_conntrack", "nf_tables", "xt", "br_nf", "vxlan")
    return "".join(f"0 t {kind}_init\n" for kind in kinds if kind != symbols)


@dataclass(frozen=True, kw_only=True)
class Case:
    """How a host differs from one that is fit, and the words that must be said of it."""

    fact: str
    remedy: str
    files: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    traits: Traits | None = None
    valid_from: str = VALID_FROM
    masters: int = 1


CASES: Mapping[str, Case] = {
    "architecture": Case(
        files={"uname-m": "riscv64\n"},
        fact="the architecture is riscv64, the config wants amd64",
        remedy="set 'arch' to what the hosts are",
    ),
    "distribution": Case(
        files={"/etc/os-release": 'ID=alpine\nVERSION_ID=3.20\nPRETTY_NAME="Alpine Linux v3.20"\n'},
        fact="the operating system is Alpine Linux v3.20",
        remedy="install one of these, or a newer one of its kind: debian 12 ubuntu 22.04",
    ),
    "old Debian": Case(
        files={"/etc/os-release": 'ID=debian\nVERSION_ID="11"\nPRETTY_NAME="Debian 11"\n'},
        fact="the operating system is Debian 11",
        remedy="or a newer one of its kind: debian 12",
    ),
    "old Ubuntu": Case(
        files={"/etc/os-release": 'ID=ubuntu\nVERSION_ID="20.04"\nPRETTY_NAME="Ubuntu 20.04"\n'},
        fact="the operating system is Ubuntu 20.04",
        remedy="ubuntu 22.04",
    ),
    "kernel": Case(
        files={"uname-r": "5.10.0-33-amd64\n"},
        fact="the kernel is 5.10.0-33-amd64",
        remedy="boot 5.13 or a newer one",
    ),
    "no overlay": Case(
        files={"/proc/kallsyms": without("ovl")},
        fact="the kernel has no overlay",
        remedy="install all modules of Linux 6.1.0-31-amd64",
    ),
    "no nftables": Case(
        files={"/proc/kallsyms": without("nf_tables")},
        fact="the kernel has no nf_tables",
        remedy="or boot another kernel",
    ),
    "no iptables": Case(
        files={"/proc/kallsyms": without("xt")},
        config={"network": {"proxyMode": "iptables"}},
        fact="the kernel has no x_tables",
        remedy="or boot another kernel",
    ),
    "no bridge filter": Case(
        files={"/proc/kallsyms": without("br_nf")},
        fact="the kernel has no br_netfilter",
        remedy="install all modules",
    ),
    "no VXLAN": Case(
        files={"/proc/kallsyms": without("vxlan")},
        fact="the kernel has no vxlan",
        remedy="install all modules",
    ),
    "old cgroups": Case(
        files={"/sys/fs/cgroup/cgroup.controllers": ""},
        fact="there is no cgroup controller 'memory'",
        remedy="boot with cgroup_enable=memory",
    ),
    "swap": Case(
        files={"/proc/swaps": "Filename Type\n/swap.img file\n/dev/sda3 partition\n"},
        traits=Traits(),
        fact="swap is on: /swap.img /dev/sda3",
        remedy="run 'swapoff -a' and take it out of /etc/fstab, or set 'kubelet.config.failSwapOn'",
    ),
    "noexec": Case(
        files={"options": "rw,nosuid,noexec,relatime\n"},
        fact="no program may run from /var/lib",
        remedy="mount it without 'noexec'",
    ),
    "one full disk": Case(
        files={"disk/all": "/dev/x 9999 0 5000 0% /\n"},
        fact="/ has 5000 MiB free and needs 5392 for /opt /var/lib /etc /var/log",
        remedy="free some, or give it a larger disk",
    ),
    "a full disk of its own": Case(
        files={"disk/opt": "/dev/y 9999 0 7 0% /opt\n"},
        fact="/opt has 7 MiB free and needs 1024 for /opt",
        remedy="free some",
    ),
    "SELinux": Case(
        files={"/sys/fs/selinux/enforce": "1"},
        fact="SELinux is enforcing",
        remedy="run 'setenforce 0', and set SELINUX=permissive",
    ),
    "not root": Case(
        files={"uid": "1000\n"},
        fact="the SSH user is not root",
        remedy="log in as root, or as a user who may use sudo",
    ),
    "another address": Case(
        files={"address": "198.51.100.1\n"},
        fact="no interface has the address 172.30.0.10 (there are 192.0.2.7/24)",
        remedy="correct the host's address",
    ),
    "MTU": Case(
        files={"/sys/class/net/eth0/mtu": "1300\n"},
        fact="the MTU of eth0 is 1300",
        remedy="raise it to 1330 at least",
    ),
    "MTU without a tunnel": Case(
        files={"/sys/class/net/eth0/mtu": "1200\n"},
        config={"network": {"backend": "host-gw"}},
        fact="the MTU of eth0 is 1200",
        remedy="raise it to 1280 at least",
    ),
    "Docker's network": Case(
        files={"routes": "default via 1.1.1.1\n172.17.0.0/16 dev docker0 linkdown\n"},
        config={"network": {"podCidr": "172.16.0.0/12", "hostCidr": "192.0.2.0/24"}},
        fact="172.16.0.0/12 overlaps with the route '172.17.0.0/16 dev docker0 linkdown'",
        remedy="set 'network.podCidr' to a range that no host uses",
    ),
    "a network for services": Case(
        files={"routes": "10.0.0.0/8 via 192.0.2.1 dev eth0\n"},
        fact="10.96.0.0/16 overlaps with the route '10.0.0.0/8 via 192.0.2.1 dev eth0'",
        remedy="set 'network.serviceCidr'",
    ),
    "a route to nowhere": Case(
        files={"routes": "blackhole 10.244.7.0/24 proto 80\n"},
        fact="10.244.0.0/16 overlaps with the route '10.244.7.0/24 proto 80'",
        remedy="set 'network.podCidr'",
    ),
    "a route to one host": Case(
        files={"routes": "10.244.3.4 via 192.0.2.1 dev eth0\n"},
        fact="overlaps with the route '10.244.3.4 via 192.0.2.1 dev eth0'",
        remedy="set 'network.podCidr'",
    ),
    "API port": Case(
        files={"listening": used("*:6443")},
        fact="port 6443/tcp is in use by nginx",
        remedy="stop it, or let it use another port",
    ),
    "kubelet port": Case(
        files={"listening": used("[::]:10250", by="node_exporter")},
        fact="port 10250/tcp is in use by node_exporter",
        remedy="stop it",
    ),
    "flannel's health port": Case(
        files={"listening": used("0.0.0.0:8081", by="java")},
        fact="port 8081/tcp is in use by java",
        remedy="stop it",
    ),
    "VXLAN port": Case(
        files={"listening": used("0.0.0.0:8472", "udp").replace("LISTEN", "UNCONN")},
        fact="port 8472/udp is in use by nginx",
        remedy="stop it",
    ),
    "a port of nobody": Case(
        files={"listening": "tcp LISTEN 0 128 *:2379 *:*\n"},
        fact="port 2379/tcp is in use by somebody",
        remedy="stop it",
    ),
    "Docker": Case(
        files={"active/docker": ""},
        fact="docker is in the place of our container runtime",
        remedy="run 'systemctl disable --now docker'",
    ),
    "another containerd": Case(
        files={"/etc/systemd/system/multi-user.target.wants/containerd.service": ""},
        fact="containerd is in the place of our container runtime",
        remedy="run 'systemctl disable --now containerd'",
    ),
    "no way to the mirror": Case(
        files={"away": f"{ARCHIVE}\n{MIRROR}/v2/\n"},
        fact=f"cannot reach {ARCHIVE} for archives (curl: (7) Failed to connect)",
        remedy="let this host reach it, or correct 'mirror'",
    ),
    "a mirror of another version": Case(
        files={"unknown": f"{ARCHIVE}\n"},
        fact=f"{ARCHIVE} answers with HTTP 404 and has no archives",
        remedy="fill the mirror for this version, or correct 'mirror'",
    ),
    "a mirror that is none": Case(
        files={"unknown": f"{MIRROR}/v2/\n"},
        fact=f"{MIRROR}/v2/ answers with HTTP 404 and has no images",
        remedy="correct 'mirror'",
    ),
    "clock behind the certificates": Case(
        valid_from=from_now(600),
        fact="and the certificates begin at 20",
        remedy="set it right, and keep it so by NTP",
    ),
    "clock ahead": Case(
        files={"ahead": "600"},
        fact=f"and that of {ARCHIVE} 20",
        remedy="set it right, and keep it so by NTP",
    ),
    "clock behind": Case(
        files={"ahead": "-600"},
        fact=f"and that of {ARCHIVE} 20",
        remedy="set it right, and keep it so by NTP",
    ),
    "first boot": Case(
        files={"cloud-init": "1"},
        fact="cloud-init failed",
        remedy="see /var/log/cloud-init-output.log",
    ),
    "another cluster of ours": Case(
        files={"/var/lib/kubernetes-anywhere/cluster": "other\n"},
        fact="leftovers of another cluster (a part of the cluster 'other')",
        remedy="take that one down, or move them away",
    ),
    "static pods": Case(
        files={"/etc/kubernetes/manifests/x.yaml": ""},
        fact="leftovers of another cluster (/etc/kubernetes/manifests)",
        remedy="move them away",
    ),
    "etcd's data": Case(
        files={"/var/lib/etcd/member/wal": "", "/var/lib/etcd/.cluster": "other\n"},
        fact="leftovers of another cluster (/var/lib/etcd/member)",
        remedy="move them away",
    ),
    "a kubelet that runs": Case(
        files={"active/kubelet": "", "/var/lib/kubelet/pki/x": ""},
        fact="(the running unit kubelet.service, /var/lib/kubelet/pki)",
        remedy="take that one down",
    ),
    "k3s": Case(
        files={"active/k3s": "", "/var/lib/rancher/k3s/x": ""},
        fact="(the running unit k3s.service, /var/lib/rancher)",
        remedy="take that one down",
    ),
    "a pod network": Case(
        files={"/etc/cni/net.d/87-podman.conflist": "", "links": "eth0\ncni0\n"},
        fact="(/etc/cni/net.d, the interface cni0)",
        remedy="move them away",
    ),
    "a unit of another kubelet": Case(
        files={"/etc/systemd/system/kubelet.service.d/10-kubeadm.conf": ""},
        fact="(/etc/systemd/system/kubelet.service.d)",
        remedy="move them away",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_host_is_refused_with_the_fact_and_the_remedy(host: Sandbox, name: str) -> None:
    """B10: clocks. H12: others' data. H20: routes."""
    case = CASES[name]
    for path, text in case.files.items():
        host.write(path, text)
    found = on(view(Role.MASTER, masters=case.masters, **case.config), mirror_url=MIRROR)
    if case.traits:
        found = on(found, traits=case.traits)
    ran = host.run(preflight.reachable(found, case.valid_from))
    assert ran.status == 1
    assert f"{NAME}: " in ran.stderr
    line = next(line for line in ran.stderr.splitlines() if case.fact in line)
    assert line.startswith("  - "), ran.stderr
    assert case.remedy in line
    assert not ran.restarts


def test_cgroups_of_version_1_are_refused_where_the_kubelet_refuses_them(host: Sandbox) -> None:
    host.path("/sys/fs/cgroup/cgroup.controllers").unlink()
    ran = host.run(preflight.reachable(on(view(Role.NODE), traits=Traits()), VALID_FROM))
    assert "cgroups are of version 1; boot with systemd.unified_cgroup_hierarchy=1" in ran.stderr


def test_a_host_without_systemd_is_refused(host: Sandbox) -> None:
    host.path("run/systemd/system").rmdir()
    ran = host.run(preflight.reachable(view(Role.MASTER), VALID_FROM))
    assert f"{NAME}: 1 problem(s):\n  - systemd does not run; boot with it\n" in ran.stderr


def test_commands_that_are_missing_are_named(host: Sandbox) -> None:
    text = preflight.reachable(view(Role.MASTER), VALID_FROM)
    asked = text.replace("needs_commands awk", "needs_commands no-awk no-tar awk")
    ran = host.run(asked)
    assert "these commands are missing: no-awk no-tar; install the packages" in ran.stderr


def test_both_clocks_are_told(host: Sandbox) -> None:
    """B10: who is wrong is for a person to see."""
    host.write("ahead", "600")
    found = on(view(Role.NODE), mirror_url=MIRROR)
    host.write("address", f"{found.address}\n")
    ran = host.run(preflight.reachable(found, VALID_FROM))
    here, there = (
        dt.datetime.fromisoformat(ran.stderr.split(words)[1].split()[0].rstrip(";"))
        for words in ("the clock says ", f"that of {ARCHIVE} ")
    )
    assert 598 <= (here - there).total_seconds() <= 602


def test_certificates_that_begin_in_seconds_are_waited_for(host: Sandbox) -> None:
    """B10: as on a host whose clock is a little behind, when they are renewed."""
    host.write("bin/sleep", '#!/bin/bash\necho "$1" >>"$ROOT/slept"\n')
    assert host.run(preflight.reachable(view(Role.MASTER), from_now(65))).status == 1
    assert not host.path("slept").exists()
    assert host.run(preflight.reachable(view(Role.MASTER), from_now(30))).status == 0
    assert 25 <= int(host.read("slept")) <= 30


@pytest.mark.parametrize("ahead", [-60, -3, 0, 60])
def test_a_clock_that_is_a_little_off_will_do(host: Sandbox, ahead: int) -> None:
    """B10: minutes make certificates invalid, seconds do not."""
    host.write("ahead", str(ahead))
    assert host.run(preflight.reachable(view(Role.MASTER), VALID_FROM)).status == 0
