"""Kubernetes Anywhere: one cluster config object in, one running cluster out.

    config -> machines (phase 1) -> certificates -> bootstrap over SSH (phase 2) -> add-ons (phase 3)
"""

from __future__ import annotations

import pulumi

from addons import AddonContext, deliver
from addons.deploy import Addons, AddonsArgs
from bootstrap import Bootstrap, BootstrapArgs, Ready
from catalogue import read_catalogue
from components import provision
from components.pki import ClusterPki, PkiArgs
from validation import load

config = load()
catalogue = read_catalogue(config.mirror)

machines = provision(config)
pki = ClusterPki(config.name, PkiArgs(config=config, machines=machines))
