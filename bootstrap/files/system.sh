# What the machine itself must be: each function adds a problem in words, with what to do about it.

at_least() { [[ $(printf '%s\n' "$2" "$1" | sort -V | head -n1) == "$2" ]]; } # VERSION OLDEST

distribution() { # ID OLDEST-VERSION...
  local known="$*" ID="" VERSION_ID="" PRETTY_NAME=""
  . /etc/os-release
  for ((; $# > 0; )); do
    # Without a version it is one to come.
    if [[ $1 == "$ID" ]] && at_least "${VERSION_ID:-$2}" "$2"; then return; fi
    shift 2
  done
  problem "the operating system is ${PRETTY_NAME:-$ID}; install one of these, or a newer one of its kind: $known"
}
architecture() {
  local -A known=([x86_64]=amd64 [aarch64]=arm64)
  local machine
  machine=$(uname -m)
  [[ ${known[$machine]:-$machine} == "$1" ]] ||
    problem "the architecture is $machine, the config wants $1; set 'arch' to what the hosts are"
}
kernel() { # OLDEST
  at_least "$(uname -r)" "$1" || problem "the kernel is $(uname -r); boot $1 or a newer one"
}
needs_features() { # MODULE BEGIN-OF-ITS-SYMBOLS...: each is loaded, to be loaded, or built in
  local -A symbols=()
  local name built
  if systemd-detect-virt -cq; then return; fi # its computer's kernel loads what we cannot see
  for ((; $# > 0; )); do
    [[ -d /sys/module/$1 ]] || symbols[$1]=$2
    shift 2
  done
  if ((${#symbols[@]} == 0)) || modprobe -nqa "${!symbols[@]}" 2>/dev/null; then return; fi
  built=$(grep -oE " ($(IFS='|' && say "${symbols[*]}"))_" /proc/kallsyms | sort -u || true)
  for name in "${!symbols[@]}"; do
    [[ $built == *" ${symbols[$name]}_"* ]] || modprobe -nq "$name" 2>/dev/null ||
      problem "the kernel has no $name; install all modules of Linux $(uname -r), or boot another kernel"
  done
}
needs_commands() {
  local name missing=()
  for name; do command -v "$name" >/dev/null || missing+=("$name"); done
  ((${#missing[@]} == 0)) || problem "these commands are missing: ${missing[*]}; install the packages that have them"
}
needs_cgroups() { # 1 or 2: the oldest version that will do
  local found name
  if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
    found=$(</sys/fs/cgroup/cgroup.controllers)
  elif (($1 == 1)); then
    found=$(awk '$4 == 1 {print $1}' /proc/cgroups | xargs)
  else
    problem "cgroups are of version 1; boot with systemd.unified_cgroup_hierarchy=1, or set 'kubelet.config.failCgroupV1' to false"
    return
  fi
  for name in cpu cpuset memory pids; do
    [[ " $found " == *" $name "* ]] ||
      problem "there is no cgroup controller '$name'; boot with cgroup_enable=$name"
  done
}
no_swap() {
  local name used=""
  while read -r name _; do [[ $name != /* ]] || used+=" $name"; done </proc/swaps
  [[ -z $used ]] ||
    problem "swap is on:$used; run 'swapoff -a' and take it out of /etc/fstab, or set 'kubelet.config.failSwapOn' to false"
}

folder=""
nearest() { # PATH: sets `folder` to it, or to the one that it would be made in
  folder=$1
  until [[ -d $folder ]]; do folder=${folder%/*}; done
  folder=${folder:-/}
}
needs_writable() { # PATHS...
  local path
  for path; do
    nearest "$path"
    [[ -w $folder ]] || problem "$path cannot be written to; mount it for writing"
  done
}
needs_programs() { # PATHS...: programs run from there
  local path options
  for path; do
    nearest "$path"
    options=$(findmnt -nro OPTIONS -T "$folder" || true)
    [[ ,$options, != *,noexec,* ]] || problem "no program may run from $path; mount it without 'noexec'"
  done
}
needs_mebibytes() { # PATH MEBIBYTES...: what lies on one filesystem adds up
  local -A wanted=() free=() purpose=()
  local available where
  if ours; then return; fi # what it needs is there already
  for ((; $# > 0; )); do
    nearest "$1"
    read -r available where < <(df -Pm "$folder" | awk 'NR == 2 {print $4, $6}')
    free[$where]=$available
    wanted[$where]=$((${wanted[$where]-0} + $2))
    purpose[$where]+=" $1"
    shift 2
  done
  for where in "${!free[@]}"; do
    ((free[$where] >= wanted[$where])) ||
      problem "$where has ${free[$where]} MiB free and needs ${wanted[$where]} for${purpose[$where]}; free some, or give it a larger disk"
  done
}

machine_settings() {
  local enforcing=0
  [[ $(id -u) == 0 ]] || problem "the SSH user is not root; log in as root, or as a user who may use sudo"
  [[ -d /run/systemd/system ]] || problem "systemd does not run; boot with it"
  [[ ! -f /sys/fs/selinux/enforce ]] || enforcing=$(</sys/fs/selinux/enforce)
  ((enforcing == 0)) ||
    problem "SELinux is enforcing; run 'setenforce 0', and set SELINUX=permissive in /etc/selinux/config"
  (($(<"$inotify") >= 512)) || [[ -w $inotify ]] ||
    problem "fs.inotify.max_user_instances is below 512, or kubelets fail to start; set it to 8192"
  [[ $(</proc/sys/net/ipv4/ip_forward) == 1 || -w /proc/sys/net/ipv4/ip_forward ]] ||
    problem "net.ipv4.ip_forward is 0 and cannot be changed from here; set it to 1"
}
