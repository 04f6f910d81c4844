"""The addresses of the simulated internet: one range for each cloud, out of RFC 2544's."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.clouds.core.account import Account

INTERNET: Mapping[str, IPv4Network] = {
    "aws": IPv4Network("198.18.16.0/20"),
    "gcp": IPv4Network("198.18.32.0/20"),
    "azure-native": IPv4Network("198.18.48.0/20"),
}
HERE, MIRROR, ROUTER = 1, 2, 3  # which of a range's addresses are this computer's, ...
_FIRST = 16  # and from where on they are the cloud's to give


def here(cloud: str) -> str:
    """This computer, as the cloud sees it."""
    return str(INTERNET[cloud][HERE])


def mirror_url(cloud: str) -> str:
    """Where machines in the cloud find images and archives."""
    return f"http://{INTERNET[cloud][MIRROR]}:5000"


def public(cloud: str, account: Account) -> str:
    """A public address that nobody had before in this account."""
    return str(IPv4Address(int(INTERNET[cloud][_FIRST]) + account.next()))
