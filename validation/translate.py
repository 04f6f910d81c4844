"""Pydantic's errors in words that a person understands."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from config import ClusterConfig
from findings import Loc
from forms import REFUSED
from validation.problems import Problem, listing, nearest, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic_core import ErrorDetails

Schema = dict[str, Any]
Words = tuple[str, str]  # what is wrong, what to write instead


@cache
def root_schema() -> Schema:
    """The JSON Schema of the whole object, which knows every key, range and choice."""
    return ClusterConfig.model_json_schema(by_alias=True)


def schema_at(loc: Loc) -> Schema:
    """The part of the schema that rules the value at `loc`."""
    schema = root_schema()
    for part in loc:
        schema = _resolved(schema)
        inner = schema.get("properties", {}).get(part)
        schema = inner or schema.get("items") or schema.get("additionalProperties") or {}
    return _resolved(schema)


def _resolved(schema: Schema) -> Schema:
    """What a reference, or the only real choice besides null, stands for."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    schema = choices[0] if len(choices) == 1 else schema
    reference = schema.get("$ref")
    return root_schema()["$defs"][reference.rsplit("/", 1)[-1]] if reference else schema


def known_keys(loc: Loc) -> list[str]:
    """The keys that an object at `loc` may have."""
    return list(schema_at(loc).get("properties", ()))


def meant(loc: Loc) -> Loc | None:
    """The known key that the unknown key at `loc` was most likely meant to be."""
    word = nearest(str(loc[-1]), known_keys(loc[:-1]))
    return (*loc[:-1], word) if word else None


def _elsewhere(word: str) -> str | None:
    """Where else in the config a key of this name belongs."""
    places = [render(loc) for loc in _keys((), root_schema()) if loc[-1] == word]
    return places[0] if places else None


def _keys(loc: Loc, schema: Schema) -> Iterator[Loc]:
    for name, inner in _resolved(schema).get("properties", {}).items():
        yield (*loc, name)
        yield from _keys((*loc, name), inner)


def _unknown(error: ErrorDetails) -> Words:
    loc = error["loc"]
    known = f"known keys here are {listing(known_keys(loc[:-1]), 'and')}"
    close, place = meant(loc), _elsewhere(str(loc[-1]))
    if close is not None:
        return "is not a known key", f"write {close[-1]}; {known}"
    if place:
        return "is not a known key here", f"write it as {place}; {known}"
    return "is not a known key", f"leave it out; {known}"


def _missing(error: ErrorDetails) -> Words:
    schema = schema_at(error["loc"])
    examples: list[str] = schema.get("examples") or schema["enum"]
    words = schema["description"].rstrip(".")
    return "is missing", f"add {error['loc'][-1]}: {examples[0]} ({words})"


def _choice(error: ErrorDetails) -> Words:
    schema = schema_at(error["loc"])
    choices = [str(choice) for choice in schema.get("enum") or [schema["const"]]]
    close = nearest(str(error["input"]), choices)
    hint = f" (did you mean {close}?)" if close and len(choices) > 1 else ""
    return "is not one of the choices", f"write {listing(choices)}{hint}"


def _range(error: ErrorDetails) -> Words:
    return "is out of range", f"write {_number(schema_at(error['loc']))}"


def _number(schema: Schema) -> str:
    if "enum" in schema:
        return listing([str(number) for number in schema["enum"]])
    return f"a whole number from {schema['minimum']} to {schema['maximum']}"


def _not_text(error: ErrorDetails) -> Words:
    value = error["input"]
    scalar = isinstance(value, int | float)
    return (
        f"is {_kind(value)}, but must be text",
        f"write it in quotes: {json.dumps(json.dumps(value))}" if scalar else "write one text",
    )


def _not_number(error: ErrorDetails) -> Words:
    value = error["input"]
    quoted = isinstance(value, str) and value.isdecimal()
    number = _number(schema_at(error["loc"]))
    return (
        f"is {_kind(value)}, but must be a whole number",
        f"write it without quotes: {value}" if quoted else f"write {number}",
    )


def _not_list(error: ErrorDetails) -> Words:
    return (
        f"is {_kind(error['input'])}, but must be a list",
        "write a list: one item a line, each after a dash",
    )


def _not_object(error: ErrorDetails) -> Words:
    keys = known_keys(error["loc"])
    words = (
        f"keys and values; known keys are {listing(keys, 'and')}" if keys else "names and values"
    )
    return f"is {_kind(error['input'])}, but must be an object", f"write {words}"


def _refused(error: ErrorDetails) -> Words:
    return error["ctx"]["message"], error["ctx"]["remedy"]


KINDS: Mapping[type, str] = {
    bool: "true or false",
    int: "a number",
    float: "a number with a fraction",
    str: "text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def _kind(value: object) -> str:
    return KINDS[type(value)]


WORDS: Mapping[str, Callable[[ErrorDetails], Words]] = {
    REFUSED: _refused,
    "extra_forbidden": _unknown,
    "missing": _missing,
    "enum": _choice,
    "literal_error": _choice,
    "greater_than_equal": _range,
    "less_than_equal": _range,
    "string_type": _not_text,
    "int_type": _not_number,
    "tuple_type": _not_list,
    "dict_type": _not_object,
    "model_type": _not_object,
}


def problem_of(error: ErrorDetails) -> Problem:
    """One of pydantic's errors as a problem."""
    message, remedy = WORDS[error["type"]](error)
    value = None if error["type"] == "missing" else error["input"]
    return Problem(render(error["loc"]), value, message, remedy)
