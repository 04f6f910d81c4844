#!/bin/sh
# Turns what a container engine hands over into what systemd and the kubelet expect of a machine.
# Runs at every start of the container, so everything here may already be done.
set -eu

# systemd, containerd and the kubelet make cgroups. On cgroup v1 each controller is a mount of its
# own, on v2 there is one; the engine mounts them read-only for a container that is not privileged.
awk '$5 ~ "^/sys/fs/cgroup(/|$)" { print $5 }' /proc/self/mountinfo | while read -r mount; do
    mount -o remount,bind,rw "$mount"
done

# Volumes of pods (and the kubelet itself, which runs in a container) need mounts that propagate.
mount --make-rshared /

# The engine's own resolver listens on a loopback address, which pods cannot reach. The file is a
# mount of the engine: it must be written in place.
if [ -n "${MACHINE_NAMESERVERS:-}" ]; then
    for server in $MACHINE_NAMESERVERS; do
        echo "nameserver $server"
    done >/etc/resolv.conf
fi

# On a network without a way out the engine sets no default route, and without one a process of the
# host cannot connect to a Service: the kernel looks up the route before kube-proxy's rules see the
# packet. What really leads outside is dropped at the bridge.
if [ -n "${MACHINE_GATEWAY:-}" ] && [ -z "$(ip -4 route show default)" ]; then
    ip -4 route add default via "$MACHINE_GATEWAY"
fi

# systemd would take the identity of the computer, which all machines share.
if [ ! -s /etc/machine-id ]; then
    tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
fi

exec env -i container=docker PATH="$PATH" /sbin/init
