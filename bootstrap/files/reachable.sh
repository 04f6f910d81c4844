# Step 1: everything on this host that would fail later, all of it at once. Changes nothing.

want_cluster=""
cluster() { want_cluster=$1; }
ours() { [[ -f $state/cluster && $(<"$state/cluster") == "$want_cluster" ]]; }

architecture() {
  local -A known=([x86_64]=amd64 [aarch64]=arm64)
  local machine
  machine=$(uname -m)
  [[ ${known[$machine]:-$machine} == "$1" ]] ||
    problem "architecture is $machine, the config wants $1; set \`arch\` to what the hosts are"
}
needs_command() {
  command -v "$1" >/dev/null || problem "the command '$1' is missing; install the package that has it"
}
needs_mebibytes() { # PATH MEBIBYTES
  local free
  mkdir -p "$1"
  free=$(df -Pm "$1" | awk 'NR==2 {print $4}')
  ((free >= $2)) || problem "$1 has ${free} MiB free and needs $2; free some or give a larger disk"
}
needs_free_port() {
  ours && return
  [[ -z $(ss -Hltn "sport = :$1") ]] ||
    problem "port $1 is in use by $(ss -Hltnp "sport = :$1" | grep -oP '"\K[^"]+' | head -n1); stop it"
}
clock() { # when the certificates begin to be valid, by the clock of the computer that made them
  local behind=$(($(date -d "$1" +%s) - $(date +%s)))
  ((behind <= 0)) ||
    problem "the clock is at least $behind s behind that of the computer that made the certificates; set it, and keep it set by NTP"
}
foreign_cluster() {
  ours && return
  if [[ -f $state/cluster ]]; then
    problem "runs a part of the cluster '$(<"$state/cluster")' already; take that one down first"
  elif [[ -d $etc/manifests || (-d $etcd/member && $(cat "$etcd/.cluster" 2>/dev/null) != "$want_cluster") ]]; then
    problem "has leftovers of another cluster ($etc/manifests or /var/lib/etcd); remove them first"
  fi
}
etcd_members() { # NAME=URL,... as etcd would be told; it reads them once, when its data is made
  local manifest=$etc/manifests/etcd.yaml
  [[ -d $etcd/member && -f $manifest ]] || return 0
  [[ $(sed -n 's/.*--initial-cluster=//p' "$manifest") == "$1" ]] ||
    problem "etcd's members cannot change on a running cluster yet; set 'masters.count' back"
}
made_with() { # KEY VALUE: of the config; `prepare` keeps them
  local file=$state/made-with.$1
  ours && [[ -f $file && -f /etc/systemd/system/kubelet.service ]] || return 0
  [[ $(<"$file") == "$2" ]] ||
    problem "the cluster runs with $1 $(<"$file"), which cannot become $2 now; set it back, or see docs/networking.md"
}
system() {
  [[ $(id -u) == 0 ]] || problem "the SSH user is not root"
  [[ -d /run/systemd/system ]] || problem "does not run systemd"
  [[ -e /sys/fs/cgroup/cgroup.controllers || -d /sys/fs/cgroup/memory ]] || problem "has no cgroups"
  if (($(<"$inotify") < 512)) && [[ ! -w $inotify ]]; then
    problem "fs.inotify.max_user_instances is below 512; set it to 8192, or kubelets fail to start"
  fi
}
# What the machine does at its first boot comes first: users, disks, its own packages.
booted() {
  command -v cloud-init >/dev/null || return 0
  local status=0
  cloud-init status --wait >/dev/null || status=$?
  ((status != 1)) || # 2 is 'degraded', which will do
    problem "cloud-init failed; see /var/log/cloud-init-output.log on the host"
}

check() {
  system
  foreign_cluster
  stop_at_problems
  say "reachable: $(. /etc/os-release && say "$PRETTY_NAME"), Linux $(uname -r)"
}
