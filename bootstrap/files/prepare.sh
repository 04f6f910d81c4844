# Step 2: fetch everything, change nothing that runs. Hosts do this side by side.

fetches=()
certs=/etc/containerd/certs.d

# archive NAME-VERSION FILE URL SHA256 unpacks into a folder of its own; units name the version they run.
archive() {
  local target=$opt/$1 file=$2 url=$3 sum=$4 work
  [[ -d $target ]] && return
  mkdir -p "$opt"
  work=$(mktemp -d "$opt/.fetch.XXXXXX")
  curl -fsSL --retry 60 --retry-delay 1 --retry-connrefused --retry-max-time 90 --connect-timeout 10 -o "$work/$file" "$url" ||
    { problem "cannot fetch $url"; rm -rf "$work"; return; }
  [[ $(sha256sum <"$work/$file") == "$sum  -" ]] ||
    { problem "$url has the checksum $(sha256sum <"$work/$file" | cut -d' ' -f1), expected $sum"; rm -rf "$work"; return; }
  case $file in
    *.tar.gz | *.tgz)
      tar -xzf "$work/$file" -C "$work" --no-same-owner ||
        { problem "cannot unpack $url"; rm -rf "$work"; return; }
      rm "$work/$file"
      ;;
    *) chmod 0755 "$work/$file" && mv "$work/$file" "$work/${file%%.*}" ;;
  esac
  chmod 0755 "$work"
  mv -T "$work" "$target"
}

# Stock kernels allow 128 inotify instances, which a kubelet and the pods of a host can use up.
inotify_instances() {
  local file=/etc/sysctl.d/90-kubernetes-anywhere.conf
  (($(<"$inotify") < 512)) || return 0
  mkdir -p "${file%/*}"
  say "fs.inotify.max_user_instances = 8192" >"$file"
  sysctl -q -p "$file" || problem "cannot set what $file says"
}

# A host without a runtime gets one now, for the image pulls; a running one is left to `activate`.
start_runtime() {
  stop_at_problems
  if systemctl is-active -q containerd-anywhere; then
    for path in "${changed[@]}"; do
      case $path in
        # Where images come from is read at each pull: those below, too, are to come from there.
        "$certs"/*) mv -f "$(staging_name "$path")" "$path" ;;
        *) rm -f "$(staging_name "$path")" ;;
      esac
    done
    [[ " ${staged[*]} " == *" $certs/"* ]] || rm -rf "$certs"
  else
    for path in "${changed[@]}"; do mv -f "$(staging_name "$path")" "$path"; done
    systemctl daemon-reload
    systemctl start containerd-anywhere || { journal containerd-anywhere; exit 1; }
  fi
  wait_for 30 "containerd's socket" containerd version || { journal containerd-anywhere; exit 1; }
}

image() { fetches+=("$1"); }
pull() {
  local reference=$1 log=$state/pull.$BASHPID attempt
  if [[ -z $(containerd images ls -q "name==$reference") ]]; then
    for attempt in 1 2 3 4 5 6; do
      "$ctr" --namespace k8s.io images pull --hosts-dir "$certs" "$reference" >/dev/null 2>"$log" && break
      ((attempt < 6)) || { say "$(hostname): cannot pull $reference: $(grep -v level=warning "$log" | tail -n1)" >&2; rm -f "$log"; return 1; }
      sleep "$attempt" # a registry that is away for a moment
    done
    rm -f "$log"
  fi
  # The kubelet's image garbage collection counts only pods as users: keep what a restart needs.
  containerd images label "$reference" io.cri-containerd.pinned=pinned >/dev/null
}
pull_images() {
  local reference jobs=()
  for reference in "${fetches[@]}"; do
    pull "$reference" &
    jobs+=($!)
  done
  local failed=0
  for job in "${jobs[@]}"; do wait "$job" || failed=1; done
  ((failed == 0)) || exit 1
}

made_with() { say "$2" >"$state/made-with.$1"; } # what `reachable` compares the config with

prepare() {
  mkdir -p "$state"
  say "$want_cluster" >"$state/cluster"
  [[ ! -d $etcd ]] || say "$want_cluster" >"$etcd/.cluster" # for the machine that finds this disk
  inotify_instances
  start_runtime
  pull_images
  say "prepared: ${#fetches[@]} images"
}
want_cluster=""
cluster() { want_cluster=$1; }
