# Step 3: put files in place and restart what they change, and nothing else. A host that was healthy
# once is waited for until it is so again, and the chain of hosts stops at the first that is not.

node=""
node() { node=$1; } # the name that its pods' names end with
healths=()
health() { healths+=("$1 $2"); } # STATIC-POD URL

running() { # the running containers of a static pod
  local id
  for id in $(containerd containers ls -q "labels.\"io.kubernetes.pod.name\"==$1-$node"); do
    containerd tasks ls | awk -v id="$id" '$1 == id && $3 == "RUNNING" {print $1}'
  done
}
# Which containers ran before a manifest changed, kept until `finished`: a run that goes on where one
# was cut off must not take the new containers for the old ones, unless it changes them once more.
remember() {
  if [[ " ${changed[*]} " == *" $etc/manifests/$1.yaml "* || ! -f $state/before.$1 ]]; then
    running "$1" >>"$state/before.$1"
  fi
}
replaced() { # STATIC-POD: none of those runs any more
  local id now
  now=$(running "$1")
  while read -r id; do [[ $now != *"$id"* ]] || return 1; done <"$state/before.$1"
}
answers() { curl -fsS -k --max-time 5 "$1"; }
own_health=http://127.0.0.1:10248/healthz

# Until a host has been healthy once, what it waits for may be its peers: one of three etcd members
# cannot be. Seen at a later run than the first, and then for good.
was_healthy() {
  local entry
  [[ ! -f $state/healthy ]] || return 0
  systemctl is-active -q kubelet || return
  for entry in "${healths[@]}" "kubelet $own_health"; do answers "${entry#* }" >/dev/null 2>&1 || return; done
  keep "$state/healthy" yes
}

# A kubelet may answer once and then end, again and again.
steady_seconds=3
steady() {
  local pid until=$((SECONDS + steady_seconds))
  pid=$(systemctl show -p MainPID --value kubelet)
  while answers "$own_health" && [[ $(systemctl show -p MainPID --value kubelet) == "$pid" ]]; do
    if ((SECONDS >= until)); then return; fi
    sleep 0.2
  done
  return 1
}

# Pods read this file when they start, and see the one that was there then: those get it anew.
restart_readers() {
  local id
  for id in $(containerd tasks ls -q); do
    if containerd containers info "$id" | grep -qF "\"source\": \"$etc/in-cluster.kubeconfig\""; then
      containerd tasks kill --signal SIGTERM "$id" || true # it may have ended by itself
    fi
  done
}

# Keys are placed by a run of their own; static pods that use them restart by their file's hash.
refresh_manifests() {
  local hash path
  hash=$(pki_hash)
  for path in "$etc"/manifests/*.yaml; do
    # Not ours, or up to date.
    if ! grep -qs "pki-sha256:" "$path" || grep -q "pki-sha256: '$hash'" "$path"; then continue; fi
    sed "s/pki-sha256: .*/pki-sha256: '$hash'/" "$path" >"$(staging_name "$path")"
    chmod 0600 "$(staging_name "$path")"
    say "$path" >>"$state/pending"
    mv -f "$(staging_name "$path")" "$path"
  done
}

link_resolver() {
  # Pods get the host's resolvers; where systemd-resolved listens on loopback, those behind it.
  local resolver=/etc/resolv.conf
  [[ -f /run/systemd/resolve/resolv.conf ]] && resolver=/run/systemd/resolve/resolv.conf
  ln -sfn "$resolver" "$etc/resolv.conf"
}

# A package of another kubelet adds to every unit of that name, ours too: an empty file of the same
# name takes that away.
mask_drop_ins() {
  local units=/etc/systemd/system/kubelet.service.d path
  for path in /usr/lib/systemd/system/kubelet.service.d/*.conf; do
    if [[ -e $path ]]; then mkdir -p "$units" && ln -sfn /dev/null "$units/${path##*/}"; fi
  done
}

restart() { # OPTIONS... UNIT
  systemctl restart "$@" || { journal "${*: -1}"; exit 1; }
}

# Static pods are replaced by the kubelet that runs, and only then does it restart: cut off between
# etcd and the API server, the next one would hang at an API server that has no etcd any more.
kubelet_files='/etc/systemd/system/kubelet|/etc/kubernetes/kubelet'
restarts_last() { pending "$kubelet_files" && pending "$etc/manifests/" && steady; }

activate() {
  local step=$1 healthy=0 last=0 entry pod url
  if was_healthy; then healthy=1; fi
  mkdir -p "$state"
  if ((healthy)); then for entry in "${healths[@]}"; do remember "${entry% *}"; done; fi
  commit "$step"
  refresh_manifests
  [[ -f /etc/systemd/system/kubelet.service ]] || { say "$step: placed ${#staged[@]} files"; return; }
  link_resolver
  mask_drop_ins
  if pending '/etc/systemd/system/'; then systemctl daemon-reload; fi
  if pending '/etc/containerd/config|/etc/systemd/system/containerd'; then restart containerd-anywhere; fi
  if ((healthy)) && restarts_last; then
    last=1
  elif pending "$kubelet_files" || ! systemctl is-active -q kubelet; then
    # Nobody waits for a first start, which on a node waits for an API server itself.
    if ((healthy)); then restart kubelet; else restart --no-block kubelet; fi
  fi
  systemctl enable -q containerd-anywhere kubelet
  if ((healthy)); then
    if pending "$etc/in-cluster.kubeconfig"; then restart_readers; fi
    for entry in "${healths[@]}"; do
      pod=${entry% *} url=${entry#* }
      if pending "$etc/manifests/$pod"; then
        wait_for 120 "the old $pod to end" replaced "$pod" || { journal kubelet; exit 1; }
      fi
      wait_for 180 "$pod at $url" answers "$url" || { journal kubelet; exit 1; }
    done
    if ((last)); then restart kubelet; fi
    wait_for 60 "the kubelet to run on" kubelet_is_well || { journal kubelet; exit 1; }
  fi
  finished
  say "$step: placed ${#staged[@]} files, ${#changed[@]} changed"
}
# One that was not restarted has proved itself.
kubelet_is_well() {
  if pending '/etc/systemd/system/|/etc/containerd/config|/etc/kubernetes/kubelet'; then steady; else answers "$own_health"; fi
}
