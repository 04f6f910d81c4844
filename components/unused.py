"""Keys that a platform has no use for: refused, since who wrote them expects something of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from findings import Finding, Loc
from model import Model

PLATFORM: Loc = ("platform",)


def without_effect(loc: Loc, model: Model, keys: Sequence[str], reason: str) -> Iterator[Finding]:
    """Those of the keys (by their names in Python) that are not as they are by default."""
    fields = type(model).model_fields
    for key in keys:
        value = getattr(model, key)
        if value != fields[key].get_default(call_default_factory=True):
            name = fields[key].alias or key
            yield Finding(
                (*loc, name),
                model.model_dump(mode="json", by_alias=True)[name],
                f"has no effect: {reason}",
                "leave it out, or choose another platform",
                (PLATFORM,),
            )
