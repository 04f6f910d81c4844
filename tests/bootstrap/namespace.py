"""Runs the shell programs for real in namespaces of their own: a host's folders, mounts, network.

What would reach beyond them is simulated: systemd, kernel modules, `nft`, and cgroups, which are a
folder here. `ip`, `mount`, `iptables` and the network's sysctls are real, and see nothing of this
computer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# The `nft` is one that keeps tables in files.
STUBS = {
    "systemctl": "true",
    "systemd-detect-virt": "false",
    "modprobe": 'echo "modprobe $*" >>"$HOST/calls"',
    "hostname": "echo test-node-0",
    "nft": r"""
        case "$1 $2" in
          "list tables") cat "$HOST/tables" ;;
          "list table") cat "$HOST/table.$4" ;;
          "delete table") sed -i "/^table $3 $4\$/d" "$HOST/tables" ;;
        esac
    """,
}
# A host as somebody else set it up, and what it is like.
HOST = r"""
set -euo pipefail
mount --make-rprivate /
echo "table inet theirs" >"$HOST/tables"
mkdir -p "$HOST/layers"
mount -t tmpfs layers "$HOST/layers"
for folder in /etc /usr/libexec; do
  layer="$HOST/layers/${folder##*/}"
  mkdir -p "$folder" "$layer/upper" "$layer/work"
  mount -t overlay overlay -o "lowerdir=$folder,upperdir=$layer/upper,workdir=$layer/work" "$folder"
done
for folder in /opt /run /var/lib /var/log /sys/fs/cgroup; do mount -t tmpfs tmpfs "$folder"; done
mkdir /sys/fs/cgroup/memory
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 # addresses of their own that come and go
ip link set lo up
ip link add user0 type veth peer name user1
ip address add 192.0.2.10/24 dev user0
ip link set user0 up
ip link set user1 up
ip route add 10.1.0.0/16 via 192.0.2.1
echo 0 >/proc/sys/net/ipv4/ip_forward
mkdir -p /etc/containerd /etc/cni/net.d /opt/cni/bin /var/lib/mine
echo theirs >/etc/containerd/config.toml
echo theirs >/opt/cni/bin/theirs
iptables -t nat -A POSTROUTING -s 192.0.2.0/24 -j MASQUERADE
chmod 0700 /etc/containerd
mount -t tmpfs mine /var/lib/mine
echo precious >/var/lib/mine/data

snapshot() {
  {
    find /etc /opt /run /usr/libexec /var/lib /var/log -printf 'path %p %y %m %l\n'
    find /etc/c* /opt /var/lib /var/log -type f -exec sha256sum {} +
    ip -o link show | sed -E 's/^[0-9]+: //; s/^/link /'
    ip route show table all | sed 's/^/route /'
    while read -r _ _ _ _ point _; do echo "mount $point"; done </proc/self/mountinfo
    iptables-save | sed -E '/^#/d; s/\[[0-9:]+\]//; s/^/rule /'
    echo "ip_forward $(</proc/sys/net/ipv4/ip_forward)"
  } | sort >"$HOST/$1"
}
"""


def run(folder: Path, *texts: str) -> subprocess.CompletedProcess[str]:
    """Run a program in new namespaces, after `HOST`, with `folder` as `$HOST`."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("makes namespaces: root and `unshare` are needed")
    for name, body in STUBS.items():
        path = folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)
    return subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "bash", "-s"],
        input="\n".join((HOST, *texts, "")),
        env={"PATH": f"{folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOST": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
