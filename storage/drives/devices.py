"""Every block device of the machine: its kind, how it is attached, the devices below it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from storage.drives.interfaces import attached
from storage.drives.kernel import SECTOR_BYTES, Kernel, names, number, text
from storage.drives.mounts import Mount, mount_of
from storage.drives.nvme import NvmePath, paths

_VIRTUAL_EMPTY: Final = ("loop", "zram", "ram", "nbd")
_DELETED: Final = " (deleted)"


@dataclass(frozen=True, slots=True)
class Device:
    """A disk, a partition, or a device that the kernel builds from others.

    Attributes:
        name: The kernel's, `nvme1n1`; its file is `/dev/NAME`.
        number: `259:0`.
        interface: One word, see docs/storage.md; a partition has its disk's.
        size_bytes: 0 without a medium.
        link: Speed of the link in words, empty if unknown.
        rotational: It has platters.
        disk: The disk of a partition; else empty.
        stands_on: Devices directly below: the disk of a partition, members of dm and md, and the
            device that holds the file of a loop device.
        detail: The kind of a dm, md or loop device: `crypt luks`, `raid1`, the file.
        nqn: Of the NVMe subsystem.
        paths: Of an NVMe disk; a local drive has one.
        iopolicy: How the kernel chooses among several paths; empty without multipath.
    """

    name: str
    number: str
    interface: str
    size_bytes: int
    read_only: bool
    removable: bool
    rotational: bool
    link: str = ""
    model: str = ""
    firmware: str = ""
    serial: str = ""
    disk: str = ""
    stands_on: tuple[str, ...] = ()
    detail: str = ""
    nqn: str = ""
    paths: tuple[NvmePath, ...] = ()
    iopolicy: str = ""

    @property
    def lost(self) -> bool:
        """Return whether no path leads to the drive now: requests to it may wait."""
        return bool(self.paths) and not any(path.usable for path in self.paths)

    @property
    def changing(self) -> bool:
        """Return whether no path is usable only because the target is changing them."""
        return self.lost and any(path.changing for path in self.paths)


def devices(kernel: Kernel, mounted: Iterable[Mount]) -> tuple[Device, ...]:
    """Return all block devices, each disk before its partitions.

    Two kinds are left out: the hidden disks of multipath, which are among the paths of their head;
    and unused loop, RAM and network devices.

    Args:
        kernel: Of the machine.
        mounted: All mounts; they tell which device holds the file of a loop device.
    """
    known = tuple(mounted)
    return tuple(each for name in kernel.block_names() for each in _disk(kernel, name, known))


def below(all_devices: Iterable[Device], name: str) -> Iterator[Device]:
    """Yield the device of that name and every device below it, down to the drives."""
    by_name = {device.name: device for device in all_devices}
    waiting, seen = [name], set[str]()
    while waiting:
        current = waiting.pop(0)
        if current in by_name and current not in seen:
            seen.add(current)
            yield by_name[current]
            waiting.extend(by_name[current].stands_on)


def _disk(kernel: Kernel, name: str, mounted: tuple[Mount, ...]) -> Iterator[Device]:
    place = kernel.block(name)
    size = number(place / "size") or 0
    if number(place / "hidden") or (not size and name.startswith(_VIRTUAL_EMPTY)):
        return
    ways = paths(kernel, name)
    told = attached(kernel, name, ways)
    disk = Device(
        name=name,
        number=text(place / "dev"),
        interface=told.interface,
        size_bytes=size * SECTOR_BYTES,
        read_only=bool(number(place / "ro")),
        removable=bool(number(place / "removable")),
        rotational=bool(number(place / "queue" / "rotational")),
        link=told.link,
        model=told.model,
        firmware=told.firmware,
        serial=told.serial,
        stands_on=_members(kernel, place, mounted),
        detail=_detail(place),
        nqn=text(place / "device" / "subsysnqn"),
        paths=ways,
        iopolicy=text(place / "device" / "iopolicy"),
    )
    yield disk
    for part in names(place):
        if (place / part / "partition").exists():
            yield _partition(place / part, disk)


def _partition(place: Path, disk: Device) -> Device:
    return Device(
        name=place.name,
        number=text(place / "dev"),
        interface=disk.interface,
        size_bytes=(number(place / "size") or 0) * SECTOR_BYTES,
        read_only=disk.read_only or bool(number(place / "ro")),
        removable=disk.removable,
        rotational=disk.rotational,
        link=disk.link,
        disk=disk.name,
        stands_on=(disk.name,),
    )


def _members(kernel: Kernel, place: Path, mounted: tuple[Mount, ...]) -> tuple[str, ...]:
    file = text(place / "loop" / "backing_file")
    if file:
        mount = mount_of(Path(file.removesuffix(_DELETED)), mounted)
        device = mount.device(kernel) if mount else None
        return (device,) if device else ()
    return tuple(names(place / "slaves"))


def _detail(place: Path) -> str:
    file = text(place / "loop" / "backing_file")
    if file:
        return str(PurePosixPath(file))
    level = text(place / "md" / "level")
    if level:
        return level
    # CRYPT-LUKS2-…, LVM-…: the uuid of a dm device begins with its maker. Source: sysfs-block-dm.
    maker = text(place / "dm" / "uuid").split("-")
    kind = " ".join(maker[:2] if maker[0] == "CRYPT" else maker[:1]).lower()
    return f"{kind} {text(place / 'dm' / 'name')}".strip()
