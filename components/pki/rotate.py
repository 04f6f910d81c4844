"""Which resources to replace so that every certificate but the CAs' is made anew, with its key.

    pulumi stack export | python -m components.pki.rotate

prints the flags for `pulumi up`: `--replace URN` for each leaf's key. From another key follow
another request and another certificate, and from those the files of the hosts and the kubeconfig.
"""

from __future__ import annotations

import json
import sys
from typing import Any

LEAF = "tls:index/locallySignedCert:LocallySignedCert"
KEY = "tls:index/privateKey:PrivateKey"


def leaf_keys(state: dict[str, Any]) -> list[str]:
    """The URNs of all keys whose certificate an authority signed, in an exported state.

    A key and its certificate share name and parent. Those of CAs, of service-account tokens and of
    SSH are not among them: nobody signed those.
    """
    urns = {resource["urn"] for resource in state["deployment"].get("resources") or ()}
    keys = {urn.replace(f"{LEAF}::", f"{KEY}::") for urn in urns if f"{LEAF}::" in urn}
    return sorted(keys & urns)


def main() -> int:
    """Print the flags, and to a person what they will do."""
    keys = leaf_keys(json.load(sys.stdin))
    if not keys:
        print("the stack has no certificates yet: run `pulumi up`", file=sys.stderr)
        return 1
    print(
        f"{len(keys)} certificates get new keys; CAs and the service-account key stay",
        file=sys.stderr,
    )
    print(*(f"--replace {urn}" for urn in keys))
    return 0


if __name__ == "__main__":
    sys.exit(main())
