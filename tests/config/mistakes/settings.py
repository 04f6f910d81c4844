"""What goes through to components and add-ons: flags, and the kubelet's fields."""

from __future__ import annotations

from tests.config.cases import OLD, Bad, args, field, pool

BAD: dict[str, Bad] = {
    # Flags.
    "flag-dashes": Bad(
        args("apiserver", "--audit-log-maxage", "5"),
        "apiserver.extraArgs.--audit-log-maxage",
        "5",
        "begins with dashes, which we add",
        "write audit-log-maxage",
    ),
    "flag-unknown": Bad(
        args("kubelet", "network-plugin", "cni"),
        "kubelet.extraArgs.network-plugin",
        "cni",
        "is no flag of kubelet v1.37.2, which would exit",
        "leave it out",
    ),
    "flag-nearly-right": Bad(
        args("controllerManager", "cluster_signing_duraton", "1h"),
        "controllerManager.extraArgs.cluster_signing_duraton",
        "1h",
        "is no flag of kube-controller-manager v1.37.2, which would exit",
        "write cluster-signing-duration, if that was meant, or leave it out",
    ),
    "flag-of-another-version": Bad(
        {"masters": {"kubelet": {"extraArgs": {"containerd": "x"}}}},
        "masters.kubelet.extraArgs.containerd",
        "x",
        "is no flag of kubelet v1.37.2, which would exit",
        "leave it out",
    ),
    "flag-etcd": Bad(
        args("etcd", "experimental-initial-corrupt-check", "true"),
        "etcd.extraArgs.experimental-initial-corrupt-check",
        "true",
        "is no flag of etcd 3.7.3, which would exit",
        "leave it out",
    ),
    "flag-ours-etcd": Bad(
        args("etcd", "data-dir", "/data"),
        "etcd.extraArgs.data-dir",
        "/data",
        "is where the pod mounts the cluster's data",
        "leave it out",
    ),
    "flag-ours-apiserver": Bad(
        args("apiserver", "etcd-servers", "http://x"),
        "apiserver.extraArgs.etcd-servers",
        "http://x",
        "is the same in several places of the cluster",
        "leave it out",
    ),
    "flag-ours-with-a-key": Bad(
        args("controllerManager", "cluster-cidr", "10.0.0.0/8"),
        "controllerManager.extraArgs.cluster-cidr",
        "10.0.0.0/8",
        "must agree with the rest of the cluster",
        "write network.podCidr instead",
    ),
    "flag-ours-scheduler": Bad(
        args("scheduler", "config", "/etc/x"),
        "scheduler.extraArgs.config",
        "/etc/x",
        "names a file that is not in the container",
        "write its settings as flags",
    ),
    "flag-ours-kubelet-of-pool": Bad(
        pool(kubelet={"extraArgs": {"node-labels": "a=b"}}),
        "pools[0].kubelet.extraArgs.node-labels",
        "a=b",
        "must agree with the rest of the cluster",
        "write pools[].labels instead",
    ),
    "flag-loses-node-restriction": Bad(
        args("apiserver", "enable-admission-plugins", "PodNodeSelector"),
        "apiserver.extraArgs.enable-admission-plugins",
        "PodNodeSelector",
        "takes the place of ours, but lacks NodeRestriction",
        "write NodeRestriction,PodNodeSelector",
    ),
    # Fields of the kubelet's config.
    "field-unknown": Bad(
        field("maxPod", 50),
        "kubelet.config.maxPod",
        50,
        "is no field of KubeletConfiguration in kubelet v1.37.2",
        "write maxPods, if that was meant, or leave it out",
    ),
    "field-of-another-version": Bad(
        {"kubernetesVersion": OLD, **field("defaultPodSysctls", {})},
        "kubelet.config.defaultPodSysctls",
        {},
        "is no field of KubeletConfiguration in kubelet v1.36.3",
        "leave it out",
    ),
    "field-kind": Bad(
        field("maxPods", "50"),
        "kubelet.config.maxPods",
        "50",
        "must be a whole number",
        "write a whole number",
    ),
    "field-kind-true-is-no-number": Bad(
        field("maxPods", value=True),
        "kubelet.config.maxPods",
        value=True,
        message="must be a whole number",
        remedy="write a whole number",
    ),
    "field-kind-duration": Bad(
        field("imageMaximumGCAge", 60),
        "kubelet.config.imageMaximumGCAge",
        60,
        "must be a duration, such as 1m30s",
        "write a duration, such as 1m30s",
    ),
    "field-ours": Bad(
        {"masters": {"kubelet": {"config": {"staticPodPath": "/x"}}}},
        "masters.kubelet.config.staticPodPath",
        "/x",
        "is the same in several places of the cluster",
        "leave it out",
    ),
    "field-ours-authentication": Bad(
        field("authentication", {"anonymous": {"enabled": True}}),
        "kubelet.config.authentication",
        {"anonymous": {"enabled": True}},
        "decides who may call the kubelet",
        "leave it out",
    ),
    "field-ours-with-a-key": Bad(
        pool(kubelet={"config": {"clusterDomain": "a.b"}}),
        "pools[0].kubelet.config.clusterDomain",
        "a.b",
        "must agree with the rest of the cluster",
        "write network.clusterDomain instead",
    ),
    # Add-ons.
    "forward-missing": Bad(
        {"addons": {"logging": {"output": "forward"}}},
        "addons.logging.forward",
        None,
        "is missing: addons.logging.output is forward",
        "add forward: {host: logs.example.com}, or write output: stdout",
    ),
    "forward-idle": Bad(
        {"addons": {"logging": {"forward": {"host": "logs"}}}},
        "addons.logging.forward",
        "logs",
        "has no effect: addons.logging.output is stdout",
        "write output: forward, or leave out forward",
    ),
    "heapster-arm64": Bad(
        {"arch": "arm64", "addons": {"metrics": "heapster"}},
        "addons.metrics",
        "heapster",
        "has an image for amd64 only, but arch is arm64",
        "write metrics-server or none",
    ),
}
