"""A key, and a step that the key goes into: its first run says that it has begun, and hangs."""

from __future__ import annotations

import pulumi
from pulumi_command.local import Command, Logging
from pulumi_tls import PrivateKey

folder = pulumi.Config("killed").require("folder")
key = PrivateKey("key", algorithm="ECDSA", ecdsa_curve="P256")
SCRIPT = f"""
cd '{folder}'
test -e begun && exit
cat >begun.new && mv begun.new begun
sleep 600
"""
Command(
    "step",
    create=SCRIPT,
    stdin=key.private_key_pem,  # secret already
    logging=Logging.NONE,
)
pulumi.export("key", key.private_key_pem)
