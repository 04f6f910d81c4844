"""How the config and a platform's traits show in the objects."""

from __future__ import annotations

import json
import re
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from addons.objects import CHECKSUM_ANNOTATION, merged, pod_spec
from components.pki import table
from interface import IN_CLUSTER_KUBECONFIG, Traits
from tests.addons.cases import CASES, everything, one, rendered, selection

if TYPE_CHECKING:
    from addons.objects import Manifest

ACCESS_AND = {"access", "kube-proxy", "flannel", "coredns", "metrics-server", "fluentd"}


@pytest.mark.parametrize(
    ("case", "changes"),
    [
        ("default", set()),
        ("no-proxy", {"kube-proxy"}),
        ("no-network", {"flannel"}),
        ("no-dns", {"coredns"}),
        ("no-metrics", {"metrics-server"}),
        ("heapster", {"metrics-server", "heapster"}),
        ("no-logging", {"fluentd"}),
    ],
)
def test_the_config_chooses_the_add_ons(case: str, changes: set[str]) -> None:
    assert {addon.name for addon in selection(CASES[case]).enabled} == ACCESS_AND ^ changes


def proxy_config(raw: dict[str, Any] | None = None, traits: Traits | None = None) -> Manifest:
    text = one(everything(raw, traits), "ConfigMap", "kube-proxy")["data"]["config.yaml"]
    config: Manifest = yaml.safe_load(text)
    return config


def net_conf(raw: dict[str, Any] | None = None, traits: Traits | None = None) -> Manifest:
    text = one(everything(raw, traits), "ConfigMap", "kube-flannel-cfg")["data"]["net-conf.json"]
    conf: Manifest = json.loads(text)
    return conf


@pytest.mark.parametrize("mode", ["nftables", "iptables"])
def test_kube_proxy_and_flannel_make_the_same_kind_of_rules(mode: str) -> None:
    raw = {"network": {"proxyMode": mode}}
    assert proxy_config(raw)["mode"] == mode
    assert net_conf(raw)["EnableNFTables"] is (mode == "nftables")


def test_the_pods_range_is_the_same_everywhere() -> None:
    """H19: in kube-proxy and flannel, too."""
    raw = CASES["other-ranges"]
    assert proxy_config(raw)["clusterCIDR"] == net_conf(raw)["Network"] == "10.128.0.0/14"


def test_flannel_uses_the_backend_of_the_config() -> None:
    assert net_conf()["Backend"] == {"Type": "vxlan"}
    assert net_conf(CASES["host-gw"])["Backend"] == {"Type": "host-gw"}


def test_a_platforms_traits_are_merged_in() -> None:
    traits = Traits(
        kube_proxy={"conntrack": {"maxPerCore": 0}, "clientConnection": {"qps": 20}},
        flannel={"MTU": 1400, "DirectRouting": True},
    )
    merged_config = proxy_config(traits=traits)
    assert merged_config["conntrack"] == {"maxPerCore": 0}
    assert merged_config["clientConnection"] == {"kubeconfig": IN_CLUSTER_KUBECONFIG, "qps": 20}
    assert {**merged_config, "conntrack": 0, "clientConnection": 0} == {
        **proxy_config(),
        "conntrack": 0,
        "clientConnection": 0,
    }
    assert net_conf(traits=traits)["Backend"] == {
        "Type": "vxlan",
        "MTU": 1400,
        "DirectRouting": True,
    }


