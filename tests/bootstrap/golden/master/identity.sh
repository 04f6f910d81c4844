alone
node test-master-0
runtime containerd-2.3.4
health etcd http://127.0.0.1:2381/readyz
health kube-apiserver https://127.0.0.1:6443/readyz
health kube-controller-manager https://127.0.0.1:10257/healthz
health kube-scheduler https://127.0.0.1:10259/readyz
directory /var/lib/etcd 0700
directory /etc/kubernetes/addons 0755
file /etc/kubernetes/kubelet/kubelet.key 0600 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/kubelet/kubelet.crt 0600 <<'END-OF-FILE'
...
END-OF-FILE
activate identity
