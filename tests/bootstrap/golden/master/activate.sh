alone
node test-master-0
runtime containerd-2.3.4
health etcd http://127.0.0.1:2381/readyz
health kube-apiserver https://127.0.0.1:6443/readyz
health kube-controller-manager https://127.0.0.1:10257/healthz
health kube-scheduler https://127.0.0.1:10259/readyz
directory /var/lib/etcd 0700
directory /etc/kubernetes/addons 0755
etcd_image gcr.io/etcd-development/etcd:v3.7.3
member test-master-0 172.30.0.10
master test-master-0 172.30.0.10
founder
members
file /etc/systemd/system/containerd-anywhere.service 0644 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/containerd/config.toml 0644 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/kubelet.yaml 0644 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/systemd/system/kubelet.service 0644 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/pki/authentication.yaml 0644 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/manifests/etcd.yaml 0600 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/manifests/kube-apiserver.yaml 0600 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/manifests/kube-controller-manager.yaml 0600 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/manifests/kube-scheduler.yaml 0600 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/manifests/addon-manager.yaml 0600 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/addons/example.yaml 0644 <<'END-OF-FILE'
...
END-OF-FILE
activate activate
settle
