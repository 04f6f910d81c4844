# Makes the container what the simulated cloud says that the machine is. It runs before anything
# else at each start, and again whenever the cloud changes; its facts come before this text.
set -eu

echo "$firewall" | nft -f -

ip link set dev eth0 mtu "$mtu"
ip route replace default via "$gateway"

# Addresses of balancers that leave packets' destination as it is; Google's agent marks them so, too.
for address in $(ip -4 route show table local proto 66 | awk '{ print $2 }'); do
    case " $local_addresses " in
    *" $address "*) ;;
    *) ip route delete local "$address" dev lo table local proto 66 ;;
    esac
done
for address in $local_addresses; do
    ip route replace local "$address" dev lo table local proto 66
done

# Lines of: name of the device, its numbers, where the machine finds it.
if [ -d /dev/disk ]; then
    find /dev/disk -type l | while read -r link; do
        echo "$disks" | grep -q -- " $link\$" || rm -f "$link"
    done
fi
echo "$disks" | while read -r device major minor link; do
    [ -n "$device" ] || continue
    [ -b "$device" ] || mknod -m 0660 "$device" b "$major" "$minor"
    mkdir -p "${link%/*}"
    ln -sfn "$device" "$link"
done

# Lines of: user, public key. A password of `*` is none; without it sshd takes a user for locked.
for user in $(echo "$keys" | awk '{ print $1 }' | sort -u); do
    id "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash --password '*' "$user"
    home=$(getent passwd "$user" | cut -d: -f6)
    install -d -m 0700 -o "$user" -g "$user" "$home/.ssh"
    echo "$keys" | sed -n "s/^$user //p" >"$home/.ssh/authorized_keys.new"
    chown "$user:" "$home/.ssh/authorized_keys.new"
    mv "$home/.ssh/authorized_keys.new" "$home/.ssh/authorized_keys"
    echo "$user ALL=(ALL:ALL) NOPASSWD:ALL" >"/etc/sudoers.d/$user"
done
for home in /home/*; do
    echo "$keys" | grep -q "^${home#/home/} " || rm -f "$home/.ssh/authorized_keys"
done

# A machine that is not told who it is makes up its mind.
host_key=/etc/ssh/ssh_host_ed25519_key
[ -s "$host_key" ] || ssh-keygen -q -t ed25519 -N '' -f "$host_key"
