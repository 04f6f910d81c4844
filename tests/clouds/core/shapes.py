"""Shapes of values as plain JSON, and whether a value has one.

A shape is a list: its kind, and what belongs to it.

    ["scalar", "str"]      a text, a number ...
    ["list", shape]        ["map", shape]
    ["object", name]       an object with known members; `Shapes` has them by that name
    ["enum", [values]]     one of these, where the cloud does not know more than the SDK
    ["any"]                ["one of", [shapes]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Shape = list[Any]
Members = dict[str, tuple[Shape, bool]]  # by name on the wire: the shape, and whether it is needed
Shapes = dict[str, Members]  # by the object's name
Fault = tuple[str, str]  # path, what is wrong

_SCALARS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "int": ((int, float), "a whole number"),
    "float": ((int, float), "a number"),
    "str": ((str,), "a text"),
}


class Check:
    """One walk through the inputs of a resource.

    `unknown` stands for values that are not known yet; they may turn out to be anything. In
    `open_enums` the cloud takes more than the SDK lists.
    """

    def __init__(self, shapes: Shapes, unknown: object, open_enums: frozenset[str]) -> None:
        self._shapes, self._unknown, self._open_enums = shapes, unknown, open_enums
        self._ways: Mapping[str, Callable[[str, Any, Any], Iterator[Fault]]] = {
            "scalar": self._scalar,
            "list": self._list,
            "map": self._map,
            "object": self._object,
            "enum": self._enum,
            "one of": self._one_of,
        }

    def members(self, path: str, name: str, value: Mapping[str, Any]) -> Iterator[Fault]:
        """What is wrong with an object's members."""
        fields = self._shapes[name]
        for field, (_, needed) in fields.items():
            if needed and value.get(field) is None:
                yield _join(path, field), "is required"
        for field, member in value.items():
            if field not in fields:
                yield _join(path, field), f"is no property of {name}"
            elif member is not None:
                yield from self._value(_join(path, field), fields[field][0], member)

    def _value(self, path: str, shape: Shape, value: Any) -> Iterator[Fault]:
        kind, *rest = shape
        if value != self._unknown and kind != "any":
            yield from self._ways[kind](path, rest[0], value)

    def _scalar(self, path: str, kind: str, value: Any) -> Iterator[Fault]:
        types, words = _SCALARS[kind]
        if type(value) not in types:
            yield path, f"is {value!r}, and not {words}"

    def _list(self, path: str, item: Shape, value: Any) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield path, f"is {value!r}, and not a list"
            return
        for member in value:
            yield from self._value(f"{path}[]", item, member)

    def _map(self, path: str, item: Shape, value: Any) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield path, f"is {value!r}, and not an object"
            return
        for member in value.values():
            yield from self._value(f"{path}.*", item, member)

    def _object(self, path: str, name: str, value: Any) -> Iterator[Fault]:
        if isinstance(value, dict):
            yield from self.members(path, name, value)
        else:
            yield path, f"is {value!r}, and not an object"

    def _enum(self, path: str, allowed: list[Any], value: Any) -> Iterator[Fault]:
        if value not in allowed and path not in self._open_enums:
            yield path, f"is {value!r}, and not one of {', '.join(map(str, allowed))}"

    def _one_of(self, path: str, shapes: list[Shape], value: Any) -> Iterator[Fault]:
        results = [list(self._value(path, shape, value)) for shape in shapes]
        if all(results):
            yield from min(results, key=len)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
