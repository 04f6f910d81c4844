"""Azure, simulated: the types and functions that the program uses, with the rules that Azure has.

Nothing here talks to Microsoft. Errors have the codes of Azure's APIs, and the provider's own words
where it is the one that refuses; what the program does not use is refused as not simulated.
"""

from __future__ import annotations

from importlib.metadata import version

from tests.clouds.azure.balancers import BALANCERS
from tests.clouds.azure.fabric import fabric
from tests.clouds.azure.functions import FUNCTIONS
from tests.clouds.azure.groups import GROUPS
from tests.clouds.azure.machines import MACHINES
from tests.clouds.azure.mishaps import MISHAPS
from tests.clouds.azure.networks import NETWORKS
from tests.clouds.azure.table import RESOURCE_GROUPS
from tests.clouds.core.cloud import Cloud

CLOUD = Cloud(
    name="azure-native",
    version=version("pulumi-azure-native"),
    kinds=(*RESOURCE_GROUPS, *NETWORKS, *GROUPS, *BALANCERS, *MACHINES),
    functions=FUNCTIONS,
    fabric=fabric,
    mishaps=MISHAPS,
)
