# Who etcd's members are. A host without etcd's data begins a cluster together with the other masters,
# or joins the one that there is; docs/etcd.md says when. Who is no master any more is removed.

own="" own_address="" own_url=""
masters=() # NAME ADDRESS, of all that the config has
founder=0  # whether this machine may begin a cluster
cluster_at="" # where a member is well, and with it the cluster
member() { own=$1 own_address=$2 own_url=$(peer_url "$2"); }
master() { masters+=("$1 $2"); }
founder() { [[ -f $state/healthy ]] || founder=1; } # one of the first, and it has not been up yet
peer_url() { say "https://$1:2380"; }

ask_etcd() { # URL, as another member does; over HTTP/2 it has no /members
  curl -fsS --http1.1 --connect-timeout 2 --max-time 8 --cacert "$etc/pki/etcd-ca.crt" \
    --cert "$etc/pki/etcd.crt" --key "$etc/pki/etcd.key" "$1"
}
is_well() { ask_etcd "$1/health" >/dev/null 2>&1; } # CLIENT-URL: it reads what a majority agrees on
others() { printf '%s\n' "${masters[@]}" | grep -v "^$own " || true; }
# The others first: a member that is still learning serves nobody.
find_cluster() {
  local at
  for at in $(others | cut -d' ' -f2) $([[ ! -d $etcd/member ]] || say "$own_address"); do
    if is_well "https://$at:2379"; then cluster_at=$at; return; fi
  done
  cluster_at=""
  return 1
}
# Whether another master is a member of a cluster that was well once: only then a member has told the
# others where clients reach it.
established() {
  local at
  for at in $(others | cut -d' ' -f2); do
    if ask_etcd "$(peer_url "$at")/members" 2>/dev/null | grep -q '"clientURLs":\["'; then return; fi
  done
  return 1
}

