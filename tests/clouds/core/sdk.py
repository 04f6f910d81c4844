"""What an installed Pulumi SDK says of resources' inputs: names, types, choices.

The SDKs are generated from the providers' own schemas, so what passes here has names and types
that the real provider knows. To import one takes seconds, so what it says is kept beside the other
things that can be made again, by the SDK's version.
"""

from __future__ import annotations

import collections.abc
import hashlib
import inspect
import json
import typing
from enum import Enum
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any

from airgap import paths
from tests.clouds.core.shapes import Check, Fault, Members, Shape, Shapes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SCALARS = (bool, int, float, str)


def faults(
    sdk: str, inputs: Mapping[str, Any], unknown: object, open_enums: frozenset[str]
) -> Iterator[Fault]:
    """(path, what is wrong) of each input that the SDK does not know like this.

    `sdk` is a resource's class, such as `pulumi_aws.ec2.Vpc`.
    """
    yield from Check(described(sdk), unknown, open_enums).members("", sdk, inputs)


def names(sdk: str) -> frozenset[str]:
    """Every input that the resource knows."""
    return frozenset(described(sdk)[sdk])


@cache
def described(sdk: str) -> Shapes:
    """The shapes of a resource's inputs: under its own name, and of all objects within."""
    kept = _kept(sdk)
    if not kept.exists():
        paths.write(kept, json.dumps(_described(sdk)))
    found: Shapes = json.loads(kept.read_text())
    return found


def is_kept(sdk: str) -> bool:
    """Whether the resource is known without the SDK."""
    return _kept(sdk).exists()


def _kept(sdk: str) -> Path:
    package = sdk.partition(".")[0]
    return _folder(package) / f"{sdk}.json"


@cache
def _folder(package: str) -> Path:
    version = metadata.version(package.replace("_", "-"))
    revision = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    return paths.cache() / "sdk-shapes" / f"{package}-{version}-{revision}"


def _described(sdk: str) -> Shapes:
    return _Reader().read(sdk)


class _Reader:
    """Reads the classes of arguments, each once."""

    def __init__(self) -> None:
        from pulumi import _types  # noqa: PLC0415 - only where nothing is kept yet

        self._types = _types
        self._shapes: Shapes = {}

    def read(self, sdk: str) -> Shapes:
        """The shapes of a resource's inputs."""
        self._shapes[sdk] = self._members(_arguments(sdk))
        return self._shapes

    def _members(self, kind: type) -> Members:
        wires = self._types.input_type_py_to_pulumi_names(kind)
        hints = typing.get_type_hints(
            kind.__init__,  # type: ignore[misc]  # a class, not an object
            localns=_alias_names(),
        )
        parameters = inspect.signature(kind).parameters
        return {
            wire: (self._shape(hints[name]), parameters[name].default is inspect.Parameter.empty)
            for name, wire in wires.items()
        }

    def _known(self, kind: type) -> Shape:
        name = kind.__name__.removesuffix("Args")
        if name not in self._shapes:
            self._shapes[name] = {}  # before its members, which may have it in them
            self._shapes[name] = self._members(kind)
        return ["object", name]

    def _shape(self, hint: Any) -> Shape:
        found = [choice for choice in _choices(hint) if choice is not NoneType]
        enums = [choice for choice in found if _is(choice, Enum)]
        if enums:
            return ["enum", [member.value for enum in enums for member in enum]]
        made = [self._one(choice) for choice in found]
        return made[0] if len(made) == 1 else ["one of", made]

    def _one(self, hint: Any) -> Shape:
        origin = typing.get_origin(hint)
        if hint in _SCALARS:
            return ["scalar", hint.__name__]
        if origin is collections.abc.Sequence:
            return ["list", self._shape(typing.get_args(hint)[0])]
        if origin is collections.abc.Mapping:
            return ["map", self._shape(typing.get_args(hint)[1])]
        if inspect.isclass(hint) and self._types.is_input_type(hint):
            return self._known(hint)
        if hint is Any:
            return ["any"]
        raise TypeError(f"a type that is not understood: {hint}")


def _arguments(sdk: str) -> type:
    """The class of a resource's arguments: of `pulumi_aws.ec2.Vpc` it is `VpcArgs`.

    Where an object within others has that name already, it is `VpcInitArgs`.
    """
    module, _, name = sdk.rpartition(".")
    home = import_module(getattr(import_module(module), name).__module__)
    found: type = getattr(home, f"{name}InitArgs", None) or getattr(home, f"{name}Args")
    return found


def _alias_names() -> dict[str, Any]:
    """Names in pulumi's own alias `Input`, which it leaves to whoever reads it."""
    from pulumi import Output  # noqa: PLC0415 - as above

    return {"Output": Output, "T": Any}


def _is(hint: Any, kind: type) -> bool:
    return inspect.isclass(hint) and issubclass(hint, kind)


def _choices(hint: Any) -> Iterator[Any]:
    """What a type allows on the wire: without the wrappings that only programs have."""
    from pulumi import Asset, Output, _types  # noqa: PLC0415 - as above

    origin = typing.get_origin(hint)
    if origin in (typing.Union, UnionType):
        for part in typing.get_args(hint):
            yield from _choices(part)
    elif origin is collections.abc.Awaitable or origin is Output or _is(hint, Output):
        return
    elif typing.is_typeddict(hint) or (inspect.isclass(hint) and _types.is_output_type(hint)):
        return  # another way to write the class of arguments beside it
    elif _is(hint, Asset):
        return
    else:
        yield hint
