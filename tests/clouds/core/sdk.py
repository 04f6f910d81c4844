"""What an installed Pulumi SDK says of a resource's inputs: names, types, choices.

The SDKs are generated from the providers' own schemas, so what passes here has names and types
that the real provider knows.
"""

from __future__ import annotations

import collections.abc
import inspect
import typing
from enum import Enum
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any

from pulumi import Asset, Output, _types

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SCALARS: Mapping[type, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int, float), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
}


@cache
def arguments(sdk: str) -> type:
    """The class of a resource's arguments: of `pulumi_aws.ec2.Vpc` it is `VpcArgs`.

    Where an object within others has that name already, it is `VpcInitArgs`.
    """
    module, _, name = sdk.rpartition(".")
    home = import_module(getattr(import_module(module), name).__module__)
    found: type = getattr(home, f"{name}InitArgs", None) or getattr(home, f"{name}Args")
    return found


@cache
def _fields(kind: type) -> Mapping[str, tuple[Any, bool]]:
    """By the name on the wire: the type, and whether it must be given."""
    names = _types.input_type_py_to_pulumi_names(kind)
    hints = typing.get_type_hints(
        kind.__init__,  # type: ignore[misc]  # a class, not an object
        localns={"Output": Output, "T": Any},  # names in pulumi's own alias `Input`
    )
    parameters = inspect.signature(kind).parameters
    return {
        wire: (hints[name], parameters[name].default is inspect.Parameter.empty)
        for name, wire in names.items()
    }


def names(sdk: str) -> frozenset[str]:
    """Every input that the resource knows."""
    return frozenset(_fields(arguments(sdk)))


def faults(
    sdk: str, inputs: Mapping[str, Any], unknown: object, open_enums: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """(path, what is wrong) of each input that the SDK does not know like this.

    `unknown` stands for values that are not known yet; they may turn out to be anything. In
    `open_enums` the cloud takes more than the SDK lists.
    """
    yield from _Check(unknown, open_enums).members("", arguments(sdk), inputs)


class _Check:
    """One walk through the inputs of a resource."""

    def __init__(self, unknown: object, open_enums: frozenset[str]) -> None:
        self._unknown, self._open_enums = unknown, open_enums

    def members(self, path: str, kind: type, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Of an object with known members."""
        fields = _fields(kind)
        for name, (_, required) in fields.items():
            if required and value.get(name) is None:
                yield _join(path, name), "is required"
        for name, member in value.items():
            if name not in fields:
                yield _join(path, name), f"is no property of {kind.__name__.removesuffix('Args')}"
            elif member is not None:
                yield from self._value(_join(path, name), fields[name][0], member)

    def _value(self, path: str, hint: Any, value: Any) -> Iterator[tuple[str, str]]:
        if value == self._unknown:
            return
        choices = [choice for choice in _choices(hint) if choice is not NoneType]
        enums = [choice for choice in choices if _is(choice, Enum)]
        if enums and path not in self._open_enums:
            allowed = [member.value for enum in enums for member in enum]
            if value not in allowed:
                yield path, f"is {value!r}, and not one of {', '.join(map(str, allowed))}"
            return
        results = [list(self._one(path, choice, value)) for choice in choices]
        if results and all(results):
            yield from min(results, key=len)

    def _one(self, path: str, hint: Any, value: Any) -> Iterator[tuple[str, str]]:
        origin = typing.get_origin(hint) or hint
        if hint in _SCALARS:
            yield from _scalar(path, hint, value)
        elif origin is collections.abc.Sequence:
            yield from self._items(path, typing.get_args(hint)[0], value)
        elif origin is collections.abc.Mapping:
            yield from self._map(path, typing.get_args(hint)[1], value)
        elif inspect.isclass(hint) and _types.is_input_type(hint):
            yield from self._object(path, hint, value)
        elif hint is not Any and not _is(hint, Enum):
            yield path, f"has a type that this check does not know: {hint}"

    def _object(self, path: str, hint: type, value: Any) -> Iterator[tuple[str, str]]:
        if isinstance(value, dict):
            yield from self.members(path, hint, value)
        else:
            yield path, f"is {value!r}, and not an object"

    def _items(self, path: str, hint: Any, value: Any) -> Iterator[tuple[str, str]]:
        if not isinstance(value, list):
            yield path, f"is {value!r}, and not a list"
            return
        for item in value:
            yield from self._value(f"{path}[]", hint, item)

    def _map(self, path: str, hint: Any, value: Any) -> Iterator[tuple[str, str]]:
        if not isinstance(value, dict):
            yield path, f"is {value!r}, and not an object"
            return
        for member in value.values():
            yield from self._value(f"{path}.*", hint, member)


def _scalar(path: str, hint: type, value: Any) -> Iterator[tuple[str, str]]:
    types, words = _SCALARS[hint]
    if type(value) not in types:
        yield path, f"is {value!r}, and not {words}"


def _is(hint: Any, kind: type) -> bool:
    return inspect.isclass(hint) and issubclass(hint, kind)


def _choices(hint: Any) -> Iterator[Any]:
    """What a type allows on the wire: without the wrappings that only programs have."""
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


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