# ID, whether it has started, name, peer URL, client URL, whether it is a learner: a line each
members=""
look() { members=$(etcdctl "$cluster_at" member list) && [[ $members == *", started, "* ]]; }
listed() { # AWK-PROGRAM
  awk -F', ' -v own="$own" -v url="$own_url" \
    "{ id = \$1; name = \$3; at = \$4; client = \$5; learner = \$6 } $1" <<<"$members"
}
all_masters() { local entry; for entry in "${masters[@]}"; do say "${entry% *}=$(peer_url "${entry#* }")"; done; }

# Members that vote and are not well, but for this host's own; those whom nothing is known of, too.
unwell() {
  local name client
  while IFS='|' read -r name client; do
    if [[ -z $client ]] || ! is_well "${client%%,*}"; then say "${name:-one that has not started}"; fi
  done < <(listed 'learner == "false" && name != own && at != url {print name "|" client}')
}
refuse_unwell() { # WHAT-CANNOT-BE-DONE
  local bad
  bad=$(unwell | xargs)
  [[ -z $bad ]] || fail "etcd's members are not all healthy, so $1: $bad; repair that first (see 'journalctl -u kubelet' there), and run this again"
}

# etcd must not start, or run, while it is decided what it starts with.
halt_etcd() {
  rm -f "$etc/manifests/etcd.yaml"
  wait_for 60 "etcd to end" etcd_ended || { journal kubelet; exit 1; }
}
etcd_ended() { [[ -z $(running etcd) ]]; }

why=""
try() { why=$("$@" 2>&1 >/dev/null); }
# An answer may be lost on its way, and what was done would be refused the second time.
removed() { try etcdctl "$cluster_at" member remove "$1" || [[ $why == *"not found"* ]]; }
added() {
  try etcdctl "$cluster_at" member add "$own" --learner --peer-urls="$own_url" ||
    [[ $why == *"already exists"* ]]
}
promoted() { try etcdctl "$cluster_at" member promote "$1"; }
# etcd itself refuses a change while one of its members is not seen by the others.
persuade() { # WHAT COMMAND...
  wait_for 60 "$1" "${@:2}" || fail "etcd refuses it: ${why##*$'\n'}"
}

look_again() { persuade "etcd to name its members" look; }

# Without data we cannot be who we were: raft relies on what a member has once written.
join() {
  local id
  look_again
  # Of the masters that began together, enough are up already: this one is still expected.
  if ((founder)) && [[ -n $(listed 'name == own && at == url && client == "" && learner == "false"') ]]; then begin; return; fi
  refuse_unwell "$own cannot join"
  # One at a time may learn.
  for id in $(listed 'learner == "true" && name != own && at != url {print id}'); do
    promoted "$id" || persuade "a learner to go that does not learn" removed "$id"
  done
  for id in $(listed 'name == own || at == url {print id}'); do
    persuade "etcd to let go of the old $own" removed "$id"
  done
  persuade "etcd to take $own as a member" added
  look_again
  initial_state=existing
  initial_cluster=$(listed '{print (at == url ? own : name) "=" at}' | paste -sd,)
  say "$own joins etcd's members"
}
begin() { # together with all masters
  initial_state=new
  initial_cluster=$(all_masters | paste -sd,)
}

# Before etcd's manifest is placed: what it says of the members, which etcd reads only without data.
members() {
  find_cluster || true
  if [[ -d $etcd/member ]]; then keep_data; fi
  if [[ -d $etcd/member ]]; then return; fi
  halt_etcd
  # What is restarted just now will be back.
  if [[ -z $cluster_at ]] && { ((!founder)) || established; }; then
    wait_for 60 "another master's etcd to be healthy" find_cluster || true
  fi
  if [[ -n $cluster_at ]]; then
    join
  elif ((!founder)); then
    fail "etcd's data is not on this machine, which is not one that the cluster began with, and no other master has a healthy etcd; repair those, or see docs/etcd.md for what to do when all data is lost"
  elif established; then
    fail "etcd's data is not on this machine, and the other masters' etcd is not healthy; repair that first, or see docs/etcd.md for what to do when a majority is lost"
  else
    begin
  fi
}
keep_data() { # unless it is a former member's
  initial_cluster=$(kept "") initial_state=$(kept -state)
  # Its machine is another one, and its disk is the same.
  [[ -n $initial_cluster ]] || initial_state=existing initial_cluster=$own=$own_url
  if [[ -z $cluster_at ]] || is_well "https://$own_address:2379"; then return; fi
  look_again
  [[ -z $(listed 'name == own || at == url') ]] || return 0
  say "$own was removed from etcd's members; its old data is in $etcd/removed"
  halt_etcd
  rm -rf "$etcd/removed"
  mv -T "$etcd/member" "$etcd/removed"
}
kept() { sed -n "s/.*--initial-cluster$1=//p" "$etc/manifests/etcd.yaml" 2>/dev/null || true; }

# After the kubelet has what it needs. Where there was no cluster, nobody waits: it may need the
# masters that come after this one.
settle() {
  [[ -n $cluster_at ]] || return 0
  wait_for 300 "etcd here to be a healthy, voting member" votes || { say "${why##*$'\n'}" >&2; journal kubelet; exit 1; }
  remove_former
}
votes() {
  local id
  find_cluster && look || return
  id=$(listed 'at == url && learner == "true" {print id}')
  if [[ -n $id ]]; then promoted "$id" || return; fi
  [[ -n $(listed 'at == url && client != ""') ]] && is_well "https://$own_address:2379"
}

# Who is no master any more goes before its machine does: first those that are not well.
former() { # ID NAME
  local id name client known
  known=$(all_masters)
  while IFS='|' read -r id name url client; do
    if grep -qE "^$name=|=$url\$" <<<"$known"; then continue; fi
    if is_well "${client%%,*}"; then say "1 $id $name"; else say "0 $id $name"; fi
  done < <(listed '{print id "|" name "|" at "|" client}') | sort | cut -d' ' -f2-
}
remove_former() {
  local id name found
  look_again
  while found=$(former) && [[ -n $found ]]; do
    read -r id name <<<"$found"
    stays_well
    persuade "etcd to let go of $name" removed "$id"
    wait_for 60 "etcd to be healthy without $name" is_well "https://$own_address:2379" || exit 1
    say "$name is no member of etcd any more"
    look_again
  done
}
stays_well() { # of those that stay, all
  local entry bad=()
  for entry in "${masters[@]}"; do
    [[ -z $(listed "name == \"${entry% *}\"") ]] || is_well "https://${entry#* }:2379" || bad+=("${entry% *}")
  done
  ((${#bad[@]} == 0)) || fail "etcd's members are not all healthy, so none can be removed: ${bad[*]}; repair that first, and run this again"
}
