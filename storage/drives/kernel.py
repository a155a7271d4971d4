"""Where the kernel tells what it knows: sysfs and procfs, below roots that a test may choose.

Nothing here opens a block device or asks a drive: an answer comes at once, whatever hangs.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SECTOR_BYTES: Final = 512
"""Of sizes and counters in sysfs, whatever the drive's own sectors are. Source: sysfs-block."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel's own view of the machine.

    Attributes:
        sys: Root of sysfs.
        proc: Root of procfs.
        udev: Where udev keeps what it found out; not there, it does not run.
    """

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    udev: Path = Path("/run/udev/data")

    def block(self, name: str) -> Path:
        """Return the directory of a block device, a disk or a partition."""
        return self.sys / "class" / "block" / name

    def block_names(self) -> list[str]:
        """Return the names of all disks, without their partitions, in sysfs' words."""
        return names(self.sys / "block")

    def name_of(self, number: str) -> str | None:
        """Return the name of the block device with a number such as `259:0`; None if it is gone."""
        link = self.sys / "dev" / "block" / number
        return Path(os.path.realpath(link)).name if link.exists() else None

    def ancestors(self, path: Path) -> Iterator[Path]:
        """Yield where a link in sysfs leads, then each directory above, up to the root."""
        place, root = Path(os.path.realpath(path)), Path(os.path.realpath(self.sys))
        while place not in (root, place.parent):
            yield place
            place = place.parent


def text(path: Path) -> str:
    """Return an attribute without its newline; empty where there is none, or it may not be read.

    What drives and targets say of themselves ends on a terminal: no control characters.
    """
    try:
        said = path.read_bytes().decode("utf-8", "replace").strip(" \n\0")
    except OSError:  # also what a driver answers: EINVAL for the speed of a NIC that is down
        return ""
    return "".join(each if each.isprintable() else "?" for each in said)


def number(path: Path) -> int | None:
    """Return an attribute that is a whole number; None where there is none."""
    said = text(path)
    return int(said) if said.removeprefix("-").isdecimal() else None


def names(directory: Path) -> list[str]:
    """Return what a directory holds, sorted; nothing if it is not there."""
    try:
        return sorted(entry.name for entry in directory.iterdir())
    except OSError:
        return []
