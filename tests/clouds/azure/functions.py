"""The lookups that the program makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.clouds.azure.ids import NETWORK, PATHS, there_already
from tests.clouds.core.account import Inputs
from tests.clouds.core.kind import CloudError, Invoke


def _virtual_network(arguments: Inputs, settings: Mapping[str, Any]) -> Inputs:
    """The network that is in every account; the program asks for none of its own."""
    path = PATHS[NETWORK].format_map(arguments)
    found = there_already(f"/subscriptions/{settings['subscriptionId']}/{path}")
    if found is None:
        raise CloudError(
            f"ResourceNotFound: The Resource '{path.partition('providers/')[2]}' under resource "
            f"group '{arguments['resourceGroupName']}' was not found."
        )
    return {
        **found.inputs,
        "id": found.id,
        "name": found["virtualNetworkName"],
        "provisioningState": "Succeeded",
    }


FUNCTIONS: Mapping[str, Invoke] = {"azure-native:network:getVirtualNetwork": _virtual_network}
