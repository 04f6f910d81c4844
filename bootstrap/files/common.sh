# What every step shares. A step is sent to the host's bash as one text on standard input: these
# functions, the step's own, the files and facts as calls of them, and at the end the call that acts.
set -euo pipefail
export LC_ALL=C

state=/var/lib/kubernetes-anywhere   # what was placed here, and what is not finished
etc=/etc/kubernetes
etcd=/var/lib/etcd                   # may be a disk of its own, which outlives its machine
opt=/opt/kubernetes-anywhere         # each version of an archive in a folder of its own
fetcher=kubernetes-anywhere-images   # the unit that pulls what pods will want
inotify=/proc/sys/fs/inotify/max_user_instances

# Another machine under the same name is another text, so that every step runs on it again.
machine() { :; }

# containerd ARGUMENTS... asks the runtime, without the warnings that it gives on every call.
ctr=""
runtime() { ctr=$opt/$1/bin/ctr; }
containerd() { "$ctr" --namespace k8s.io "$@" 2> >(grep -v level=warning >&2); }

say() { printf '%s\n' "$*"; }
fail() { say "$(hostname): $*" >&2; exit 1; }
# keep FILE TEXT writes a note for later runs, whole or not at all: the disk may be full.
keep() { say "$2" >"$1.new" && mv -f "$1.new" "$1"; }

# The cluster that this host is, or will be, a part of.
want_cluster=""
cluster() { want_cluster=$1; }
ours() { [[ -f $state/cluster && $(<"$state/cluster") == "$want_cluster" ]]; }

# A run whose client was killed still works here: the next one waits for its end.
alone() {
  mkdir -p "$state"
  exec 9>"$state/lock"
  flock -w 600 9 || fail "an earlier run is still at work; see 'ps', and run this again when it has ended"
  [[ $state/lock -ef /dev/fd/9 ]] || alone # the one before took the folder away
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

# persist COMMAND... repeats it for as long as a registry may be away in the middle of a run, until it
# succeeds or says 2: that asking again is of no use.
patience=90
persist() {
  local until=$((SECONDS + patience)) result
  while result=0; "$@" || result=$?; ((result != 0 && result != 2 && SECONDS < until)); do sleep 1; done
  return "$result"
}

# together FUNCTION ITEM... runs it for each item, side by side; what one of them says is a problem.
together() {
  local line
  while read -r line; do problem "$line"; done < <(
    for line in "${@:2}"; do "$1" "$line" & done
    wait
  )
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
keys="" # which a static pod's file names: the pod restarts when its file changes
# What only the host knows of its static pods: their keys, and how etcd's members began.
initial_cluster="" initial_state=""
content() {
  if [[ $1 != "$etc"/manifests/* ]]; then cat; return; fi
  sed "s/@PKI_SHA256@/$keys/; s|@INITIAL_CLUSTER@|$initial_cluster|; s/@INITIAL_STATE@/$initial_state/"
}
file() {
  local path=$1 mode=$2 new modes
  new=$(staging_name "$path")
  [[ -d ${path%/*} ]] || mkdir -p "${path%/*}"
  if [[ $path == "$etc"/manifests/* && -z $keys ]]; then keys=$(pki_hash); fi
  (umask 077 && content "$path" >"$new") || { rm -f "$new"; fail "cannot write $path; is the disk full?"; }
  chmod "$mode" "$new"
  staged+=("$path")
  if cmp -s "$new" "$path" && modes=$(stat -c %a "$new" "$path") && [[ ${modes%$'\n'*} == "${modes#*$'\n'}" ]]; then
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
  keep "$list" "$(printf '%s\n' "${staged[@]}")"
}
pending() { [[ -f $state/pending ]] && grep -qE "^($1)" "$state/pending"; }
finished() { rm -f "$state/pending" "$state"/before.*; }
