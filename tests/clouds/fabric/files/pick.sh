# Prints how nftables spreads a balancer's new connections: over the backends that are well, or over
# all when none is. The argument is the balancer's key; without it all balancers are meant.
set -eu
state=/run/simulated-cloud

for key in ${1:-$(awk '{ print $1 }' "$state/backends" | sort -u)}; do
    all=""
    well=""
    while read -r owner address mark; do
        [ "$owner" = "$key" ] || continue
        all="$all $mark"
        if [ -e "$state/healthy/$key/$address" ]; then
            well="$well $mark"
        fi
    done <"$state/backends"
    # shellcheck disable=SC2086 # a list of marks
    set -- ${well:-$all}
    echo "flush chain ip simulated pick_$key"
    [ "$#" != 0 ] || continue
    number=0
    choices=""
    for mark; do
        choices="$choices${choices:+, }$number : $mark"
        number=$((number + 1))
    done
    echo "add rule ip simulated pick_$key ct mark set numgen random mod $# map { $choices }"
done
