#!/bin/sh
# Turns a Debian root with the packages of packages.txt into the machine image. Both ways of making
# the image run it inside that root, with this folder at the path given as the first argument.
set -eu
files=$1

# Units that make no sense in a container: they wait for hardware, own the network, or change the
# kernel that all machines share.
systemctl mask \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer \
    e2scrub_reap.service modprobe@.service \
    console-getty.service getty.target getty-static.service \
    dev-hugepages.mount proc-sys-fs-binfmt_misc.automount \
    proc-sys-fs-binfmt_misc.mount sys-fs-fuse-connections.mount sys-kernel-config.mount \
    sys-kernel-debug.mount sys-kernel-tracing.mount \
    systemd-binfmt.service systemd-firstboot.service systemd-journald-audit.socket \
    systemd-logind.service systemd-machine-id-commit.service systemd-modules-load.service \
    systemd-networkd.service systemd-networkd.socket systemd-networkd-wait-online.service \
    systemd-network-generator.service systemd-pstore.service systemd-random-seed.service \
    systemd-remount-fs.service systemd-resolved.service systemd-sysusers.service \
    systemd-timesyncd.service systemd-tmpfiles-setup-dev.service \
    systemd-udev-settle.service systemd-udev-trigger.service systemd-udevd.service \
    systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-update-utmp.service \
    systemd-vconsole-setup.service
# The load balancer and the mirror run these two directly.
systemctl disable haproxy.service nginx.service
systemctl enable ssh.service
systemctl set-default multi-user.target

# Only what phase 2 asks for may be set: these files are Debian's wishes for a kernel of its own.
rm -f /usr/lib/sysctl.d/*.conf /etc/sysctl.d/*.conf

install -D -m 0644 "$files/sshd.conf" /etc/ssh/sshd_config.d/kubernetes-anywhere.conf
install -D -m 0755 "$files/entrypoint.sh" /usr/local/sbin/machine-entrypoint
install -d -m 0700 /root/.ssh
install -d -m 0755 /srv/mirror /etc/kubernetes-anywhere

# The engine copies /var to the volume of each machine before it starts: hundreds of files that only
# apt ever reads need not be there.
for folder in lib/dpkg cache/debconf; do
    if [ ! -L "/var/$folder" ]; then
        mkdir -p "/usr/$folder"
        cp -a "/var/$folder/." "/usr/$folder/"
        rm -rf "/var/$folder"
        ln -s "/usr/$folder" "/var/$folder"
    fi
done

# What must differ between machines, and what only costs space.
rm -f /etc/ssh/ssh_host_* /etc/motd
rm -f /etc/hostname 2>/dev/null || : # the engine's own mount while its older builder runs this
rm -rf /etc/update-motd.d /var/log/*.log /var/log/apt /var/log/journal /var/cache/apt/* /var/lib/apt/lists/* \
    /usr/share/doc /usr/share/man /usr/share/locale /usr/share/info
: >/etc/machine-id
