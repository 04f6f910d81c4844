# What another cluster left on a host: ours, of kubeadm, of k3s and its like.

foreign_units=(kubelet k3s k3s-agent rke2-server rke2-agent k0scontroller k0sworker snap.microk8s.daemon-kubelite)
foreign_paths=(
  "$etc/manifests" "$etcd/member" /etc/cni/net.d /var/lib/kubelet/pki /var/lib/rancher /var/lib/k0s
  /etc/systemd/system/kubelet.service /etc/systemd/system/kubelet.service.d
)
uninstallers=(/usr/local/bin/{k3s,k3s-agent,rke2}-uninstall.sh)

# A master that was made anew finds the disk of the one before.
our_data() { [[ $1 == "$etcd/member" && -f $etcd/.cluster && $(<"$etcd/.cluster") == "$want_cluster" ]]; }
holds_something() { # PATH
  local found=("$1"/*)
  [[ -f $1 || -e ${found[0]} ]]
}
running() { # UNITS...
  systemctl list-units --plain --no-legend --state=active,activating "${@/%/.service}" 2>/dev/null | awk '{print $1}' || true
}

leftovers() { # one a line; nothing on a host of this cluster
  local path
  if ours; then return; fi
  [[ ! -f $state/cluster ]] || say "a part of the cluster '$(<"$state/cluster")'"
  running "${foreign_units[@]}" | sed 's/^/the running unit /'
  for path in "${foreign_paths[@]}"; do
    if holds_something "$path" && ! our_data "$path"; then say "$path"; fi
  done
  ip -o link | link_names | grep -xE "$links" | sed 's/^/the interface /' || true
}

# Before this host is ours: what the config says may go.
clear_leftovers() {
  local name
  [[ -f $state/clearing || -n $(leftovers) ]] || return 0
  keep "$state/clearing" begun # goes with the folder, at the end
  for name in "${uninstallers[@]}"; do if [[ -x $name ]]; then "$name" >/dev/null 2>&1 || true; fi; done
  for name in "${foreign_units[@]}" containerd; do systemctl disable -q --now "$name" 2>/dev/null || true; done
  shims+=(system.slice/containerd.service)
  take_off
  alone
}
