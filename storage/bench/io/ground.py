"""The place where fio reads and writes: a file on a volume, or a whole device."""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contracts.runtime.files import OWNER_ONLY, disk_errors
from storage.bench.io.ceilings import ceiling
from storage.bench.run.outcome import Ceiling
from storage.bench.run.volumetarget import VolumeTarget
from storage.drives.devices import Device

_TRIED: Final = "direct.dat"


@dataclass(frozen=True, slots=True)
class Ground:
    """The place of a target's workloads.

    Attributes:
        name: Of the target.
        place: A directory for files, or the file of a raw device.
        drives: From its own device down; empty without one.
        filesystem: Empty on a raw device.
        direct: With O_DIRECT, past the page cache.
    """

    name: str
    place: Path
    drives: Sequence[Device] = field(default=())
    filesystem: str = ""
    direct: bool = True

    @classmethod
    def of(cls, volume: VolumeTarget, *, buffered: bool) -> "Ground":
        """Return the ground of a volume, with O_DIRECT if the file system has it.

        Raises:
            UnavailableError: The volume cannot be written.
        """
        direct = not buffered and _takes_direct(volume.work / _TRIED)
        return cls(volume.name, volume.work, volume.drives, volume.filesystem, direct)

    @property
    def raw(self) -> bool:
        """Return whether it is a device without a file system."""
        return not self.filesystem

    @property
    def ceiling(self) -> Ceiling | None:
        """Return the ceiling of its link."""
        return ceiling(self.drives)

    def file(self, name: str) -> Path:
        """Return the path of a workload's file; on a raw device, the device itself."""
        return self.place if self.raw else self.place / name

    def remove(self, name: str) -> None:
        """Remove a workload's file; a raw device stays as it is."""
        if not self.raw:
            self.file(name).unlink(missing_ok=True)


def _takes_direct(file: Path) -> bool:
    """Return whether a file system opens files with O_DIRECT."""
    with disk_errors("write", file):
        try:
            os.close(os.open(file, os.O_CREAT | os.O_RDWR | os.O_DIRECT, OWNER_ONLY))
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            return False
        finally:
            file.unlink(missing_ok=True)
    return True
