"""Takes out of texts what is another one in every run: addresses, keys, times. Pure functions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# In this order: a certificate's text must be gone before anything is looked for in it.
_RANDOM = (
    (r"-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----", r"<\1>"),
    (r"\b(ssh-\w+|ecdsa-[\w-]+) [A-Za-z0-9+/]+=*", r"<\1>"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", "<time>"),
    (r"\bSHA256:[A-Za-z0-9+/]{43}", "<fingerprint>"),
    (r"\b[0-9a-f]{2}(?::[0-9a-f]{2}){15}\b", "<fingerprint>"),
)
# Fields that a plugin or the engine keeps for itself, and names that are made up in each run.
_PRIVATE = "__"
_MADE_UP = frozenset({"id", "version"})


def plain_text(text: str, names: Mapping[str, str]) -> str:
    """A text without what is random; `names` has a name for each address."""
    for pattern, word in _RANDOM:
        text = re.sub(pattern, word, text)
    for address, name in names.items():
        text = re.sub(rf"(?<![\d.]){re.escape(address)}(?![\d.])", f"<{name}>", text)
    return text


def plain(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """A JSON value whose texts are plain and which has no private field."""
    if isinstance(value, dict):
        return {
            key: plain(item, names)
            for key, item in value.items()
            if not key.startswith(_PRIVATE) and key not in _MADE_UP
        }
    if isinstance(value, list):
        return [plain(item, names) for item in value]
    return plain_text(value, names) if isinstance(value, str) else value


def addresses(state: Mapping[str, Any]) -> dict[str, str]:
    """Who has which address, by address: what the steps that make containers answered."""
    found = {}
    for item in state["deployment"].get("resources") or ():
        said = (item.get("outputs") or {}).get("stdout")
        try:
            answer = json.loads(said) if isinstance(said, str) else None
        except json.JSONDecodeError:
            continue
        if isinstance(answer, dict) and {"name", "address"} <= answer.keys():
            found[answer["address"]] = answer["name"]
    return found
