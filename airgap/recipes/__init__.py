"""Every program that can be built from source: two tables of Go builds."""

from __future__ import annotations

import versions

KUBERNETES = "k8s.io/kubernetes"
# One set of versions for all that shares code with Kubernetes: the default release's.
SHARED = f"{KUBERNETES} {versions.DEFAULT_RELEASE}"
