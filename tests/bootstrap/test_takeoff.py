"""The take-off: a machine that was there before is as it was, in namespaces of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bootstrap import render
from bootstrap.step import program
from tests.bootstrap import namespace
from tests.conftest import cluster

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

CONFIG = cluster()
TAKEOFF = render.takeoff(CONFIG)
OWN = program(("places",), ("alone", "cluster test", "own 10.244.0.0/16"))
# What steps and pods leave on a host, each kind of it.
LIVED = r"""
mkdir -p /etc/kubernetes/manifests /etc/systemd/system/multi-user.target.wants \
  /opt/kubernetes-anywhere/containerd-1/bin /opt/containerd/bin /run/containerd/s /run/netns \
  /var/lib/etcd/member /var/lib/containerd/x /var/lib/kubelet/pods/1/volumes /var/log/pods/1 \
  /var/lib/cni/networks /run/flannel
touch /etc/kubernetes/kubelet.yaml /etc/systemd/system/{kubelet,containerd-anywhere}.service \
  /etc/sysctl.d/90-kubernetes-anywhere.conf /opt/cni/bin/flannel /run/xtables.lock \
  /etc/cni/net.d/10-flannel.conflist
echo ours >/etc/containerd/config.toml
mount --bind /var/lib/kubelet /var/lib/kubelet
mount --make-rshared /var/lib/kubelet
mount -t tmpfs secret "/var/lib/kubelet/pods/1/volumes"
mkdir "/var/lib/kubelet/pods/1/volumes/a b"
mount --bind /var/lib/mine "/var/lib/kubelet/pods/1/volumes/a b"
mkdir -p /run/containerd/rootfs
mount -t tmpfs rootfs /run/containerd/rootfs
touch /run/netns/cni-1
mount --bind /proc/self/ns/net /run/netns/cni-1
ip link add cni0 type bridge
ip link add veth0123abcd type veth peer name eth9
ip link set veth0123abcd master cni0
ip address add 10.244.1.1/24 dev cni0
ip link set cni0 up
ip link add flannel.1 type vxlan id 1 local 192.0.2.10 dev user0 dstport 8472
ip route add 10.244.2.0/24 via 192.0.2.2
echo 1 >/proc/sys/net/ipv4/ip_forward
iptables -t nat -N KUBE-SERVICES
iptables -t nat -A OUTPUT -j KUBE-SERVICES
for table in "ip kube-proxy" "ip6 kube-proxy" "ip flannel-ipv4" "ip cni_hostport" \
  "ip filter" "ip mangle"; do
  echo "table $table" >>"$HOST/tables"
done
printf '\tchain INPUT {\n\t\ttype filter hook input priority filter;\n\t}\n' >"$HOST/table.filter"
printf '\tchain INPUT {\n\t\ttype filter hook input;\n\t\tdrop\n\t}\n' >"$HOST/table.mangle"
sleep 1000 & pod=$!
group=/sys/fs/cgroup/memory/kubepods/pod1
mkdir -p $group
echo $pod >$group/cgroup.procs
{ while kill -0 $pod; do sleep 0.05; done; : >$group/cgroup.procs; } 2>/dev/null &
"""


def step(text: str) -> str:
    """A step as the host's bash reads it, with what it says on record."""
    return f'{{ bash -s 2>&1 || echo "failed $?"; }} >"$HOST/step" <<\'STEP\'\n{text}STEP\n'


def differences(host: Path) -> list[str]:
    """Lines that only one of the two snapshots has."""
    before, after = ((host / name).read_text().splitlines() for name in ("before", "after"))
    return sorted(set(before) ^ set(after))


def lived(host: Path, *texts: str) -> subprocess.CompletedProcess[str]:
    """A host that was a part of the cluster, and then what the texts do."""
    done = namespace.run(host, "snapshot before", step(OWN), LIVED, *texts, "snapshot after")
    assert done.returncode == 0, done.stderr
    return done


def said(host: Path) -> str:
    """What the last step said."""
    return (host / "step").read_text().splitlines()[-1]


def test_the_machine_is_left_as_it_was_found(tmp_path: Path) -> None:
    lived(tmp_path, step(TAKEOFF))
    assert said(tmp_path) == "taken off: the machine is as it was found"
    assert differences(tmp_path) == []
    # Those of the cluster are gone, and the empty one that iptables makes.
    assert (tmp_path / "tables").read_text() == "table inet theirs\ntable ip mangle\n"


