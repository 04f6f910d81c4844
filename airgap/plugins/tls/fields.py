"""Inputs of the tls resources as tables: types, defaults, limits, what a change of one means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias

from airgap.plugins.protocol import PluginError
from airgap.plugins.values import UNKNOWN, Properties, Secret, Value, as_secret, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


class Kind(Enum):
    """The type of an input."""

    TEXT = auto()
    INTEGER = auto()
    FLAG = auto()
    TEXTS = auto()
    SUBJECT = auto()


class Change(Enum):
    """What a new value of an input leads to."""

    REPLACE = auto()
    UPDATE = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One input."""

    name: str
    kind: Kind = Kind.TEXT
    required: bool = False
    default: Value = None
    secret: bool = False
    stored: bool = True  # whether outputs repeat it
    change: Change = Change.REPLACE
    pem: bool = False
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    filled: bool = False  # no empty strings in the list


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """A private key is given as an input that the state keeps, or as one that it does not."""

    kept: str

    @property
    def write_only(self) -> str:
        """The input that outputs do not repeat."""
        return f"{self.kept}Wo"

    @property
    def version(self) -> str:
        """The input by which a new write-only key makes itself known."""
        return f"{self.kept}WoVersion"

    def fields(self) -> tuple[Field, Field, Field]:
        """The three inputs."""
        return (
            Field(name=self.kept, secret=True, pem=True),
            Field(name=self.write_only, secret=True, stored=False, change=Change.NOTHING),
            Field(name=self.version, kind=Kind.INTEGER),
        )

    def given(self, inputs: Properties) -> str:
        """The PEM text that was given, in whichever way."""
        return str(plain(inputs.get(self.kept) or inputs.get(self.write_only)))

    def problems(self, inputs: Properties) -> Iterator[str]:
        """Say what is wrong with the choice that was made."""
        pair = f"[{snake_case(self.kept)},{snake_case(self.write_only)}]"
        count = sum(plain(inputs.get(name)) is not None for name in (self.kept, self.write_only))
        if count == 0:
            yield (
                "Invalid Attribute Combination. No attribute specified when one (and only one) "
                f"of {pair} is required"
            )
        if count > 1:
            yield (
                f"Invalid Attribute Combination. {count} attributes specified when one (and only "
                f"one) of {pair} is required"
            )
        version_missing = plain(inputs.get(self.version)) is None
        if plain(inputs.get(self.write_only)) is not None and version_missing:
            yield (
                f'Invalid Attribute Combination. Attribute "{snake_case(self.version)}" must be '
                f'specified when "{snake_case(self.write_only)}" is specified'
            )


# --- reading inputs

_SUBJECT_TEXTS = (
    "commonName",
    "organization",
    "organizationalUnit",
    "locality",
    "province",
    "country",
    "postalCode",
    "serialNumber",
    "emailAddress",
)
STREETS = "streetAddresses"
_INTEGER_TEXT = re.compile(r"[+-]?\d+")
_Reader: TypeAlias = "Callable[[Value], Value]"


def _wrong_shape(expected: str, value: Value) -> PluginError:
    # The type only: the value may be a key.
    return PluginError(
        f"cannot encode resource inputs: expected {expected}, got {type(value).__name__}"
    )


def _read_text(value: Value) -> Value:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:.15g}"
    if isinstance(value, str):
        return value
    raise _wrong_shape("a string", value)


def _read_integer(value: Value) -> Value:
    if isinstance(value, str) and _INTEGER_TEXT.fullmatch(value):
        return int(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        # What is not whole stays as it is, for Check to complain about.
        return int(value) if value == int(value) else value
    raise _wrong_shape("a number", value)


def _read_flag(value: Value) -> Value:
    if isinstance(value, bool):
        return value
    raise _wrong_shape("a bool", value)


def _read_texts(value: Value) -> Value:
    if isinstance(value, list):
        return [_through(_read_text, item) for item in value]
    raise _wrong_shape("a list", value)


def _read_subject(value: Value) -> Value:
    if not isinstance(value, dict):
        raise _wrong_shape("an object", value)
    readers: Mapping[str, _Reader] = {
        **dict.fromkeys(_SUBJECT_TEXTS, _read_text),
        STREETS: _read_texts,
    }
    return {
        name: _through(reader, value[name])
        for name, reader in readers.items()
        if value.get(name) is not None
    }


def _through(reader: _Reader, value: Value) -> Value:
    """Apply the reader to what is in a secret; leave the unknown alone."""
    if isinstance(value, Secret):
        return Secret(_through(reader, value.value))
    if value is UNKNOWN or value is None:
        return value
    return reader(value)


_READERS: Mapping[Kind, _Reader] = {
    Kind.TEXT: _read_text,
    Kind.INTEGER: _read_integer,
    Kind.FLAG: _read_flag,
    Kind.TEXTS: _read_texts,
    Kind.SUBJECT: _read_subject,
}


def read(fields: Sequence[Field], inputs: Properties) -> Properties:
    """Return the known inputs in their types, with defaults.

    What is neither given nor defaulted is absent. Secrets stay where they are.
    """
    values = {
        field.name: _through(_READERS[field.kind], inputs.get(field.name)) for field in fields
    }
    for field in fields:
        if plain(values[field.name]) is None:
            values[field.name] = field.default
    return {name: value for name, value in values.items() if value is not None}


def seal(fields: Sequence[Field], properties: Properties) -> Properties:
    """Make secrets of the values that always are."""
    secret = {field.name for field in fields if field.secret}
    return {
        name: as_secret(value) if name in secret else value for name, value in properties.items()
    }


# --- checking them


def problems(fields: Sequence[Field], resource: str, inputs: Properties) -> Iterator[str]:
    """Say everything that is wrong with the inputs."""
    values = read(fields, inputs)
    for field in fields:
        value = plain(values.get(field.name))
        if value is None:
            if field.required:
                yield f"Missing required property '{field.name}'"
            continue
        for path, item in _items(field.name, value):
            for problem in _item_problems(field, item):
                yield f"{problem}. Examine values at '{resource}.{path}'."


def _items(name: str, value: Value) -> Iterator[tuple[str, Value]]:
    if not isinstance(value, list):
        yield name, value
        return
    for index, item in enumerate(value):
        yield f"{name}[{index}]", item


def _item_problems(field: Field, value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield from _text_problems(field, value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_problems(field, value)


def _text_problems(field: Field, value: str) -> Iterator[str]:
    name = snake_case(field.name)
    if field.choices and value not in field.choices:
        choices = " ".join(f'"{choice}"' for choice in field.choices)
        yield (
            f"Invalid Attribute Value Match. Attribute {name} value must be one of: [{choices}], "
            f'got: "{value}"'
        )
    if field.filled and not value:
        yield (
            f"Invalid Attribute Value Length. Attribute {name} string length must be at least 1, "
            "got: 0"
        )


def _number_problems(field: Field, value: float) -> Iterator[str]:
    if value != int(value):
        yield f"Configuration Read Error. {value} is not an integer"
    elif field.minimum is not None and value < field.minimum:
        yield (
            f"Invalid Attribute Value. Attribute {snake_case(field.name)} value must be at least "
            f"{field.minimum}, got: {value}"
        )


def snake_case(name: str) -> str:
    """Write a property's name as the messages of the official plugin do."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
