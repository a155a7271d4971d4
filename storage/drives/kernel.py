"""sysfs and procfs, below roots that a test may choose.

Nothing here opens a block device or asks a drive, so it never waits for one.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SECTOR_BYTES: Final = 512
"""Unit of sizes and counters in sysfs, for every sector size of drives. Source: sysfs-block."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel's own view of the machine.

    Attributes:
        sys: Root of sysfs.
        proc: Root of procfs.
        udev: Directory of udev's database; missing if udev does not run.
        run: Directory of programs' own state, until the machine starts again.
    """

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    udev: Path = Path("/run/udev/data")
    run: Path = Path("/run")

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
        """Yield the target of a link in sysfs, then each directory above it, up to the root."""
        place, root = Path(os.path.realpath(path)), Path(os.path.realpath(self.sys))
        while place not in (root, place.parent):
            yield place
            place = place.parent


def text(path: Path) -> str:
    """Return an attribute without its newline; empty if it is missing or unreadable.

    Control characters are replaced: texts of drives and targets are printed on terminals.
    """
    try:
        said = path.read_bytes().decode("utf-8", "replace").strip(" \n\0")
    except OSError:  # a driver may fail too: EINVAL for the speed of a NIC that is down
        return ""
    return "".join(each if each.isprintable() else "?" for each in said)


def number(path: Path) -> int | None:
    """Return an attribute that is a whole number, or None."""
    said = text(path)
    return int(said) if said.removeprefix("-").isdecimal() else None


def names(directory: Path) -> list[str]:
    """Return the sorted names in a directory; empty if it is missing."""
    try:
        return sorted(entry.name for entry in directory.iterdir())
    except OSError:
        return []
