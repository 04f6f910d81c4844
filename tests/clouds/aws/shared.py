"""What the tables have in common: rows, ids, and how to find what an input refers to."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tests.clouds.aws import world
from tests.clouds.core.kind import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.clouds.core.account import Account, Inputs, Thing
    from tests.clouds.core.kind import Request

TAGS, TAG_KEY, TAG_VALUE = 50, 128, 256  # EC2, "Tag your Amazon EC2 resources"


def row(
    token: str,
    properties: str,
    identify: Callable[[Request], str],
    *,
    immutable: str = "",
    check: Callable[[Inputs], Iterable[str]] = lambda _inputs: (),
    **more: Any,
) -> Kind:
    """A type of the SDK: of "aws:ec2/vpc:Vpc" it is `pulumi_aws.ec2.Vpc`.

    `properties` and `immutable` are names, with spaces between them.
    """
    module, _, name = token.removeprefix("aws:").partition("/")

    def checked(inputs: Inputs) -> Iterator[str]:
        yield from _tag_faults(inputs.get("tags") or {})
        yield from check(inputs)

    return Kind(
        token=token,
        sdk=f"pulumi_aws.{module}.{name.rpartition(':')[2]}",
        supported=frozenset(properties.split()),
        immutable=frozenset(immutable.split()),
        identify=identify,
        check=checked,
        **more,
    )


def _tag_faults(tags: dict[str, Any]) -> Iterator[str]:
    if len(tags) > TAGS:
        yield f"TagLimitExceeded: {len(tags)} tags, more than {TAGS}"
    for key, value in tags.items():
        if key.lower().startswith("aws:"):
            yield "InvalidParameterValue: Tag keys starting with 'aws:' are reserved"
        if not 1 <= len(key) <= TAG_KEY or len(str(value)) > TAG_VALUE:
            yield f"InvalidParameterValue: the tag {key} is too long"


def digest(account: Account, what: str) -> str:
    """Sixteen digits that nothing had before."""
    return sha256(f"{what} {account.next()}".encode()).hexdigest()[:16]


def numbered(prefix: str) -> Callable[[Request], str]:
    """Ids such as vpc-0123456789abcdef0."""
    return lambda request: f"{prefix}-0{digest(request.account, prefix)}"


def arn(service: str, path: str) -> Callable[[Request], Inputs]:
    """The output that most types have; `path` may hold {id}."""

    def compute(request: Request) -> Inputs:
        region = request.settings["region"]
        name = path.format(id=request.id)
        return {"arn": f"arn:aws:{service}:{region}:{world.ACCOUNT_ID}:{name}"}

    return compute


def every(account: Account, token: str) -> list[Thing]:
    """All things of a type, those of somebody else included."""
    return [*(t for t in world.THINGS.values() if t.token == token), *account.of(token)]


def find(account: Account, token: str, identity: object) -> Thing | None:
    """The thing of that type and id."""
    return next((thing for thing in every(account, token) if thing.id == identity), None)


def others(request: Request, token: str, **properties: object) -> list[Thing]:
    """The things of a type with these values, but for the one that is being changed."""
    return [
        thing
        for thing in every(request.account, token)
        if thing.id != request.id and all(thing[key] == v for key, v in properties.items())
    ]


def missing(request: Request, *names: str) -> Iterator[str]:
    """Of these inputs, those that AWS cannot do without."""
    for name in names:
        if request.inputs.get(name) is None:
            yield f"MissingParameter: The request must contain the parameter {name}"


def unknown(request: Request, name: str, token: str, code: str, what: str) -> Iterator[str]:
    """The fault of an input that refers to something that is not there."""
    identity = request.inputs.get(name)
    if identity is not None and find(request.account, token, identity) is None:
        yield f"{code}: The {what} '{identity}' does not exist"
