# Makes the container the router that the simulated cloud's fabric says. It runs when the container
# starts, and again whenever the fabric changes; its facts come before this text.
set -eu
state=/run/simulated-cloud

echo 1 >/proc/sys/net/ipv4/ip_forward
for device in /proc/sys/net/ipv4/conf/*; do
    echo 0 >"$device/rp_filter"      # who may send what is for the machines' own rules to say,
    echo 1 >"$device/accept_local"   # and some of them answer as a balancer
    echo 0 >"$device/send_redirects" # a neighbour must not learn the way around the router
done
# Docker's wish for the way out: nothing leads out of a simulated cloud.
ip route delete default 2>/dev/null || true

assign() { # DEVICE ADDRESS... gives a device these addresses, and takes all others of its kind
    device=$1
    shift
    for address in $(ip -o -4 address show dev "$device" | awk '$4 ~ "/32$" { print $4 }'); do
        case " $* " in
        *" ${address%/32} "*) ;;
        *) ip address delete "$address" dev "$device" ;;
        esac
    done
    for address; do
        ip address replace "$address/32" dev "$device"
    done
}
# shellcheck disable=SC2086 # lists of addresses
{
    assign "$(ip -o -4 address show to "$own_address" | awk '{ print $2 }')" $addresses
    assign lo $sources
}

# The way by mark comes before what is local: balancers' addresses are the router's own.
ip rule add preference 100 lookup local 2>/dev/null || true
ip rule delete preference 0 lookup local 2>/dev/null || true
marks=$(ip rule show preference 50 | sed 's/.* fwmark \([0-9a-fx]*\) .*/\1/')
for mark in $marks; do
    echo "$kept" | grep -q "^$mark " || {
        ip rule delete preference 50 fwmark "$mark"
        ip route flush table "$((mark))"
    }
done
echo "$kept" | while read -r mark address; do
    [ -n "$mark" ] || continue
    ip route replace default via "$address" table "$((mark))"
    echo "$marks" | grep -qx "$mark" || ip rule add preference 50 fwmark "$mark" lookup "$((mark))"
done

mkdir -p "$state"
echo "$backends" >"$state/backends"
echo "$probes" >"$state/probes.new"
mv "$state/probes.new" "$state/probes"
{
    echo "$rules"
    sh /etc/simulated-cloud/pick.sh
} | nft -f -
if [ -p "$state/changed" ]; then
    echo >"$state/changed"
fi
