# What kube-proxy, the pod network and CNI plugins put into the kernel's network, and its removal.

rule_tables='kube-proxy|flannel-ipv[46]|cni_hostport|cni_plugins_masquerade|calico'
rule_chains='KUBE-|FLANNEL-|CNI-|cali-|CILIUM_|WEAVE'

# A host without nft or iptables borrows them from kube-proxy's image, as long as the runtime runs.
borrow_tools() {
  if command -v nft >/dev/null && command -v iptables-save >/dev/null; then return; fi
  mkdir -p "$borrowed"
  mount_tools || say "without nft and iptables here, what kube-proxy set stays until the host restarts"
}
mount_tools() {
  local ctr image
  ctr=$(compgen -G "$opt/containerd-*/bin/ctr" | head -n1) || return
  image=$("$ctr" -n k8s.io images ls -q 2>/dev/null | grep -m1 '/kube-proxy[:@]') || return
  "$ctr" -n k8s.io images mount "$image" "$borrowed" >/dev/null
}
tool() { # COMMAND ARGUMENTS...: this host's, or the borrowed one; nothing when there is none
  if command -v "$1" >/dev/null; then "$@"; elif mountpoint -q "$borrowed"; then chroot "$borrowed" "$@"; fi
}

remove_rules() {
  local family name save rules
  for save in iptables-save ip6tables-save iptables-legacy-save ip6tables-legacy-save; do
    rules=$(tool "$save" 2>/dev/null) || continue
    if grep -qE "$rule_chains" <<<"$rules"; then
      grep -vE "$rule_chains" <<<"$rules" | tool "${save%-save}-restore"
    fi
  done
  while read -r _ family name; do
    if ! was tables "table $family $name" && { [[ $name =~ ^($rule_tables)$ ]] || is_empty "$family" "$name"; }; then
      tool nft delete table "$family" "$name"
    fi
  done < <(tool nft list tables 2>/dev/null)
}
# iptables makes tables of its own where there are none, and leaves them behind empty.
is_empty() { # FAMILY NAME
  [[ -f $found/tables && $2 =~ ^(raw|mangle|nat|filter)$ ]] &&
    ! tool nft list table "$1" "$2" | grep $'^\t\t' | grep -qv $'^\t\ttype '
}

remove_network() {
  local name
  rm -f /run/netns/cni-* # unmounted already
  for name in $({ ip -o link show master cni0 | link_names; ip -o link | link_names | grep -xE "$links"; } 2>/dev/null); do
    was links "$name" || ip link delete "$name" 2>/dev/null || true
  done
  if [[ -f $state/pods ]]; then ip -4 route flush root "$(<"$state/pods")"; fi
}
