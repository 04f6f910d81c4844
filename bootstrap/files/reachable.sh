# Step 1: everything on this host that would fail later, all of it at once. Changes nothing.

notes=()
note() { notes+=("$*"); }
may_go=0 # what another cluster left
leftovers_may_go() { [[ -z $(leftovers) ]] || may_go=1; }

time_services=(systemd-timesyncd chrony chronyd ntp ntpd ntpsec openntpd)
clock() { # when the certificates begin to be valid, by the clock of the computer that made them
  local begin left
  begin=$(date -d "$1" +%s)
  left=$((begin - $(date +%s)))
  # Seconds are waited for: certificates that are renewed were made just now.
  if ((left > 0 && left <= 60)); then sleep "$left"; fi
  ((left <= 60)) ||
    problem "the clock says $(utc "$(date +%s)") and the certificates begin at $(utc "$begin"); set it right, and keep it so by NTP"
  [[ -n $(running "${time_services[@]}") ]] || systemd-detect-virt -cq ||
    note "no time service runs: enable one, such as systemd-timesyncd"
}
no_leftovers() { # unless the config says that they may go
  local left
  left=$(leftovers)
  ((may_go)) || [[ -z $left ]] ||
    problem "there are leftovers of another cluster (${left//$'\n'/, }); take that one down, or move them away"
}
made_with() { # KEY VALUE: of the config; `prepare` keeps them
  local file=$state/made-with.$1
  ours && [[ -f $file && -f /etc/systemd/system/kubelet.service ]] || return 0
  [[ $(<"$file") == "$2" ]] ||
    problem "the cluster runs with $1 $(<"$file"), which cannot become $2 now; set it back, or see docs/hosts.md"
}
# What the machine does at its first boot comes first: users, disks, its own packages.
booted() {
  command -v cloud-init >/dev/null || return 0
  local status=0
  cloud-init status --wait >/dev/null || status=$?
  ((status != 1)) || # 2 is 'degraded', which will do
    problem "cloud-init failed; see /var/log/cloud-init-output.log, and put right what it says"
}

check() {
  machine_settings
  no_other_runtime
  no_leftovers
  together source_problems "${sources[@]}"
  stop_at_problems
  say "reachable: $(. /etc/os-release && say "$PRETTY_NAME"), Linux $(uname -r)"
  ((${#notes[@]} == 0)) || printf 'note: %s\n' "${notes[@]}"
}
