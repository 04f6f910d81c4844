booted
cluster test
clock 2020-01-01T00:00:00Z
distribution debian 12 ubuntu 22.04 flatcar 3510
architecture amd64
kernel 5.13
needs_features overlay ovl nf_conntrack nf_conntrack nf_tables nf_tables br_netfilter br_nf vxlan vxlan
needs_cgroups 1
needs_commands awk cmp curl df find findmnt flock grep gzip ip journalctl mktemp mount sed sha256sum ss stat sysctl systemctl tar xargs
needs_writable /opt /var/lib /etc /var/log
needs_programs /opt /var/lib
needs_mebibytes /opt 1024 /var/lib 4096 /etc 16 /var/log 256
has_address 172.30.0.10 1330
free_range 10.244.0.0/16 network.podCidr
free_range 10.96.0.0/16 network.serviceCidr
free_ports 6443/tcp 2379/tcp 2380/tcp 2381/tcp 10257/tcp 10259/tcp 10250/tcp 10248/tcp 10249/tcp 10256/tcp 8081/tcp 8472/udp
source_of archives https://github.com/containerd/containerd/releases/download/v2.3.4/containerd-2.3.4-linux-amd64.tar.gz
source_of images https://gcr.io/v2/
source_of images https://ghcr.io/v2/
source_of images https://registry.k8s.io/v2/
made_with kubernetesVersion v1.37.2
made_with network.plugin flannel
made_with addons.delivery pulumi
check
