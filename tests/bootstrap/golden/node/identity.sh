alone
node test-node-0
runtime containerd-2.3.4
file /etc/kubernetes/kubelet/kubelet.key 0600 <<'END-OF-FILE'
...
END-OF-FILE
file /etc/kubernetes/kubelet/kubelet.crt 0600 <<'END-OF-FILE'
...
END-OF-FILE
activate identity
