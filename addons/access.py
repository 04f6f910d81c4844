"""What the API server may do on kubelets: without it `kubectl logs` and `exec` are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from addons.objects import Manifest, load

if TYPE_CHECKING:
    from addons.context import AddonContext

# The name in the client certificate that the API server shows to kubelets.
USER = "kube-apiserver-kubelet-client"


def render(_context: AddonContext) -> list[Manifest]:
    """The objects."""
    return load("access.yaml", {"user": USER})
