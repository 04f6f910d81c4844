booted
cluster test
architecture amd64
clock 2020-01-01T00:00:00Z
needs_command curl
needs_command tar
needs_command sha256sum
needs_command flock
needs_command ss
needs_command ip
needs_command mount
needs_command systemctl
needs_command journalctl
needs_mebibytes /opt 1024
needs_mebibytes /var/lib 4096
needs_free_port 6443
needs_free_port 2379
needs_free_port 2380
needs_free_port 10250
needs_free_port 10257
needs_free_port 10259
etcd_members test-master-0=https://172.30.0.10:2380
made_with network.plugin flannel
made_with addons.delivery pulumi
check
