# What a host's network must be: each function adds a problem in words, with what to do about it.

has_address() { # ADDRESS MTU
  local link mtu
  link=$(ip -o -4 address show to "$1/32" | awk 'NR == 1 {print $2}')
  if [[ -z $link ]]; then
    problem "no interface has the address $1 (there are $(ip -o -4 address show | awk '{print $4}' | xargs)); correct the host's address"
    return
  fi
  mtu=$(</sys/class/net/"$link"/mtu)
  ((mtu >= $2)) || problem "the MTU of $link is $mtu; raise it to $2 at least, or pods cannot talk to each other"
}

range() { # RANGE-OR-ADDRESS: sets `first` and `bits`
  local a b c d
  bits=32
  [[ $1 != */* ]] || bits=${1#*/}
  IFS=. read -r a b c d <<<"${1%/*}"
  first=$(((a << 24) + (b << 16) + (c << 8) + d))
}
overlap() { # RANGE RANGE
  local first bits one width
  range "$1"
  one=$first width=$bits
  range "$2"
  width=$((32 - (bits < width ? bits : width)))
  ((one >> width == first >> width))
}
free_range() { # RANGE KEY-OF-THE-CONFIG
  local to rest
  if ours; then return; fi # its own are there already
  while read -r to rest; do
    if [[ $to == unreachable || $to == blackhole || $to == prohibit ]]; then read -r to rest <<<"$rest"; fi
    if [[ $to == [0-9]* && ! $rest =~ dev\ ($links)( |$) ]] && overlap "$1" "$to"; then
      problem "$1 overlaps with the route '$to $rest'; set '$2' to a range that no host uses"
    fi
  done < <(ip -4 route show)
}

free_ports() { # PORT/PROTOCOL...
  local kind at users=""
  local -A taken=()
  if ours; then return; fi
  while read -r kind _ _ _ at _ users; do
    users=${users#*\"}
    taken[${at##*:}/$kind]=${users%%\"*}
  done < <(ss -Hlntup)
  for at; do
    # Who is a part of the cluster that may go, goes with it.
    [[ ! -v taken[$at] || ($may_go == 1 && ${taken[$at]} =~ ^(kube|etcd|k3s|rke2|flanneld)) ]] ||
      problem "port $at is in use by ${taken[$at]:-somebody}; stop it, or let it use another port"
  done
}

no_other_runtime() {
  local unit
  for unit in docker containerd; do
    # The one of a cluster that may go goes with it; Docker's containers are somebody else's.
    if ((may_go)) && [[ $unit == containerd ]]; then continue; fi
    [[ -z $(running "$unit") && ! -e /etc/systemd/system/multi-user.target.wants/$unit.service ]] ||
      problem "$unit is in the place of our container runtime; run 'systemctl disable --now $unit', and do without it here"
  done
}

# Where images and archives come from. Its clock is a second opinion on this host's: that one is
# ahead no certificate tells.
sources=()
source_of() { sources+=("$1 $2"); } # archives|images URL
declare -A good_answers=([archives]='2..' [images]='2..|401|405') # a registry may want to know who asks
head_of() { # URL: sets `answer` and `status`; 2 where asking again is of no use
  local code=0
  status=""
  answer=$(curl -sSIL --connect-timeout 5 --max-time 20 "$1" 2>&1) || code=$?
  case $code in 0) ;; 3 | 60) return 2 ;; *) return 1 ;; esac
  status=$(awk '/^HTTP/ {status = $2} END {print status}' <<<"$answer")
  ((status < 500))
}
header() { awk -v name="$1:" '/^\r?$/ {exit} tolower($1) == name {sub(/^[^ ]+ /, ""); sub(/\r$/, ""); print}' <<<"$answer"; }
utc() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; } # SECONDS
source_problems() { # archives|images URL, as one word
  local what=${1% *} url=${1#* } answer status here there
  if ! persist head_of "$url" && [[ -z $status ]]; then
    say "cannot reach $url for $what (${answer##*$'\n'}); let this host reach it, or correct 'mirror'"
    return
  fi
  [[ $status =~ ^(${good_answers[$what]})$ ]] ||
    say "$url answers with HTTP $status and has no $what; fill the mirror for this version, or correct 'mirror'"
  here=$(date +%s) there=$(date -d "$(header date)" +%s 2>/dev/null) || return 0
  there=$((there + $(header age | grep -x '[0-9]*' || say 0)))
  ((here - there < 120 && there - here < 120)) ||
    say "the clock says $(utc "$here") and that of $url $(utc "$there"); set it right, and keep it so by NTP"
}
