"""The simulated Google: just what `components/gce` uses of Compute Engine, and nothing else."""

from importlib.metadata import version

from tests.clouds.core.cloud import Cloud
from tests.clouds.gcp.balancing import (
    BACKEND_SERVICE,
    FORWARDING_RULE,
    GROUP,
    HEALTH_CHECK,
    MEMBERSHIP,
)
from tests.clouds.gcp.fabric import fabric
from tests.clouds.gcp.functions import FUNCTIONS
from tests.clouds.gcp.machines import DISK, INSTANCE
from tests.clouds.gcp.mishaps import MISHAPS
from tests.clouds.gcp.networks import ADDRESS, FIREWALL, NETWORK, ROUTER, ROUTER_NAT, SUBNETWORK

CLOUD = Cloud(
    name="gcp",
    version=version("pulumi-gcp"),
    kinds=(
        NETWORK,
        SUBNETWORK,
        FIREWALL,
        ADDRESS,
        ROUTER,
        ROUTER_NAT,
        HEALTH_CHECK,
        GROUP,
        MEMBERSHIP,
        BACKEND_SERVICE,
        FORWARDING_RULE,
        DISK,
        INSTANCE,
    ),
    functions=FUNCTIONS,
    fabric=fabric,
    mishaps=MISHAPS,
)
