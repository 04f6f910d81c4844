"""How a row of Google's table becomes a `Kind`: what all of its types have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tests.clouds.core.kind import CloudError, Kind, Request, nothing_blocks, nothing_computed
from tests.clouds.gcp.links import (
    API,
    collection,
    identity_of,
    labels_of,
    leaves,
    place,
    there_already,
)

if TYPE_CHECKING:
    from tests.clouds.core.account import Account, Inputs, Thing

_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_KEY = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_LABEL_VALUE = re.compile(r"[a-z0-9_-]{0,63}")
LABELS = 64
LABELLED = "labels.*"  # the path of a type that has labels
LABEL_OUTPUTS = frozenset({"effectiveLabels", "pulumiLabels"})

Check = Callable[["Inputs"], Iterable[str]]
Rules = Callable[[Request], Iterable[str]]
Outputs = Callable[[Request], "Inputs"]
Blocks = Callable[["Account", "Thing"], "str | None"]


def invalid(field: str, value: object, why: str) -> str:
    """Google's words for a value that it does not take."""
    return f"Error 400: Invalid value for field 'resource.{field}': '{value}'. {why}, invalid"


def not_found(what: object) -> str:
    """Google's words for what there is not."""
    return f"Error 404: The resource '{what}' was not found, notFound"


def missing(request: Request, token: str, reference: object) -> str:
    """Google's words for a reference to nothing."""
    return not_found(identity_of(request, token, str(reference)))


def name_faults(field: str, name: object) -> Iterator[str]:
    """Names are RFC 1035 labels; network tags too."""
    if isinstance(name, str) and not _NAME.fullmatch(name):
        yield invalid(field, name, f"Must be a match of regex '{_NAME.pattern}'")


def label_faults(field: str, labels: object) -> Iterator[str]:
    """What labels there may be."""
    if not isinstance(labels, dict):
        return
    if len(labels) > LABELS:
        yield invalid(field, len(labels), f"At most {LABELS} labels")
    for key, value in labels.items():
        if not _LABEL_KEY.fullmatch(key):
            yield invalid(f"{field}.{key}", key, f"Must be a match of regex '{_LABEL_KEY.pattern}'")
        if not _LABEL_VALUE.fullmatch(value):
            words = f"Must be a match of regex '{_LABEL_VALUE.pattern}'"
            yield invalid(f"{field}.{key}", value, words)


def _unsupported(inputs: Inputs, paths: frozenset[str]) -> Iterator[str]:
    """Inner properties that the simulation does not act on."""
    for path, value in leaves(inputs):
        of_a_map = f"{path.rpartition('.')[0]}.*"
        if "." in path and value is not None and not {path, of_a_map} & paths:
            yield f"the simulation does not act on {path}"


def _checks(known: frozenset[str], check: Check) -> Check:
    """What can be said of inputs by themselves."""

    def checks(inputs: Inputs) -> Iterator[str]:
        yield from _unsupported(inputs, known)
        yield from name_faults("name", inputs.get("name"))
        yield from label_faults("labels", inputs.get("labels"))
        yield from check(inputs)

    return checks


def _rules(needs: Iterable[str], rules: Rules) -> Rules:
    """What can be said of inputs in an account."""

    def all_rules(request: Request) -> Iterator[str]:
        if request.old is None and there_already(request.id):
            yield f"Error 409: The resource '{request.id}' already exists, alreadyExists"
        absent = [field for field in needs if request.inputs.get(field) in (None, [])]
        for field in absent:
            yield f"Error 400: Required field 'resource.{field}' not specified, required"
        if not absent:
            yield from rules(request)

    return all_rules


def _updated(known: frozenset[str], updated: Outputs) -> Outputs:
    """The outputs that follow the inputs."""

    def all_updated(request: Request) -> Inputs:
        return {**(labels_of(request.inputs) if LABELLED in known else {}), **updated(request)}

    return all_updated


def _computed(known: frozenset[str], computed: Outputs, updated: Outputs) -> Outputs:
    """All outputs."""
    follows = _updated(known, updated)

    def all_computed(request: Request) -> Inputs:
        scopes = {
            key: value for key, value in place(request).items() if f"/{key}s/" in f"/{request.id}"
        }
        link = {"selfLink": f"{API}{request.id}"}
        return {**link, **scopes, **follows(request), **computed(request)}

    return all_computed


def _identify(token: str) -> Callable[[Request], str]:
    def identity(request: Request) -> str:
        if "name" not in request.inputs:
            raise CloudError("name: the simulation makes up no names")
        return f"{collection(token, place(request))}/{request.inputs['name']}"

    return identity


def row(
    token: str,
    sdk: str,
    paths: str,
    *,
    identify: Callable[[Request], str] | None = None,
    needs: str = "",
    immutable: str = "name",
    defaults: Mapping[str, Any] | None = None,
    check: Check = lambda _inputs: (),
    rules: Rules = lambda _request: (),
    computed: Outputs = nothing_computed,
    updated: Outputs = nothing_computed,
    blocks: Blocks = nothing_blocks,
) -> Kind:
    """A type of Google's.

    `paths` are the inputs that the simulation acts on: inner ones with dots, `*` for any key of a
    map. `needs` must be there, beside the name and what the SDK asks for. A change of `immutable`
    replaces. What only this type has is added to what all have: a name, a link, a place, labels.
    """
    known = frozenset(paths.split())
    return Kind(
        token=token,
        sdk=sdk,
        supported=frozenset(path.split(".")[0] for path in known),
        identify=identify or _identify(token),
        immutable=frozenset(immutable.split()),
        defaults=defaults or {},
        check=_checks(known, check),
        rules=_rules(needs.split(), rules),
        computed=_computed(known, computed, updated),
        updated=_updated(known, updated),
        blocks=blocks,
        # The SDK has them so, since the provider's default labels are among them.
        secret_outputs=LABEL_OUTPUTS if LABELLED in known else frozenset(),
    )
