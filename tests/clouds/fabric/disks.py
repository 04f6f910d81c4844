"""Disks: files on this computer, which loop devices make block devices of.

A disk that is attached to a machine has a loop device, whichever machine it is, so that it can move
from one to another. One that is not has its file alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from components.local.containers.shell import run
from tests.clouds.fabric.model import Disk, Fabric
from tests.clouds.fabric.place import Place, key

_GIGABYTE = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """A block device of this computer's kernel."""

    path: str
    major: int
    minor: int


def release(fabric: Fabric, place: Place) -> None:
    """Take the devices of disks that no machine has, and the files of disks that are not there."""
    attached = {_file(place, disk) for disk in _attached(fabric)}
    kept = attached | {_file(place, disk) for disk in fabric.detached}
    for file, device in _devices(place).items():
        if file not in attached:
            # One that is still mounted goes when it is not.
            run(["losetup", "--detach", device])
    folder = _folder(place)
    if folder.is_dir():
        for file in set(folder.iterdir()) - kept:
            file.unlink()
        if not kept:
            folder.rmdir()


def attach(fabric: Fabric, place: Place) -> dict[str, Device]:
    """The devices of all disks that machines have, by the disk's id; made where there are none."""
    disks = list(_attached(fabric))
    if not disks:
        return {}
    _folder(place).mkdir(parents=True, exist_ok=True)
    known = _devices(place)
    return {disk.id: _device(disk, _file(place, disk), known) for disk in disks}


def _device(disk: Disk, file: Path, known: dict[Path, str]) -> Device:
    file.touch(mode=0o600)
    size, path = disk.size_gb * _GIGABYTE, known.get(file)
    if file.stat().st_size < size:
        os.truncate(file, size)
        if path:
            run(["losetup", "--set-capacity", path])
    if not path:
        path = run(["losetup", "--find", "--show", str(file)]).strip()
    number = Path(path).stat().st_rdev
    return Device(path=path, major=os.major(number), minor=os.minor(number))


def _attached(fabric: Fabric) -> Iterable[Disk]:
    return (disk for machine in fabric.machines.values() for disk in machine.disks)


def _folder(place: Place) -> Path:
    return place.folder.resolve() / "disks"


def _file(place: Place, disk: Disk) -> Path:
    return _folder(place) / key(disk.id)


def _devices(place: Place) -> dict[Path, str]:
    """The loop devices of this place's files; that of a file that is gone has another name."""
    if not _folder(place).is_dir():
        return {}
    listed = run(["losetup", "--list", "--json", "--output", "NAME,BACK-FILE"])
    found = json.loads(listed or '{"loopdevices": []}')["loopdevices"]
    files = {Path(item["back-file"]): item["name"] for item in found}
    return {file: name for file, name in files.items() if file.parent == _folder(place)}
