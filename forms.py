"""The forms that texts and numbers of the cluster config have: rules for us, words for people."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from re import fullmatch
from typing import Annotated, Any

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from versions import RELEASES

MASTER_COUNTS = (1, 3, 5, 7)
# What an SSH host is known by, the best first. An RSA key is none of them: `_host_key` says why.
HOST_KEYS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
)
REFUSED = "refused"  # the type of the errors that carry their own words


def _refusal(message: str, remedy: str) -> PydanticCustomError:
    """What is wrong and, apart from it, what to write instead: `validation` prints both."""
    return PydanticCustomError(
        REFUSED, "{message}; {remedy}", {"message": message, "remedy": remedy}
    )


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a text: a pattern for editors, words for people."""

    pattern: str
    limit: int
    words: str
    example: str

    def check(self, text: str) -> str:
        """Refuse what does not have this form."""
        if len(text) > self.limit:
            raise _refusal(
                f"has {len(text)} characters", f"write at most {self.limit}: {self.words}"
            )
        if not fullmatch(self.pattern, text):
            raise _refusal(f"is not made of {self.words}", f"write one like {self.example}")
        return text

    def __get_pydantic_core_schema__(
        self, source: type[object], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "pattern": f"^{self.pattern}$", "maxLength": self.limit}


def _known_release(version: str) -> str:
    if version not in RELEASES:
        raise _refusal("is not in the version table", f"write {' or '.join(RELEASES)}")
    return version


def _network(cidr: str) -> str:
    address, slash, _ = cidr.partition("/")
    try:
        network = IPv4Network(cidr, strict=False)
    except ValueError:
        raise _refusal("is not an IPv4 network", "write one like 10.244.0.0/16") from None
    if not slash:
        raise _refusal("has no prefix length", f"write one like {address}/16")
    # Also catches 10.0.0.0/255.0.0.0, which Python reads and Kubernetes does not.
    if str(network) != cidr:
        raise _refusal("is not written as a network's first address", f"write {network}")
    return cidr


def _address(text: str) -> str:
    try:
        return str(IPv4Address(text))
    except ValueError:
        raise _refusal("is not an IPv4 address", "write one like 10.0.0.11") from None


def _host_key(line: str) -> str:
    """The type and the key of a line as /etc/ssh/ssh_host_ed25519_key.pub has it."""
    kind, _, rest = line.strip().partition(" ")
    key = rest.partition(" ")[0]
    if kind == "ssh-rsa":
        raise _refusal(
            "is an RSA key, which the command plugin takes with SHA-1 signatures only: no sshd of "
            "today makes one",
            "write the host's ssh-ed25519 or ecdsa-sha2-nistp256 key",
        )
    if kind not in HOST_KEYS or not _is_key(kind, key):
        raise _refusal(
            "is no public host key",
            "write the line of the host's /etc/ssh/ssh_host_ed25519_key.pub: ssh-ed25519 AAAA...",
        )
    return f"{kind} {key}"


def _is_key(kind: str, text: str) -> bool:
    """Whether the key is whole and says itself of which type it is: RFC 4253, section 6.6."""
    try:
        rest = b64decode(text, validate=True)
    except ValueError:
        return False
    parts = []
    while rest:
        size = int.from_bytes(rest[:4])
        if len(rest) < 4 + size:
            return False
        parts.append(rest[4 : 4 + size])
        rest = rest[4 + size :]
    return parts[:1] == [kind.encode()]


def _odd(count: int) -> int:
    if count % 2 == 0:
        raise _refusal(
            "is even, and an even number of etcd members survives no more losses than one fewer",
            f"write {count - 1} or {count + 1}",
        )
    return count


def _manifests(source: str) -> str:
    """A path, or an address that cannot be tampered with on the way: by TLS or by a checksum."""
    if source.strip() != source or not source:
        raise _refusal("is empty, or has spaces around it", "write a path or an https address")
    if "://" not in source:
        return source
    address, hash_mark, checksum = source.partition("#")
    if hash_mark and not fullmatch(r"sha256=[0-9a-f]{64}", checksum):
        raise _refusal(
            "has no SHA-256 after #", f"write {address}#sha256= and 64 digits, or only {address}"
        )
    scheme = "https?" if checksum else "https"
    if not fullmatch(scheme + r"://[^/\s@]+/\S+", address):
        raise _refusal(
            "is no https address of a file",
            "write https://HOST/FILE, http://HOST/FILE#sha256=..., or the path of a file",
        )
    return source


