"""AWS, simulated: the types and functions that the program uses, with the rules that AWS has.

Nothing here talks to Amazon. What is known of AWS' behaviour is in the tables, in AWS' own words
where it refuses something; what the program does not use is not there.
"""

from __future__ import annotations

from importlib.metadata import version

from tests.clouds.aws.balancers import BALANCERS
from tests.clouds.aws.fabric import fabric
from tests.clouds.aws.functions import FUNCTIONS
from tests.clouds.aws.groups import GROUPS
from tests.clouds.aws.machines import MACHINES
from tests.clouds.aws.mishaps import MISHAPS
from tests.clouds.aws.networks import NETWORKS
from tests.clouds.aws.routes import ROUTES
from tests.clouds.core.cloud import Cloud

CLOUD = Cloud(
    name="aws",
    version=version("pulumi-aws"),
    kinds=(*NETWORKS, *ROUTES, *GROUPS, *MACHINES, *BALANCERS),
    functions=FUNCTIONS,
    fabric=fabric,
    mishaps=MISHAPS,
)
