"""The file systems of devices, mounted or not. Source: lsblk(8), blkid(8)."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from contracts.errors import UnavailableError
from storage.drives.devices import Device, below
from storage.drives.kernel import Kernel
from storage.drives.tools import Run

LSBLK_TIMEOUT_S: Final = 5.0
_LSBLK: Final = ("lsblk", "--json", "--output", "KNAME,FSTYPE,UUID")
_BLKID: Final = ("blkid", "--probe", "--output", "export")


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The file system or container format at the beginning of a device.

    Attributes:
        kind: `xfs`, `ext4`, also `crypto_LUKS`, `LVM2_member`.
        uuid: For mounting it.
    """

    kind: str
    uuid: str


def filesystems(kernel: Kernel, devices: Iterable[Device], run: Run) -> dict[str, FileSystem]:
    """Return the file systems by device name; empty if the tools fail.

    Devices on a drive without a link are left out, because reading them would wait. lsblk asks
    udev; where udev does not run, as in a container, blkid reads the drives.
    """
    known = tuple(devices)
    here = [each for each in known if not any(one.lost for one in below(known, each.name))]
    asked = [each for each in here if each.size_bytes]
    if not asked:
        return {}
    try:
        if kernel.udev.is_dir():
            whole = [f"/dev/{each.name}" for each in asked if not each.disk]
            said = run((*_LSBLK, *whole), LSBLK_TIMEOUT_S)
            return dict(_found(json.loads(said.out)["blockdevices"]))
        return dict(found for each in asked for found in _probed(each.name, run))
    except (UnavailableError, ValueError, KeyError, TypeError):
        return {}


def _probed(name: str, run: Run) -> Iterator[tuple[str, FileSystem]]:
    """Yield what blkid reads from one device; with several it would stop at the first empty one."""
    said = run((*_BLKID, f"/dev/{name}"), LSBLK_TIMEOUT_S).out
    told = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    if "TYPE" in told:
        yield name, FileSystem(told["TYPE"], told.get("UUID", ""))


def _found(entries: list[dict[str, Any]]) -> Iterator[tuple[str, FileSystem]]:
    for entry in entries:
        if entry.get("fstype"):
            yield str(entry["kname"]), FileSystem(str(entry["fstype"]), str(entry["uuid"] or ""))
        yield from _found(entry.get("children", []))
