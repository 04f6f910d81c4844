# Step 2: fetch everything, change nothing that runs. Hosts do this side by side.

archives=()
images=()
later=()
archive() { archives+=("$*"); } # NAME-VERSION FILE URL SHA256
image() { images+=("$1"); }
later() { later+=("$1"); }
certs=/etc/containerd/certs.d
boot=/proc/sys/kernel/random/boot_id

# Archives that were unpacked shortly before the host crashed may be empty files by now.
distrust() {
  if [[ -f $state/fetching && $(<"$state/fetching") != "$(<"$boot")" && -d $opt ]]; then
    find "$opt" -mindepth 1 -maxdepth 1 -newer "$state/fetching" -exec rm -rf {} +
  fi
  keep "$state/fetching" "$(<"$boot")"
  rm -rf "$opt"/.fetch.* # of runs that were killed
  mkdir -p "$opt"
}

why="" # what a program said that failed, kept in no file: the disk may be full
download() { # URL FILE; 2 where asking again is of no use
  local code=0
  why=$(curl -fsSL --connect-timeout 10 --speed-limit 1000 --speed-time 30 -o "$2" "$1" 2>&1) || code=$?
  case $code in
    0) ;;
    22) if [[ $why =~ error:\ (429|5..) ]]; then return 1; else return 2; fi ;;
    3 | 23 | 60) return 2 ;; # no URL, no room, no trust
    *) return 1 ;;
  esac
}
# Each archive is unpacked into a folder of its own; units name the version they run.
fetch_archive() { # NAME-VERSION FILE URL SHA256, as one word
  local target file url sum work found
  read -r target file url sum <<<"$1"
  [[ ! -d $opt/$target ]] || return 0
  work=$(mktemp -d "$opt/.fetch.XXXXXX") || { say "cannot write to $opt; is the disk full?"; return; }
  unpack || rm -rf "$work"
}
unpack() { # what it says is what is wrong
  persist download "$url" "$work/$file" || { say "cannot fetch $url (${why##*$'\n'})"; return 1; }
  found=$(sha256sum <"$work/$file")
  [[ $found == "$sum  -" ]] || { say "$url has the checksum ${found%% *}, expected $sum"; return 1; }
  case $file in
    *.tar.gz | *.tgz)
      why=$(tar -xzf "$work/$file" -C "$work" --no-same-owner 2>&1) ||
        { say "cannot unpack $url (${why%%$'\n'*}); is the disk full?"; return 1; }
      rm "$work/$file"
      ;;
    *) mv "$work/$file" "$work/${file%%.*}" && chmod 0755 "$work/${file%%.*}" ;;
  esac
  chmod 0755 "$work"
  mv -T "$work" "$opt/$target" || { say "cannot write to $opt/$target"; return 1; }
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
  local path
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

pull() { # REFERENCE; 2 where asking again is of no use
  why=$("$ctr" --namespace k8s.io images pull --hosts-dir "$certs" "$1" 2>&1 >/dev/null) && return
  [[ ! $why =~ (not found|unauthorized|denied|forbidden|no space left) ]] || return 2
  return 1
}
fetch_image() { # REFERENCE
  if [[ -z $(containerd images ls -q "name==$1") ]] && ! persist pull "$1"; then
    say "cannot pull $1: $(grep -v level=warning <<<"$why" | tail -n1)"
    return
  fi
  # The kubelet's image garbage collection counts only pods as users: keep what a restart needs.
  containerd images label "$1" io.cri-containerd.pinned=pinned >/dev/null || say "cannot pin $1"
}

# What pods will want is fetched while the rest of the cluster starts, by a unit of its own: nobody
# waits for it, and what it cannot fetch the kubelet asks for again.
fetch_later() {
  local image missing=()
  for image in "${later[@]}"; do
    [[ -n $(containerd images ls -q "name==$image") ]] || missing+=("$image")
  done
  ((${#missing[@]})) && ! systemctl is-active -q "$fetcher" || return 0
  # shellcheck disable=SC2016 # for the unit's own shell
  systemd-run --quiet --collect --unit "$fetcher" /bin/sh -c \
    'ctr=$1 certs=$2; shift 2; for image; do "$ctr" --namespace k8s.io images pull --hosts-dir "$certs" "$image" & done; wait' \
    sh "$ctr" "$certs" "${missing[@]}"
}

made_with() { say "$2" >"$state/made-with.$1"; } # what `reachable` compares the config with

prepare() {
  [[ ! -d $etcd ]] || keep "$etcd/.cluster" "$want_cluster" # for the machine that finds this disk
  inotify_instances
  distrust
  together fetch_archive "${archives[@]}"
  stop_at_problems
  start_runtime
  together fetch_image "${images[@]}"
  stop_at_problems
  fetch_later
  rm -f "$state/fetching"
  say "prepared: ${#images[@]} images"
}
