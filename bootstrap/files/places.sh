# Where a cluster leaves something on a host, and what was there before it came.

borrowed=/run/kubernetes-anywhere # tools of an image, while the take-off needs them

# Ours, or of what we run: all of it goes when the cluster does, but for what was there before.
places=(
  "$opt" "$etc" "$etcd"
  /etc/systemd/system/kubelet.service /etc/systemd/system/kubelet.service.d
  /etc/systemd/system/containerd-anywhere.service
  /etc/sysctl.d/90-kubernetes-anywhere.conf
  # containerd, runc, CNI plugins
  /etc/containerd /opt/containerd /run/containerd /run/nri /var/lib/containerd
  /etc/cni /opt/cni /var/lib/cni
  # the kubelet and its pods
  /usr/libexec/kubernetes /var/lib/kubelet /var/log/pods /var/log/containers /var/lib/fluentd
  # pod networks
  /run/flannel /run/xtables.lock "$borrowed"
  /etc/calico /run/calico /var/lib/calico /var/log/calico
  /run/cilium /sys/fs/bpf/cilium /etc/sysctl.d/99-zzz-override_cilium.conf
  /var/lib/weave
)
# Everybody's: only an empty one goes, and only if we made it.
shared=(/etc/sysctl.d /etc/systemd/system/multi-user.target.wants /run/netns /usr/libexec /lib/modules)
# Files that are overwritten where they are: a copy is kept.
overwritten=(/etc/cni /etc/containerd "$etc" /etc/sysctl.d/90-kubernetes-anywhere.conf /opt/cni/bin/flannel)
# What the kubelet, kube-proxy and CNI plugins set in the kernel.
settings=(
  "$inotify"
  /proc/sys/vm/{overcommit_memory,panic_on_oom}
  /proc/sys/kernel/{panic,panic_on_oops,keys/root_maxkeys,keys/root_maxbytes}
  /proc/sys/net/bridge/bridge-nf-call-iptables
  /proc/sys/net/ipv4/{ip_forward,conf/all/route_localnet,conf/all/rp_filter,conf/default/rp_filter}
  /proc/sys/net/ipv6/conf/all/forwarding
  /proc/sys/net/netfilter/nf_conntrack_{max,tcp_timeout_established,tcp_timeout_close_wait}
  /sys/module/nf_conntrack/parameters/hashsize
)
modules=(overlay br_netfilter)
links='cni0|flannel\.1|flannel-v6\.1|kube-ipvs0|nodelocaldns|cali[0-9a-f]{11}|vxlan(-v6)?\.calico|cilium_(host|net|vxlan)|lxc[0-9a-f]{12,}|lxc_health|weave|datapath|vethwe-(bridge|datapath)|vxlan-6784'

found=$state/found # what a host had when the first step that changes something came

link_names() { sed -E 's/^[0-9]+: ([^:@]+).*/\1/'; } # of what `ip -o link` says
mount_points() { while read -r _ _ _ _ point _; do printf '%b\n' "$point"; done </proc/self/mountinfo; }
existing() { # PATHS... those that are there, and what is in them
  find -H "$@" -xdev -print0 2>/dev/null || true
}

own() { # POD-RANGE: from here on this host is the cluster's, and may be changed
  local new=$found.new path
  if [[ ! -d $found ]]; then
    rm -rf "$new"
    mkdir -p "$new"
    existing "${places[@]}" >"$new/paths"
    existing "${shared[@]}" -maxdepth 0 >>"$new/paths"
    existing "${overwritten[@]}" -type f | tar --null -T - -cPf "$new/copies.tar"
    for path in "${settings[@]}"; do [[ ! -r $path ]] || say "$path $(<"$path")"; done >"$new/settings"
    for path in "${modules[@]}"; do if grep -qs "^$path " /proc/modules; then say "$path"; fi; done >"$new/modules"
    ip -o link | link_names >"$new/links"
    mount_points >"$new/mounts"
    systemctl list-units --plain --no-legend --type=target --state=active | cut -d' ' -f1 >"$new/targets"
    if command -v nft >/dev/null; then nft list tables >"$new/tables" || true; fi
    mv -T "$new" "$found"
  fi
  keep "$state/pods" "$1"
  keep "$state/cluster" "$want_cluster"
}
