# The router's main process: for each backend of each balancer a process that asks how it is.
set -u
folder=/etc/simulated-cloud
state=/run/simulated-cloud

ask() { # PROTOCOL SOURCE ADDRESS PORT SECONDS PATH
    case $1 in
    https)
        curl --silent --fail --insecure --noproxy '*' --output /dev/null \
            --interface "$2" --max-time "$5" "https://$3:$4$6"
        ;;
    tcp) socat -u OPEN:/dev/null "TCP4:$3:$4,bind=$2,connect-timeout=$5" ;;
    esac 2>/dev/null
}

# turn KEY ADDRESS COMMAND: a backend is well from now on (touch), or it is not (rm -f). Nothing
# happens to connections that are there.
# shellcheck disable=SC2016 # it is the other shell that knows the arguments
turn() {
    flock "$folder/setup.sh.lock" sh -c '
        mkdir -p "healthy/$1" && $3 "healthy/$1/$2" && sh "$0/pick.sh" "$1" | nft -f -
    ' "$folder" "$@"
}

probe() { # the words of a line of `probes`
    local key=$1 address=$2 protocol=$4 source=$5 port=$6 interval=$7 healthy=$8 unhealthy=$9
    local path=${10-} good=0 bad=0
    while true; do
        sleep "$interval" &
        if ask "$protocol" "$source" "$address" "$port" "$interval" "$path"; then
            ((good += 1, bad = 0))
            ((good == healthy)) && turn "$key" "$address" touch
        else
            ((good = 0, bad += 1))
            ((bad == unhealthy)) && turn "$key" "$address" "rm -f"
        fi
        wait
    done
}

declare -A probers
follow() { # the lines of `probes`, whatever they are now
    local line key address
    for line in "${!probers[@]}"; do
        grep -qxF -- "$line" "$state/probes" && continue
        kill "${probers[$line]}"
        unset "probers[$line]"
        read -r key address _ <<<"$line"
        rm -f "$state/healthy/$key/$address"
        ! grep -q "^$key " "$state/backends" || turn "$key" "$address" "rm -f"
    done
    while read -r line; do
        [[ -n $line && -z ${probers[$line]-} ]] || continue
        # shellcheck disable=SC2086 # the words of a line
        probe $line &
        probers[$line]=$!
    done <"$state/probes"
}

mkdir -p "$state"
cd "$state" || exit 1
mkfifo changed
exec 3<>changed
flock "$folder/setup.sh.lock" sh "$folder/setup.sh" || exit 1
while true; do
    follow
    read -r _ <&3
done
