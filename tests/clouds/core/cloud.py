"""A simulated cloud: its types, its functions, and what its account means on this computer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.clouds.core.account import Account
from tests.clouds.core.kind import Invoke, Kind
from tests.clouds.fabric.model import Fabric


@dataclass(frozen=True, kw_only=True, slots=True)
class Cloud:
    """One cloud, as its package's `CLOUD` has it."""

    name: str  # the plugin's: "aws", "gcp", "azure-native"
    version: str  # of the installed SDK, which asks for a plugin of just this version
    kinds: tuple[Kind, ...]
    functions: Mapping[str, Invoke]
    fabric: Callable[[Account], Fabric]
    # What a test does to the cloud behind everybody's back: {verb: (account, id)}
    mishaps: Mapping[str, Callable[[Account, str], None]] = field(default_factory=dict)
