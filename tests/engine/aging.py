"""Time that passes for certificates: as far as the state of a stack says, which is what counts.

The tls plugin looks at no certificate, but at the end that it has noted; and hours are its unit.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from components.pki.rotate import LEAF
from tests.engine.cli import ROOT, Pulumi


def age(stack: Pulumi, hours: float, folder: Path, names: set[str] | None = None) -> str:
    """Let leaves, all or those of these names, have so many hours left; until when, as it says."""
    until = (datetime.now(UTC) + timedelta(hours=hours)).isoformat()
    state = stack.secrets()
    for resource in state["deployment"]["resources"]:
        kind, name = resource["urn"].rsplit("::", 2)[1:]
        if kind.endswith(LEAF) and (names is None or name in names):
            resource["outputs"]["validityEndTime"] = until
    aged = folder / "aged.json"
    aged.touch(mode=0o600)
    aged.write_text(json.dumps(state))
    stack.state("stack", "import", "--file", str(aged))
    aged.unlink()
    return until


def rotation_flags(stack: Pulumi) -> list[str]:
    """What `make rotate-certs` adds to `pulumi up`."""
    rotate = subprocess.run(
        [sys.executable, "-m", "components.pki.rotate"],
        cwd=ROOT,
        input=stack.state("stack", "export").stdout,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return rotate.stdout.split()
