alone
node test-node-0
runtime containerd-2.3.4
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
activate activate
