"""What kubeadm's hosts get, and what it is told."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from addons import flannel
from addons.context import AddonContext
from addons.objects import find
from bench import BenchError, kubeadm, packages, procedure
from bench.settings import cluster, effective
from bootstrap.render import Download
from bootstrap.view import HostView
from components.local.platform import TRAITS
from components.pki.kubeconfig import with_certificate
from versions import DEFAULT_RELEASE, RELEASES

CONFIG = effective(cluster(2, alike=True), {})
RELEASE = RELEASES[DEFAULT_RELEASE]
# As `kubeadm init` ends.
SAID = """\
Then you can join any number of worker nodes by running the following on each as root:

kubeadm join 10.230.0.3:6443 --token abcdef.0123456789abcdef \\
\t--discovery-token-ca-cert-hash sha256:0123 
--- admin.conf ---
apiVersion: v1
"""  # noqa: W291 - so it is
MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-flannel-cfg}
data:
  cni-conf.json: '{"name": "cbr0", "cniVersion": "1.0.0"}'
  net-conf.json: '{"Network": "10.1.0.0/16", "EnableNFTables": false, "Backend": {"Type": "x"}}'
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kube-flannel-ds}
spec:
  template:
    spec:
      initContainers:
        - image: ghcr.io/flannel-io/flannel-cni-plugin:v0
      containers:
        - image: ghcr.io/flannel-io/flannel:v0
"""


def documents() -> dict[str, dict[str, Any]]:
    text = procedure.kubeadm_config(CONFIG, TRAITS, "10.230.0.3")
    return {item["kind"]: item for item in yaml.safe_load_all(text)}


def script() -> str:
    view = HostView(
        config=CONFIG,
        spec=CONFIG.hosts[0],
        address="10.230.0.3",
        identity="",
        labels={},
        mirror_url="http://10.230.0.2:5000",
        masters={},
        founder=False,
        traits=TRAITS,
        archive_sums={},
        pod_images=(),
    )
    program = Download(folder="kubelet-v1", file="kubelet.program", url="http://m/k", sha256="ab")
    return procedure.packages(view, [program])


def test_kubeadm_makes_the_cluster_that_our_config_describes() -> None:
    found = documents()
    cluster_configuration = found["ClusterConfiguration"]
    assert cluster_configuration["kubernetesVersion"] == CONFIG.kubernetes_version
    assert cluster_configuration["networking"] == {
        "dnsDomain": "cluster.local",
        "podSubnet": "10.244.0.0/16",
        "serviceSubnet": "10.96.0.0/16",
    }
    assert found["InitConfiguration"]["localAPIEndpoint"] == {"advertiseAddress": "10.230.0.3"}
    assert found["KubeProxyConfiguration"]["mode"] == "nftables"
    assert found["KubeletConfiguration"]["failCgroupV1"] is False


def test_kubeadm_runs_the_etcd_that_the_mirror_has() -> None:
    etcd = documents()["ClusterConfiguration"]["etcd"]["local"]
    # So kubeadm puts an image together: REPOSITORY/etcd:TAG.
    assert f"{etcd['imageRepository']}/etcd:{etcd['imageTag']}" == RELEASE.images["etcd"]


def test_a_host_fetches_the_runtime_and_the_programs_and_no_image() -> None:
    lines = script().splitlines()
    fetched = [line.split()[1] for line in lines if line.startswith("archive ")]
    assert fetched == ["containerd-2.3.4", "runc-1.4.3", "cni-plugins-1.9.1", "kubelet-v1"]
    assert not [line for line in lines if line.startswith("image ")]
    assert lines.index("prepare") < lines.index('ln -sf "$opt"/kubelet-v1/* /usr/bin/')


def test_the_scripts_are_shell(tmp_path: Path) -> None:
    for text in (script(), procedure.init("kind: x\n")):
        path = tmp_path / "script"
        path.write_text(text)
        assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0


def test_a_program_is_called_by_its_name_once_unpacked() -> None:
    """The function `archive` cuts the last part of the file's name off."""
    name = "kubelet"
    shell = f'file={packages.file_of(name)}; printf %s "${{file%%.*}}"'
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    assert done.stdout == name


def test_init_says_how_to_join_and_who_the_administrator_is() -> None:
    begun = procedure.begun(SAID)
    assert begun.join == (
        "kubeadm join 10.230.0.3:6443 --token abcdef.0123456789abcdef "
        "--discovery-token-ca-cert-hash sha256:0123 --ignore-preflight-errors=all </dev/null\n"
    )
    assert begun.kubeconfig == "apiVersion: v1\n"


@pytest.mark.parametrize(
    "said", ["no join command\n--- admin.conf ---\n", SAID.partition("---")[0]]
)
def test_an_init_that_says_neither_is_an_error(said: str) -> None:
    with pytest.raises(BenchError, match="printed no join command"):
        procedure.begun(said)


def test_flannel_gets_our_range_and_our_images() -> None:
    config_map, daemon_set = yaml.safe_load_all(procedure.flannel(MANIFEST, CONFIG))
    assert yaml.safe_load(config_map["data"]["net-conf.json"]) == {
        "Network": "10.244.0.0/16",
        "EnableNFTables": True,
        "Backend": {"Type": "vxlan"},
    }
    ours = flannel.render(AddonContext(config=CONFIG, traits=TRAITS, images=RELEASE.images))
    wanted = find(ours, "ConfigMap", "kube-flannel-cfg")["data"]["cni-conf.json"]
    assert json.loads(config_map["data"]["cni-conf.json"]) == {
        "name": "cbr0",
        "cniVersion": json.loads(wanted)["cniVersion"],
    }
    pods = daemon_set["spec"]["template"]["spec"]
    assert pods["initContainers"][0]["image"] == RELEASE.images["flannel-cni-plugin"]
    assert pods["containers"][0]["image"] == RELEASE.images["flannel"]


def test_a_kubeconfig_is_taken_apart_as_it_was_put_together() -> None:
    text = with_certificate(
        "c", "https://10.230.0.3:6443", "CA", user="u", certificate="CERTIFICATE", key="KEY"
    )
    assert kubeadm.client(text) == {
        "server": "https://10.230.0.3:6443",
        "ca": "CA",
        "certificate": "CERTIFICATE",
        "key": "KEY",
    }