def test_a_host_without_nft_borrows_it_from_an_image(tmp_path: Path) -> None:
    ctr = "/opt/kubernetes-anywhere/containerd-1/bin/ctr"
    runtime = f"""
cat >{ctr} <<'CTR'
#!/bin/bash
case "$*" in
  *"images ls -q") echo registry.example/pause:1; echo registry.example/kube-proxy:v1 ;;
  *"images mount registry.example/kube-proxy:v1 "*) mount --bind / "${{@: -1}}" ;;
esac
CTR
chmod +x {ctr}
"""
    missing = 'command() { [[ $2 != nft ]] && builtin command "$@"; }'
    lived(tmp_path, runtime, step(TAKEOFF.replace("\ntakeoff\n", f"\n{missing}\ntakeoff\n")))
    assert said(tmp_path) == "taken off: the machine is as it was found"
    assert "kube-proxy" not in (tmp_path / "tables").read_text()
    assert differences(tmp_path) == []


def test_without_a_runtime_to_borrow_from_it_says_what_stays(tmp_path: Path) -> None:
    missing = 'command() { [[ $2 != nft ]] && builtin command "$@"; }'
    lived(tmp_path, step(TAKEOFF.replace("\ntakeoff\n", f"\n{missing}\ntakeoff\n")))
    assert "stays until the host restarts" in (tmp_path / "step").read_text()
    assert differences(tmp_path) == []


def test_the_comparison_sees_what_a_cluster_leaves(tmp_path: Path) -> None:
    """Or the test above would look for nothing."""
    lived(tmp_path)
    found = "\n".join(differences(tmp_path))
    for words in (
        "path /etc/kubernetes",
        "link cni0",
        "link veth",
        "route 10.244.2.0/24",
        "rule :KUBE-SERVICES",
        "mount /run/netns/cni-1",
        "mount /var/lib/kubelet/pods/1/volumes/a",
        "ip_forward 1",
    ):
        assert words in found


STAGES = ("stop_everything", "remove_rules", "unmount", "remove_network", "restore_settings")


def cut_off(stage: str) -> str:
    """The take-off, killed when it gets to a stage."""
    return TAKEOFF.replace("\ntakeoff\n", f"\n{stage}() {{ exit 1; }}\ntakeoff\n")


def test_it_may_be_cut_off_anywhere_and_run_again(tmp_path: Path) -> None:
    """A08, A09: half of it done, then the connection broke; each run goes on where one stopped."""
    later = TAKEOFF.replace("\ntakeoff\n", "\nsystemctl() { exit 1; }\ntakeoff\n")
    lived(tmp_path, *(step(cut_off(stage)) for stage in STAGES), step(later), step(TAKEOFF))
    assert said(tmp_path) == "taken off: the machine is as it was found"
    assert differences(tmp_path) == []


def test_a_second_time_there_is_nothing(tmp_path: Path) -> None:
    lived(tmp_path, step(TAKEOFF), step(TAKEOFF))
    assert said(tmp_path) == "nothing of a cluster is here"
    assert differences(tmp_path) == []


def test_a_folder_that_something_stays_mounted_in_is_not_removed(tmp_path: Path) -> None:
    """What is mounted there may be somebody's data."""
    stuck = TAKEOFF.replace("\ntakeoff\n", "\numount() { false; }\ntimeout() { false; }\ntakeoff\n")
    lived(tmp_path, step(stuck))
    text = (tmp_path / "step").read_text()
    assert "test-node-0: 1 problem(s):" in text
    assert "cannot unmount /run/netns/cni-1, " in text
    assert "unmount it" in text
    assert not [line for line in differences(tmp_path) if "precious" in line or "/mine" in line]
    assert "path /var/lib/mine/data f 644 " in (tmp_path / "after").read_text()


def test_a_host_of_another_cluster_is_left_alone(tmp_path: Path) -> None:
    """The machine may have been given to another stack since."""
    lived(tmp_path, "snapshot before", step(render.takeoff(cluster(name="other"))))
    assert said(tmp_path) == "left alone: it is a part of the cluster 'test'"
    assert differences(tmp_path) == []


@pytest.mark.parametrize("lock", [True, False])
def test_a_host_that_was_never_changed_keeps_all_it_has(tmp_path: Path, *, lock: bool) -> None:
    """Without a record of what was there everything would look like ours."""
    locked = "mkdir /var/lib/kubernetes-anywhere && touch /var/lib/kubernetes-anywhere/lock"
    begun = locked if lock else "true"
    done = namespace.run(tmp_path, "snapshot before", begun, step(TAKEOFF), "snapshot after")
    assert done.returncode == 0, done.stderr
    assert said(tmp_path) == "nothing of a cluster is here"
    assert differences(tmp_path) == []
