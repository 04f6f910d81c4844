"""Strict types for inputs: nothing is converted, nothing unknown is let through."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from airgap.plugins.protocol import Failure
from airgap.plugins.values import UNKNOWN, Asset, Properties, Secret, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The names that the messages of the official plugin use.
_TYPE_NAMES: Mapping[type, str] = {
    bool: "bool",
    float: "float64",
    int: "float64",
    str: "string",
    list: "[]interface {}",
    dict: "map[string]interface {}",
    Asset: "asset",
}


class Shape(ABC):
    """A type that values can be checked against."""

    name: str

    def failures(self, path: str, owner: str, value: Value) -> Iterator[Failure]:
        """Say what is wrong with a value. The unknown may turn out to be anything."""
        if isinstance(value, Secret):
            value = value.value
        if value is not UNKNOWN:
            yield from self._failures(path, owner, value)

    @abstractmethod
    def _failures(self, path: str, owner: str, value: Value) -> Iterator[Failure]: ...

    def _mismatch(self, path: str, owner: str, value: Value) -> Failure:
        got = _TYPE_NAMES.get(type(value), "nil")
        reason = f"Field '{path}' on '{owner}' must be a '{self.name}'; got '{got}' instead"
        return Failure(reason, path)


@dataclass(frozen=True)
class Scalar(Shape):
    """A value without parts."""

    name: str
    types: tuple[type, ...]

    def _failures(self, path: str, owner: str, value: Value) -> Iterator[Failure]:
        if type(value) not in self.types:
            yield self._mismatch(path, owner, value)


@dataclass(frozen=True)
class ListOf(Shape):
    """A list whose items have one shape."""

    name: str
    item: Shape

    def _failures(self, path: str, owner: str, value: Value) -> Iterator[Failure]:
        if not isinstance(value, list):
            yield self._mismatch(path, owner, value)
            return
        for index, item in enumerate(value):
            yield from self.item.failures(f"{path}[{index}]", owner, item)


@dataclass(frozen=True)
class MapOf(Shape):
    """A map whose members have one shape."""

    name: str
    item: Shape

    def _failures(self, path: str, owner: str, value: Value) -> Iterator[Failure]:
        if not isinstance(value, dict):
            yield self._mismatch(path, owner, value)
            return
        for key, member in value.items():
            yield from self.item.failures(f"{path}[{key}] value", owner, member)


class Anything(Shape):
    """No restriction."""

    name = "interface {}"

    def _failures(self, *_: object) -> Iterator[Failure]:
        return iter(())


@dataclass(frozen=True)
class Record(Shape):
    """An object with known fields."""

    name: str
    fields: Mapping[str, Shape]
    required: frozenset[str] = field(default_factory=frozenset)

    def _failures(self, path: str, owner: str, value: Value) -> Iterator[Failure]:
        if not isinstance(value, dict):
            yield self._mismatch(path, owner, value)
            return
        for failure in self.problems(value):
            yield replace(failure, property=path, reason=f"Field '{path}': {failure.reason}")

    def problems(self, members: Properties) -> Iterator[Failure]:
        """Say what is wrong with the members of such an object."""
        for name in sorted(self.required):
            if members.get(name) is None:
                yield Failure(f"Missing required field '{name}' on '{self.name}'", name)
        for name, member in members.items():
            shape = self.fields.get(name)
            if shape is None:
                yield Failure(f"Unrecognized field '{name}' on '{self.name}'", name)
            elif member is not None:
                yield from shape.failures(name, self.name, member)


TEXT = Scalar("string", (str,))
NUMBER = Scalar("float64", (float, int))
INTEGER = Scalar("int", (float, int))
FLAG = Scalar("bool", (bool,))
ASSET = Scalar("asset", (Asset,))
TEXTS = ListOf("[]string", TEXT)
TEXT_MAP = MapOf("map[string]string", TEXT)
LIST = ListOf("[]interface {}", Anything())
