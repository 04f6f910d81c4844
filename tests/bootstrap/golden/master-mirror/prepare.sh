alone
cluster test
own 10.244.0.0/16
made_with kubernetesVersion v1.37.2
made_with network.plugin flannel
made_with addons.delivery pulumi
runtime containerd-2.3.4
archive containerd-2.3.4 containerd-2.3.4-linux-amd64.tar.gz http://172.30.0.3/archives/containerd-2.3.4-linux-amd64.tar.gz 9d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168
archive runc-1.4.3 runc.amd64 http://172.30.0.3/archives/runc.amd64 5555555555555555555555555555555555555555555555555555555555555555
archive cni-plugins-1.9.1 cni-plugins-linux-amd64-v1.9.1.tgz http://172.30.0.3/archives/cni-plugins-linux-amd64-v1.9.1.tgz b98f74a0f8522f0a83867178729c1aa70f2158f90c45a2ca8fa791db1c76b303
file /etc/systemd/system/containerd-anywhere.service 0644 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/containerd/config.toml 0644 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/containerd/certs.d/_default/hosts.toml 0644 <<'END-OF-FILE'
...
END-OF-FILE
image ghcr.io/siderolabs/kubelet:v1.37.2
image registry.k8s.io/pause:3.10.2
image gcr.io/etcd-development/etcd:v3.7.3
image registry.k8s.io/kube-apiserver:v1.37.2
image registry.k8s.io/kube-controller-manager:v1.37.2
image registry.k8s.io/kube-scheduler:v1.37.2
later registry.k8s.io/coredns/coredns:v1
later registry.k8s.io/kube-proxy:v1
prepare
