"""What `python -m config show` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import configdoc
from config import ClusterConfig
from validation import CLUSTER_KEY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STACK = f"""\
config:
  pulumi:disable-default-providers: [kubernetes]
  {CLUSTER_KEY}:
    name: lab
    pools: []
    metal:
      hosts: []
      inventory: null
      apiHost: null
      user: root
      port: 22
      keyFile: null
      knownHostsFile: ~/.ssh/known_hosts
      bastion: null
      leftovers: refuse
    kubelet: {{config: {{maxPods: 50}}}}
"""
EFFECTIVE = f"""\
config:
  {CLUSTER_KEY}:
    name: lab
    kubernetesVersion: v1.37.2
    platform: local
    account: null
    region: null
    zones: []
    tags: {{}}
    arch: null
    systemContainers: false
    masters:
      machineType: null
      diskGb: null
      image: null
      arch: null
      count: 1
      etcdDiskGb: null
      kubelet:
        extraArgs: {{}}
        config: {{}}
    pools: []
    metal:
      hosts: []
      inventory: null
      apiHost: null
      user: root
      port: 22
      keyFile: null
      knownHostsFile: ~/.ssh/known_hosts
      bastion: null
      leftovers: refuse
    access:
      sshFrom: []
      apiFrom: []
      sshUser: ubuntu
      private: false
    network:
      existing: null
      podCidr: 10.244.0.0/16
      serviceCidr: 10.96.0.0/16
      hostCidr: 172.30.0.0/24
      nodePrefix: 24
      clusterDomain: cluster.local
      plugin: flannel
      manifests: []
      backend: vxlan
      proxyMode: nftables
    certificates:
      validHours: 8760
      renewHours: 1440
    addons:
      dns: coredns
      metrics: metrics-server
      logging:
        agent: fluentd
        output: stdout
        forward: null
      delivery: pulumi
    mirror: null
    kubelet:
      extraArgs: {{}}
      config:
        maxPods: 50
    apiserver:
      extraArgs: {{}}
    controllerManager:
      extraArgs: {{}}
    scheduler:
      extraArgs: {{}}
    etcd:
      extraArgs: {{}}
derived:
  etcd: 3.7.3
  kubernetesServiceAddress: 10.96.0.1
  dnsServiceAddress: 10.96.0.10
  hosts:
  - name: lab-master-0
    role: master
    index: 0
    arch: {ClusterConfig().architecture}
    machineType: null
    diskGb: null
    image: null
    spot: false
    labels: {{}}
    taints:
    - key: node-role.kubernetes.io/control-plane
      value: ''
      effect: NoSchedule
    kubelet:
      extraArgs: {{}}
      config:
        maxPods: 50
"""


@pytest.fixture
def show_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[int, str, str]]:
    """Exit code, standard output and standard error of `python -m config show FILE`."""
    monkeypatch.delenv("KUBERNETES_ANYWHERE_MIRROR", raising=False)

    def run(text: str) -> tuple[int, str, str]:
        file = tmp_path / "Pulumi.test.yaml"
        file.write_text(text)
        code = configdoc.main(["show", str(file)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_show_prints_the_effective_config(
    show_file: Callable[[str], tuple[int, str, str]],
) -> None:
    assert show_file(STACK) == (0, EFFECTIVE, "")


def test_what_show_prints_is_a_stack_file(
    show_file: Callable[[str], tuple[int, str, str]],
) -> None:
    assert show_file(EFFECTIVE) == (0, EFFECTIVE, "")


@pytest.mark.parametrize("text", ["", "config:\n", f"config: {{{CLUSTER_KEY}: '{{}}'}}\n"])
def test_show_fills_in_everything(
    text: str, show_file: Callable[[str], tuple[int, str, str]]
) -> None:
    code, out, _ = show_file(text)
    assert code == 0
    assert out == configdoc.effective({})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"config: {{{CLUSTER_KEY}: {{name: Lab}}}}", "name: Lab\n"),
        (f"config: {{{CLUSTER_KEY}: {{secure: AAAA}}}}", "is encrypted as a whole"),
        (f"config: {{{CLUSTER_KEY}: '{{'}}", "cannot be read"),
        ("config: {a: [", "cannot be read"),
        ("- 1", "cannot be read"),
    ],
)
def test_show_of_bad_input(
    text: str, message: str, show_file: Callable[[str], tuple[int, str, str]]
) -> None:
    code, out, err = show_file(text)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def test_show_of_no_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert configdoc.main(["show", str(tmp_path / "none.yaml")]) == 1
    assert "No such file" in capsys.readouterr().err
