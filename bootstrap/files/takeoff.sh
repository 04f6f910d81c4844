# Takes the cluster off a host and leaves the machine as it was found. It may be cut off at any line
# and run again: what was found is forgotten last of all.

declare -A before=() # the paths that were there before
recall() {
  local path
  [[ -d $found ]] || return 0
  while IFS= read -r -d '' path; do before[$path]=1; done <"$found/paths"
}
was() { grep -qsxF -- "$2" "$found/$1"; } # KIND WHAT: whether it was found there

# Where the kubelet and its pods run, and what starts them. Only at the top: deeper cgroups of these
# names belong to clusters inside of containers of this host.
containers=(kubepods kubepods.slice k8s.io)
shims=(system.slice/containerd-anywhere.service)
cgroups() { # NAMES...
  local root name roots=(/sys/fs/cgroup/*)
  if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then roots=(/sys/fs/cgroup); fi
  for root in "${roots[@]}"; do
    for name; do if [[ -d $root/$name ]]; then find "$root/$name" -depth -type d; fi; done
  done
}
processes() { # of these cgroups; 0 is one that cannot be seen from here
  cgroups "$@" | while read -r group; do cat "$group/cgroup.procs" || true; done 2>/dev/null | sort -un | grep -vx 0 || true
}
signal() { # SIGNAL NAMES...: false while there is somebody to get it
  local pids
  mapfile -t pids < <(processes "${@:2}")
  ((${#pids[@]} == 0)) || { kill "-$1" "${pids[@]}" 2>/dev/null || true; return 1; }
}
halt() { # UNIT, if it is ours
  [[ -f /etc/systemd/system/$1.service ]] || return 0
  systemctl disable -q "$1" || true
  systemctl stop "$1" || true
}
stop_everything() {
  systemctl stop "$fetcher" 2>/dev/null || true
  halt kubelet
  signal TERM "${containers[@]}" ||
    wait_for 10 "containers to end by themselves" signal 0 "${containers[@]}" 2>/dev/null || true
  halt containerd-anywhere
  wait_for 30 "processes to end" signal KILL "${containers[@]}" "${shims[@]}" ||
    problem "these do not end: $(processes "${containers[@]}" "${shims[@]}" | xargs); see 'ps', and restart the host"
  stop_at_problems
}

below_a_place() { # POINT
  local place
  for place in "${places[@]}"; do [[ $1 != "$place" && $1 != "$place"/* ]] || return 0; done
  [[ $1 == /run/netns/cni-* ]]
}
our_mounts() { # the last one first
  local point
  while IFS= read -r point; do
    if below_a_place "$point" && ! was mounts "$point"; then say "$point"; fi
  done < <(mount_points | tac)
}
unmount() {
  local point
  while IFS= read -r point; do
    timeout 10 umount "$point" 2>/dev/null || umount --lazy "$point" || true
  done < <(our_mounts)
  point=$(our_mounts)
  # What is mounted there may be somebody's data, and removing a folder would reach it.
  [[ -z $point ]] || problem "cannot unmount ${point//$'\n'/, }; find out why, and unmount it"
  stop_at_problems
}

restore_settings() {
  local path value
  while read -r path value; do
    # In a container only the network's settings are its own.
    if systemd-detect-virt -cq && [[ $path != /proc/sys/net/* ]]; then continue; fi
    if [[ -e $path && $(<"$path") != "$value" ]]; then
      { say "$value" >"$path"; } 2>/dev/null || say "cannot set $path back to $value"
    fi
  done <"$found/settings"
  if systemd-detect-virt -cq; then return; fi
  for path in "${modules[@]}"; do was modules "$path" || modprobe -qr "$path" 2>/dev/null || true; done
}

remove() { # PATH: all of it that was not there before
  local path
  [[ -e $1 || -L $1 ]] || return 0
  if [[ -z ${before[$1]-} ]]; then rm -rf --one-file-system -- "$1"; return; fi
  while IFS= read -r -d '' path; do
    [[ -n ${before[$path]-} ]] || printf '%s\0' "$path"
  done < <(existing "$1") | xargs -0 -r rm -rf --one-file-system --
}
remove_files() {
  local path
  # Aside first: half a folder there would be taken for an unpacked archive.
  if [[ -d $opt ]]; then rm -rf "$opt.gone"; mv -T "$opt" "$opt.gone"; fi
  for path in "${places[@]}" "$opt.gone"; do remove "$path"; done
  if [[ -d $found ]]; then
    for path in "${shared[@]}"; do [[ -n ${before[$path]-} ]] || rmdir "$path" 2>/dev/null || true; done
    tar -xPpf "$found/copies.tar"
  fi
  systemctl daemon-reload
  systemctl reset-failed -q kubelet containerd-anywhere 2>/dev/null || true
  systemctl stop kubepods.slice 2>/dev/null || true
  # The kubelet's unit asks for it.
  was targets network-online.target || systemctl stop network-online.target
  cgroups "${containers[@]}" | xargs -r rmdir 2>/dev/null || true
}

take_off() {
  recall
  borrow_tools
  stop_everything
  remove_rules
  unmount
  remove_network
  if [[ -d $found ]]; then restore_settings; fi
  remove_files
  # In one move, or a rest of it would say that nothing was here before.
  mv -T "$state" "$state.gone"
  rm -rf "$state.gone"
}

takeoff() {
  rm -rf "$state.gone"
  if [[ ! -d $state ]]; then say "nothing of a cluster is here"; return; fi
  alone
  # Without a record of what was here, nothing has been changed yet.
  if [[ ! -d $found ]]; then rm -rf "$state"; say "nothing of a cluster is here"; return; fi
  if ! ours; then say "left alone: it is a part of the cluster '$(<"$state/cluster")'"; return; fi
  take_off
  say "taken off: the machine is as it was found"
}
