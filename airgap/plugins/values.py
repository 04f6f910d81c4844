"""Property values: between the engine's wire format and plain Python.

On the wire a value is a protobuf struct in which objects with a signature key stand for secrets,
outputs, assets and archives. Here those are classes, and everything else is what JSON would give.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from google.protobuf import struct_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a mark, not a secret
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_ASSET = "c44067f5952c0a294b673a41bacd8c17"
_ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7"

_UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWN_TEXTS = frozenset(
    {
        _UNKNOWN_TEXT,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # bool
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)


class Unknown(Enum):
    """The type of `UNKNOWN`."""

    TOKEN = _UNKNOWN_TEXT


UNKNOWN: Final = Unknown.TOKEN
"""A value that is known only after the deployment has got further."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A value to be encrypted in the state and masked on the screen."""

    value: Value = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file or a text; as an archive, a folder, a packed file or a map of assets.

    Two are equal if their contents are, wherever the contents come from.
    """

    archive: bool = False
    hash: str
    path: str | None = field(default=None, compare=False)
    text: str | None = field(default=None, compare=False, repr=False)
    uri: str | None = field(default=None, compare=False)
    assets: Mapping[str, Value] | None = field(default=None, compare=False)


Value: TypeAlias = (
    "bool | int | float | str | list[Value] | dict[str, Value] | Secret | Unknown | Asset | None"
)
Properties: TypeAlias = "dict[str, Value]"


# --- from the wire


def decode_struct(struct: struct_pb2.Struct) -> Properties:
    """Read the properties of a resource."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: struct_pb2.Value) -> Value:
    return _DECODERS[value.WhichOneof("kind") or "null_value"](value)


def _decode_text(value: struct_pb2.Value) -> Value:
    text = value.string_value
    return UNKNOWN if text in _UNKNOWN_TEXTS else text


def _decode_object(value: struct_pb2.Value) -> Value:
    members = decode_struct(value.struct_value)
    signature = members.get(_SIGNATURE)
    special = _SIGNED.get(signature) if isinstance(signature, str) else None
    return special(members) if special else members


def _decode_output(members: Properties) -> Value:
    value = members.get("value", UNKNOWN)
    return Secret(value) if members.get("secret") else value


def _decode_asset(members: Properties) -> Value:
    def text(name: str) -> str | None:
        member = members.get(name)
        # The official plugin writes absent members as "".
        return member if isinstance(member, str) and member else None

    assets = members.get("assets")
    return Asset(
        archive=members[_SIGNATURE] == _ARCHIVE,
        hash=text("hash") or "",
        path=text("path"),
        uri=text("uri"),
        text=_asset_text(members),
        assets=assets if isinstance(assets, dict) else None,
    )


def _asset_text(members: Properties) -> str | None:
    text = members.get("text")
    elsewhere = members.get("path") or members.get("uri")
    return text if isinstance(text, str) and not elsewhere else None


_DECODERS: Mapping[str, Callable[[struct_pb2.Value], Value]] = {
    "null_value": lambda _: None,
    "bool_value": lambda value: value.bool_value,
    "number_value": lambda value: value.number_value,
    "string_value": _decode_text,
    "list_value": lambda value: [_decode(item) for item in value.list_value.values],
    "struct_value": _decode_object,
}
_SIGNED: Mapping[str, Callable[[Properties], Value]] = {
    _SECRET: lambda members: Secret(members.get("value")),
    _OUTPUT: _decode_output,
    _ASSET: _decode_asset,
    _ARCHIVE: _decode_asset,
}


# --- to the wire


def encode_struct(properties: Mapping[str, Value]) -> struct_pb2.Struct:
    """Write the properties of a resource."""
    return struct_pb2.Struct(fields={key: _encode(value) for key, value in properties.items()})


def _encode(value: Value) -> struct_pb2.Value:
    return _ENCODERS[type(value)](value)


def _encode_object(members: Mapping[str, Value]) -> struct_pb2.Value:
    return struct_pb2.Value(struct_value=encode_struct(members))


def _encode_list(items: list[Value]) -> struct_pb2.Value:
    values = [_encode(item) for item in items]
    return struct_pb2.Value(list_value=struct_pb2.ListValue(values=values))


def _encode_secret(secret: Secret) -> struct_pb2.Value:
    if secret.value is UNKNOWN:
        return _encode_object({_SIGNATURE: _OUTPUT, "secret": True})
    return _encode_object({_SIGNATURE: _SECRET, "value": secret.value})


def _encode_asset(asset: Asset) -> struct_pb2.Value:
    members: Properties = {
        _SIGNATURE: _ARCHIVE if asset.archive else _ASSET,
        "hash": asset.hash,
        "path": asset.path,
        "text": asset.text,
        "uri": asset.uri,
        "assets": None if asset.assets is None else dict(asset.assets),
    }
    return _encode_object({key: value for key, value in members.items() if value is not None})


def _encode_number(value: float) -> struct_pb2.Value:
    return struct_pb2.Value(number_value=value)


_ENCODERS: Mapping[type, Callable[..., struct_pb2.Value]] = {
    type(None): lambda _: struct_pb2.Value(null_value=struct_pb2.NULL_VALUE),
    bool: lambda value: struct_pb2.Value(bool_value=value),
    int: _encode_number,
    float: _encode_number,
    str: lambda value: struct_pb2.Value(string_value=value),
    list: _encode_list,
    dict: _encode_object,
    Secret: _encode_secret,
    Unknown: lambda _: struct_pb2.Value(string_value=_UNKNOWN_TEXT),
    Asset: _encode_asset,
}


# --- looking at values


def plain(value: Value) -> Value:
    """Return the value without its secret wrappers, at any depth."""
    if isinstance(value, Secret):
        return plain(value.value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    return value


def is_unknown(value: Value) -> bool:
    """Say whether the value, or anything in it, is unknown."""
    return any(part is UNKNOWN for part in _parts(value))


def _parts(value: Value) -> Iterator[Value]:
    if isinstance(value, Secret):
        yield from _parts(value.value)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, dict):
        for member in value.values():
            yield from _parts(member)
    else:
        yield value


def as_secret(value: Value) -> Secret:
    """Wrap the value, unless it is wrapped already."""
    return value if isinstance(value, Secret) else Secret(value)
