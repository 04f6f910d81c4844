"""What is peculiar to hosts that are system containers: they share the kernel of their computer."""

from __future__ import annotations

from dataclasses import replace

from interface import Traits


def in_containers(traits: Traits) -> Traits:
    """The same machines as containers."""
    return replace(
        traits,
        systemd_cgroup=False,  # the engine's cgroup driver is not ours to know
        restrict_oom_score_adj=True,  # to lower a score takes a capability that may be missing
        kubelet={
            **traits.kubelet,
            "failSwapOn": False,
            "failCgroupV1": False,
            "oomScoreAdj": 0,
            # The disk is the computer's: that it is nearly full is no reason to evict anything.
            "imageGCHighThresholdPercent": 100,
            "mergeDefaultEvictionSettings": True,
            "evictionHard": dict.fromkeys(
                ("imagefs.available", "nodefs.available", "nodefs.inodesFree"), "0%"
            ),
        },
        # The kernel's limits are the computer's.
        kube_proxy={**traits.kube_proxy, "conntrack": {"maxPerCore": 0, "min": 0}},
    )
