# What every step shares. A step is sent to the host's bash as one text on standard input: these
# functions, the step's own, the files and facts as calls of them, and at the end the call that acts.
set -euo pipefail
export LC_ALL=C

state=/var/lib/kubernetes-anywhere   # what was placed here, and what is not finished
etc=/etc/kubernetes
etcd=/var/lib/etcd                   # may be a disk of its own, which outlives its machine
opt=/opt/kubernetes-anywhere         # each version of an archive in a folder of its own
inotify=/proc/sys/fs/inotify/max_user_instances

# Another machine under the same name is another text, so that every step runs on it again.
machine() { :; }

# containerd ARGUMENTS... asks the runtime, without the warnings that it gives on every call.
ctr=""
runtime() { ctr=$opt/$1/bin/ctr; }
containerd() { "$ctr" --namespace k8s.io "$@" 2> >(grep -v level=warning >&2); }

say() { printf '%s\n' "$*"; }

# A run whose client was killed still works here: the next one waits for its end.
alone() {
  mkdir -p "$state"
  exec 9>"$state/lock"
  flock -w 600 9 || { say "$(hostname): an earlier run is still at work" >&2; exit 1; }
}

# A step says all that is wrong before it gives up.
problems=()
problem() { problems+=("$*"); }
stop_at_problems() {
  ((${#problems[@]} == 0)) && return
  say "$(hostname): ${#problems[@]} problem(s):" >&2
  printf '  - %s\n' "${problems[@]}" >&2
  exit 1
}

# wait_for SECONDS WHAT COMMAND... waits until the command succeeds; false when it never does.
wait_for() {
  local until=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < until)) || { say "$(hostname): waited too long for $what" >&2; return 1; }
    sleep 0.2
  done
}

# journal UNIT shows the end of a unit's journal, where a person would look next.
journal() {
  say "--- $(hostname): the last lines of 'journalctl -u $1' ---" >&2
  journalctl -u "$1" -n 30 --no-pager -o cat >&2 || true
}

# file PATH MODE stages a file from standard input beside its place, under a name that starts with a
# dot: the kubelet reads every other name in its manifests folder, and a rename there is atomic.
changed=()
staged=()
pki_hash() {
  [[ -d $etc/pki ]] || return 0
  find "$etc/pki" -type f ! -name '.*' -print0 | sort -z | xargs -0 -r sha256sum | sha256sum | cut -d' ' -f1
}
staging_name() { printf '%s/.%s.new' "${1%/*}" "${1##*/}"; }
file() {
  local path=$1 mode=$2 new
  new=$(staging_name "$path")
  mkdir -p "${path%/*}"
  (umask 077 && cat >"$new")
  if [[ $path == "$etc"/manifests/* ]]; then
    # A static pod restarts when its file changes, so its file says which keys it runs with.
    sed -i "s/@PKI_SHA256@/$(pki_hash)/" "$new"
  fi
  chmod "$mode" "$new"
  staged+=("$path")
  if cmp -s "$new" "$path" && [[ $(stat -c %a "$new") == "$(stat -c %a "$path")" ]]; then
    rm "$new"
  else
    changed+=("$path")
  fi
}

# directory PATH MODE makes a folder that pods mount: the kubelet's container does not see all of the
# host, so it could not.
directory() { install -d -m "$2" "$1"; }

# commit STEP moves the staged files into place and removes those that this step placed earlier and
# no longer wants. What changed is on record before it is moved, until `finished` says that all that
# depends on it was restarted: a run that is cut off in between is finished by the next one.
commit() {
  local list=$state/files.$1 path
  mkdir -p "$state"
  for path in "${changed[@]}"; do
    say "$path" >>"$state/pending"
    mv -f "$(staging_name "$path")" "$path"
  done
  if [[ -f $list ]]; then
    while read -r path; do
      [[ " ${staged[*]} " == *" $path "* ]] && continue
      say "$path" >>"$state/pending"
      rm -f "$path"
    done <"$list"
  fi
  printf '%s\n' "${staged[@]}" >"$list"
}
pending() { [[ -f $state/pending ]] && grep -qE "^($1)" "$state/pending"; }
finished() { rm -f "$state/pending" "$state"/before.*; }
