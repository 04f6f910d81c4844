"""What a cloud's machine is told at its first boot, by cloud-init: who it is, and where etcd lives.

Everything else is phase 2's, over SSH. The host key is here because nothing else is sure of a
machine's identity on the way to its first login. Who can read user data can pose as the machine
towards SSH, so each platform keeps it from pods (see its `machine` module).
"""

from __future__ import annotations

import yaml

ETCD_DIRECTORY = "/var/lib/etcd"
DISK_SECONDS = 300  # that a disk may come after its machine

# The disk is only formatted when it is blank: a machine that is made anew finds its member's data.
_ETCD_DISK = """\
set -eu
disk=$1
until [ -b "$disk" ]; do
  [ "$(cut -d. -f1 /proc/uptime)" -lt "$2" ] || { echo "no disk $disk"; exit 1; }
  sleep 1
done
disk=$(readlink -f "$disk")
blkid "$disk" >/dev/null || mkfs.ext4 -q -m 0 "$disk"
mkdir -p -m 0700 "$3"
uuid=$(blkid -s UUID -o value "$disk")
echo "UUID=$uuid $3 ext4 defaults,nofail,x-systemd.device-timeout=5min 0 2" >>/etc/fstab
mount "$3"
chmod 0700 "$3"
"""


def cloud_config(private_key: str, public_key: str, etcd_disk: str | None) -> str:
    """The user data of a machine.

    `private_key` and `public_key` are its host key in OpenSSH's forms; `etcd_disk` is the path of
    the block device for etcd's data, for masters.
    """
    document: dict[str, object] = {
        "ssh_deletekeys": True,
        "ssh_genkeytypes": [],
        "ssh_keys": {"ed25519_private": private_key, "ed25519_public": public_key.strip()},
    }
    if etcd_disk is not None:
        arguments = [etcd_disk, str(DISK_SECONDS), ETCD_DIRECTORY]
        document["runcmd"] = [["sh", "-c", _ETCD_DISK, "etcd-disk", *arguments]]
    return f"#cloud-config\n{yaml.safe_dump(document, sort_keys=False, width=1000)}"
