"""A simulated account: what was made in it, kept in one file that all plugin processes share."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER_VARIABLE = "KUBERNETES_ANYWHERE_SIMULATED"  # where simulated accounts are kept
Inputs = dict[str, Any]  # plain JSON, by the names that the wire has


@dataclass(kw_only=True)
class Thing:
    """One object of the account."""

    id: str
    token: str  # its type: "aws:ec2/instance:Instance"
    inputs: Inputs  # with the defaults that the cloud fills in
    computed: Inputs = field(default_factory=dict)

    @property
    def outputs(self) -> Inputs:
        """All that is known of it."""
        return {**self.inputs, **self.computed}

    def __getitem__(self, name: str) -> Any:
        return self.outputs.get(name)


@dataclass(kw_only=True)
class Account:
    """Everything in an account, in the order of its making."""

    things: dict[str, Thing] = field(default_factory=dict)
    serial: int = 0  # never goes back, so that no id or address comes twice

    def of(self, token: str) -> list[Thing]:
        """All things of a type."""
        return [thing for thing in self.things.values() if thing.token == token]

    def find(self, token: str, name: str, value: object) -> list[Thing]:
        """The things of a type that have this value in this property."""
        return [thing for thing in self.of(token) if thing[name] == value]

    def get(self, identity: str) -> Thing | None:
        """The thing of that id, if there is one."""
        return self.things.get(identity)

    def next(self) -> int:
        """A number that nothing had before."""
        self.serial += 1
        return self.serial


def folder() -> Path:
    """Where accounts are kept. Raises KeyError when nothing says that clouds are simulated."""
    return Path(os.environ[FOLDER_VARIABLE])


@contextmanager
def opened(cloud: str) -> Iterator[Account]:
    """The account, for this process alone; what was changed is kept if nothing went wrong."""
    path = folder() / f"{cloud}.json"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        account = read(path)
        yield account
        partial = path.with_suffix(".partial")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(asdict(account), indent=1))
        partial.replace(path)


def read(path: Path) -> Account:
    """What the file has; an account that nobody used is empty."""
    if not path.exists():
        return Account()
    document = json.loads(path.read_text())
    things = {key: Thing(**thing) for key, thing in document["things"].items()}
    return Account(things=things, serial=document["serial"])
