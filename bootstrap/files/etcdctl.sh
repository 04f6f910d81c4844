# etcd's own client, out of the image that its members run.

etcd_image=""
etcd_image() { etcd_image=$1; }

# etcdctl ENDPOINT ARGUMENTS... as the API server would ask: by its certificate.
etcdctl() {
  local name=etcdctl pki=$etc/pki
  # What a run left that was killed would be "already exists"; steps run one at a time.
  { containerd tasks rm -f "$name" && containerd containers rm "$name"; } >/dev/null 2>&1 || true
  containerd run --rm --net-host --mount "type=bind,src=$pki,dst=$pki,options=rbind:ro" \
    "$etcd_image" "$name" etcdctl --endpoints="https://$1:2379" --command-timeout=10s \
    --cacert="$pki/etcd-ca.crt" --cert="$pki/apiserver-etcd-client.crt" \
    --key="$pki/apiserver-etcd-client.key" "${@:2}" </dev/null
}