_NAME = Form(
    r"[a-z]([a-z0-9-]*[a-z0-9])?",
    40,
    "lower-case letters, digits and dashes, a letter first and no dash last",
    "kubernetes or big-nodes",
)
_LABEL = Form(
    r"([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?",
    63,
    "letters, digits, dashes, dots and underscores, with a letter or digit first and last",
    "ssd or zone-1",
)
# 120: with the longest Service and namespace in front, a name still fits in DNS's 253 characters.
_DOMAIN = Form(
    r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*",
    120,
    "DNS labels (lower-case letters, digits, dashes) joined by dots",
    "cluster.local",
)
_HOST = Form(
    r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?",
    253,
    "letters, digits, dashes and dots",
    "logs.example.com or 192.0.2.10",
)
# Names and ids of a cloud's: what each may be exactly, the platform's rules say.
_ID = Form(
    r"[A-Za-z0-9/]([A-Za-z0-9._:/()-]*[A-Za-z0-9)])?",
    512,
    "letters, digits, dots, underscores, colons, slashes, parentheses and dashes",
    "t3.large or us-central1-a",
)
_USER = Form(
    r"[a-z_][a-z0-9_-]*",
    32,
    "lower-case letters, digits, dashes and underscores, a letter first",
    "ubuntu",
)
_TAG_KEY = Form(
    r"[A-Za-z]([A-Za-z0-9._:/-]*[A-Za-z0-9])?",
    63,
    "letters, digits, dots, underscores, colons, slashes and dashes, a letter first",
    "team",
)
_TAG_VALUE = Form(
    r"[A-Za-z0-9 ._:/=+@-]*",
    63,
    "letters, digits, spaces and . _ : / = + @ -",
    "platform",
)
# A host that exists has its name already: any DNS label.
_HOST_NAME = Form(
    r"[a-z0-9]([a-z0-9-]*[a-z0-9])?",
    63,
    "lower-case letters, digits and dashes, no dash first or last",
    "web-1",
)
_PATH = Form(
    r"[^\x00-\x1f\x7f]+",
    4096,
    "characters that a path has, on one line",
    "~/.ssh/id_ed25519",
)
_URL = Form(
    r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?",
    253,
    "http:// or https://, a host and maybe a port",
    "http://mirror.example.com:5000",
)

Version = Annotated[
    str, AfterValidator(_known_release), Field(json_schema_extra={"enum": [*RELEASES]})
]
Cidr = Annotated[
    str,
    AfterValidator(_network),
    Field(json_schema_extra={"pattern": r"^(\d{1,3}\.){3}\d{1,3}/\d{1,2}$"}),
]
Address = Annotated[
    str,
    AfterValidator(_address),
    Field(json_schema_extra={"pattern": r"^(\d{1,3}\.){3}\d{1,3}$"}),
]
HostKey = Annotated[
    str,
    AfterValidator(_host_key),
    Field(json_schema_extra={"pattern": f"^({'|'.join(HOST_KEYS)}) "}),
]
HostName = Annotated[str, _HOST_NAME]
FilePath = Annotated[str, _PATH]
Label = Annotated[str, _LABEL]
Name = Annotated[str, _NAME]
Domain = Annotated[str, _DOMAIN]
HostAddress = Annotated[str, _HOST]
Id = Annotated[str, _ID]
User = Annotated[str, _USER]
TagKey = Annotated[str, _TAG_KEY]
TagValue = Annotated[str, _TAG_VALUE]
Url = Annotated[str, _URL]
ManifestSource = Annotated[str, AfterValidator(_manifests)]
MasterCount = Annotated[
    int,
    Field(ge=MASTER_COUNTS[0], le=MASTER_COUNTS[-1], json_schema_extra={"enum": [*MASTER_COUNTS]}),
    AfterValidator(_odd),
]
ExtraArgs = Annotated[
    Mapping[str, str],
    Field(
        description="Flags without dashes and their values, added to (or in place of) ours; "
        "checked against the flags that this version knows.",
        examples=[{"v": "4"}],
    ),
]
