"""What file system a device has, mounted or not. Source: lsblk(8)."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from contracts.errors import UnavailableError
from storage.volumes.devices import Device, below
from storage.volumes.tools import Run

LSBLK_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class FileSystem:
    """What is written at the beginning of a device.

    Attributes:
        kind: `xfs`, `ext4`, also `crypto_LUKS`, `LVM2_member`.
        uuid: By which it is mounted.
    """

    kind: str
    uuid: str


def filesystems(devices: Iterable[Device], run: Run) -> dict[str, FileSystem]:
    """Return the file systems by device name; empty if nobody tells.

    What stands on a drive without a link is not asked for: whoever reads it waits.
    """
    known = tuple(devices)
    whole = [
        f"/dev/{each.name}"
        for each in known
        if not each.disk and not any(one.lost for one in below(known, each.name))
    ]
    if not whole:
        return {}
    try:
        said = run(("lsblk", "--json", "--output", "KNAME,FSTYPE,UUID", *whole), LSBLK_TIMEOUT_S)
        return dict(_found(json.loads(said.out)["blockdevices"]))
    except (UnavailableError, ValueError, KeyError, TypeError):
        return {}


def _found(entries: list[dict[str, Any]]) -> Iterator[tuple[str, FileSystem]]:
    for entry in entries:
        if entry.get("fstype"):
            yield str(entry["kname"]), FileSystem(str(entry["fstype"]), str(entry["uuid"] or ""))
        yield from _found(entry.get("children", []))
