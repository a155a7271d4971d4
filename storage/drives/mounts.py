"""The mounts of the machine, and the mount that a path is on. Source: proc(5), mountinfo."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from contracts.errors import UnavailableError
from storage.drives.kernel import Kernel

_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
_NO_DEVICE: Final = "0:"
"""Major number of file systems that are on no block device, or on several."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system.

    Attributes:
        number: Of its device, `259:0`; `0:…` if it is on no device or on several.
        root: Its directory that is mounted; not `/` for a bind mount or subvolume.
        point: Where it is mounted.
        filesystem: Its kind, `xfs`.
        source: The mounted device, `/dev/sda1`.
        read_only: The mount or the file system refuses writes.
        turned_read_only: The file system refuses writes, although it was mounted for writing.
        options: Of the file system.
    """

    number: str
    root: str
    point: PurePosixPath
    filesystem: str
    source: str
    read_only: bool
    turned_read_only: bool
    options: tuple[str, ...]

    def device(self, kernel: Kernel) -> str | None:
        """Return the name of the block device below; None if it is missing or gone."""
        if not self.number.startswith(_NO_DEVICE):
            return kernel.name_of(self.number)
        # btrfs: its source is the first of its devices
        name = PurePosixPath(self.source).name
        return name if self.source.startswith("/dev/") and kernel.block(name).exists() else None

    @property
    def gone(self) -> str:
        """Return what it was mounted from, for messages about a drive that is gone."""
        return self.source.removeprefix("/dev/")

    @property
    def on_device(self) -> bool:
        """Return whether it was mounted from a block device, which may be gone."""
        return not self.number.startswith(_NO_DEVICE) or self.source.startswith("/dev/")


def mounts(kernel: Kernel) -> tuple[Mount, ...]:
    """Return every mount that this process sees, the newest at the end.

    Raises:
        UnavailableError: mountinfo cannot be read.
    """
    path = kernel.proc / "self" / "mountinfo"
    try:
        lines = path.read_bytes().decode("utf-8", "surrogateescape").splitlines()
    except OSError as error:
        raise UnavailableError(f"cannot read {path}: {error.strerror}") from error
    return tuple(parse_mount(line) for line in lines)


def parse_mount(line: str) -> Mount:
    """Return the mount of a line of mountinfo."""
    # 36 35 98:0 /root /point rw,noatime shared:1 - ext3 /dev/root rw,errors=continue
    before, _, after = line.partition(" - ")
    _, _, device, root, point, flags, *_ = before.split(" ")
    filesystem, source, options = after.split(" ", 2)
    own = flags.split(",")
    told = tuple(unescaped(options).split(","))
    return Mount(
        number=device,
        root=unescaped(root),
        point=PurePosixPath(unescaped(point)),
        filesystem=filesystem,
        source=unescaped(source),
        read_only="ro" in own or "ro" in told,
        turned_read_only="ro" not in own and "ro" in told,
        options=told,
    )


def mount_of(path: Path, mounted: Iterable[Mount]) -> Mount | None:
    """Return the mount that a path is on, by its name alone, without touching the file system.

    Args:
        path: Absolute, and without symbolic links.
        mounted: As `mounts` returns them; a later mount at the same place hides an earlier one.
    """
    best: Mount | None = None
    for mount in mounted:
        deeper = best is None or len(mount.point.parts) >= len(best.point.parts)
        if deeper and PurePosixPath(path).is_relative_to(mount.point):
            best = mount
    return best


def unescaped(field: str) -> str:
    """Return a field of mountinfo or fstab with its octal escapes decoded."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), field)
