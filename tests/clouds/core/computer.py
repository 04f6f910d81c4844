"""A simulated account as machines on this computer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.clouds.core.account import Account, folder
from tests.clouds.core.addresses import INTERNET
from tests.clouds.fabric.apply import apply
from tests.clouds.fabric.place import Place

if TYPE_CHECKING:
    from tests.clouds.core.cloud import Cloud

MIRROR_VARIABLE = "KUBERNETES_ANYWHERE_MIRROR"
ACCOUNT_ONLY_VARIABLE = "KUBERNETES_ANYWHERE_SIMULATED_ACCOUNT_ONLY"  # no machines: for previews


def place(cloud: Cloud) -> Place:
    """Where the cloud's machines are made."""
    return Place(
        cloud=cloud.name,
        internet=str(INTERNET[cloud.name]),
        mirror_directory=os.environ.get(MIRROR_VARIABLE),
        folder=folder() / cloud.name,
    )


def realise(cloud: Cloud, account: Account) -> None:
    """Make what the account says, on this computer."""
    if ACCOUNT_ONLY_VARIABLE not in os.environ:
        apply(cloud.fabric(account), place(cloud))