def test_merging_keeps_what_it_is_given() -> None:
    base, over = {"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}, "d": 3}
    assert merged(base, over) == {"a": {"b": 1, "c": [2]}, "d": 3}
    assert base == {"a": {"b": 1, "c": [1]}}


def test_dns_answers_at_the_address_that_kubelets_give_out() -> None:
    service = one(everything(CASES["other-ranges"]), "Service", "kube-dns")
    assert ip_address(service["spec"]["clusterIP"]) == ip_network("10.64.0.0/20")[10]


def test_dns_serves_the_clusters_domain() -> None:
    corefile = one(everything(CASES["other-ranges"]), "ConfigMap", "coredns")["data"]["Corefile"]
    assert "kubernetes k8s.example.org in-addr.arpa ip6.arpa {" in corefile
    assert "cluster.local" not in corefile
    assert corefile.count("{") == corefile.count("}")


def test_what_runs_before_services_do_asks_the_api_through_the_hosts_file() -> None:
    objects = everything()
    assert proxy_config()["clientConnection"]["kubeconfig"] == IN_CLUSTER_KUBECONFIG
    flannel = pod_spec(one(objects, "DaemonSet", "kube-flannel-ds"))
    assert f"--kubeconfig-file={IN_CLUSTER_KUBECONFIG}" in flannel["containers"][0]["command"]
    for name in ("kube-proxy", "kube-flannel-ds"):
        spec = pod_spec(one(objects, "DaemonSet", name))
        assert spec["hostNetwork"] is True
        (mount,) = [m for m in spec["containers"][0]["volumeMounts"] if m["name"] == "kubeconfig"]
        assert mount == {"name": "kubeconfig", "mountPath": IN_CLUSTER_KUBECONFIG, "readOnly": True}


def test_the_user_that_kubelets_let_in_is_the_one_of_the_pki() -> None:
    subjects = one(everything(), "ClusterRoleBinding", "kubernetes-anywhere:kubelet-api")[
        "subjects"
    ]
    assert subjects[0]["name"] in {row.common_name for row in table.CERTIFICATES}


def test_no_address_of_the_api_is_in_any_object() -> None:
    assert not re.search(r":6443|https?://\d|kubernetes\.default", str(everything()))


def test_metrics_server_verifies_kubelets() -> None:
    spec = pod_spec(one(everything(), "Deployment", "metrics-server"))
    assert not [arg for arg in spec["containers"][0]["args"] if "tls" in arg]
    assert "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname" in str(spec)


def test_heapster_reads_the_kubelets_that_there_are() -> None:
    spec = pod_spec(one(everything(CASES["heapster"]), "Deployment", "heapster"))
    (source,) = spec["containers"][0]["command"][1:]
    assert source == (
        "--source=kubernetes.summary_api:''"
        "?useServiceAccount=true&kubeletHttps=true&kubeletPort=10250"
    )


def fluentd_config(case: str) -> dict[str, str]:
    data: dict[str, str] = one(everything(CASES[case]), "ConfigMap", "fluentd")["data"]
    return data


@pytest.mark.parametrize("case", ["default", "forward"])
def test_fluentd_reads_containerds_lines_but_not_its_own(case: str) -> None:
    config = fluentd_config(case)["fluent.conf"]
    (expression,) = re.findall(r"expression /(.*)/\n", config)
    line = "2026-11-30T07:13:00.123456789+00:00 stderr F a line of text"
    found = re.match(expression.replace("?<", "?P<"), line)
    assert found is not None
    assert found.groupdict() == {
        "time": "2026-11-30T07:13:00.123456789+00:00",
        "stream": "stderr",
        "logtag": "F",
        "log": "a line of text",
    }
    namespace = one(everything(CASES[case]), "DaemonSet", "fluentd")["metadata"]["namespace"]
    assert f'exclude_path ["/var/log/containers/*_{namespace}_*.log"]' in config
    assert "@include output.conf" in config
    for tag in ("source", "parse", "filter", "match", "label", "server", "buffer"):
        text = "\n".join(fluentd_config(case).values())
        assert len(re.findall(rf"<{tag}[ >]", text)) == text.count(f"</{tag}>")


def test_fluentd_sends_where_the_config_says() -> None:
    assert "@type stdout" in fluentd_config("default")["output.conf"]
    output = fluentd_config("forward")["output.conf"]
    assert "@type forward" in output
    assert "host logs.example.com\n    port 24225\n" in output


def checksums(raw: dict[str, Any]) -> dict[str, str]:
    return {
        o["metadata"]["name"]: o["spec"]["template"]["metadata"]["annotations"][CHECKSUM_ANNOTATION]
        for o in everything(raw)
        if any("configMap" in volume for volume in pod_spec(o).get("volumes", []))
    }


@pytest.mark.parametrize(
    ("case", "changed"),
    [
        ("default", set()),
        ("iptables", {"kube-proxy", "kube-flannel-ds"}),
        ("host-gw", {"kube-flannel-ds"}),
        ("forward", {"fluentd"}),
        ("other-ranges", {"kube-proxy", "kube-flannel-ds", "coredns"}),
    ],
)
def test_pods_are_replaced_when_their_configuration_changes(case: str, changed: set[str]) -> None:
    before, after = checksums({}), checksums(CASES[case])
    assert set(before) == {"kube-proxy", "kube-flannel-ds", "coredns", "fluentd"}
    assert {name for name in before if before[name] != after[name]} == changed


def test_images_are_those_of_the_release() -> None:
    (new,) = pod_spec(one(everything(), "Deployment", "coredns"))["containers"]
    (old,) = pod_spec(one(everything(CASES["older"]), "Deployment", "coredns"))["containers"]
    assert new["image"] == "registry.k8s.io/coredns/coredns:v1.14.6"
    assert old["image"] == "registry.k8s.io/coredns/coredns:v1.14.2"


def test_rendering_twice_gives_the_same() -> None:
    assert rendered(CASES["forward"]) == rendered(CASES["forward"])
