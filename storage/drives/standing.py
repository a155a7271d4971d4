"""The mount and the block device below a directory."""

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from storage.drives.kernel import Kernel
from storage.drives.mounts import Mount, mount_of
from storage.drives.tools import Run

STAT_TIMEOUT_S: Final = 2.0
SHUT_DOWN: Final = "its file system has shut down after an error: unmount it, and mount it again"
_MEMORY: Final = ("tmpfs", "ramfs", "rootfs", "devtmpfs")


@dataclass(frozen=True, slots=True)
class Standing:
    """A directory of a volume, with the mount and the device below it.

    Attributes:
        name: Of the volume in the gateway's settings.
        path: Its directory.
        mount: The mount that it is on; None if unknown.
        device: Block device of that mount; empty if the mount has no device, or if it is gone.
        note: A remark on the mount: an overlay, memory, another machine.
        problem: Why it cannot hold recordings now; empty if it can.
    """

    name: str
    path: Path
    mount: Mount | None = None
    device: str = ""
    note: str = ""
    problem: str = ""


def standing(
    name: str,
    path: Path,
    kernel: Kernel,
    mounted: Iterable[Mount],
    run: Run | None,
    *,
    must_be_mount: bool = False,
) -> Standing:
    """Return what is below a directory, without waiting for a drive that does not answer.

    Args:
        name: Of the volume.
        path: Its directory, which may be missing.
        kernel: Of the machine.
        mounted: As `mounts` returns them.
        run: Runs `stat` in its own process, which may never end on a lost drive. With None,
            only the names of mounts count, which is wrong behind symbolic links.
        must_be_mount: Whether the settings require a mount point there.
    """
    known = tuple(mounted)
    place = Path(os.path.abspath(path))  # noqa: PTH100 - resolving links might wait for a drive
    device_id, problem = _stat(place, run) if run else (None, "")
    mount = _mount(place, device_id, known)
    if mount is None:
        return Standing(name, path, problem=problem or "no mount is known there")
    device = mount.device(kernel) or ""
    note = ""
    if not mount.on_device:
        device, note = _without_device(mount, kernel, known)
    if os.strerror(errno.EIO) in problem:
        problem = SHUT_DOWN
    if mount.on_device and not device:
        problem = f"its drive ({mount.gone}) is gone, though still mounted: unmount it"
    elif must_be_mount and Path(mount.point) != place:
        problem = f"nothing is mounted there: it is on {mount.point} ({mount.gone})"
    elif mount.read_only and not problem:
        problem = "mounted read-only"
    return Standing(name, path, mount, device, note, problem)


def _stat(place: Path, run: Run) -> tuple[int | None, str]:
    """Return the number of the device below a path, or why it is unknown."""
    try:
        said = run(("stat", "--dereference", "--format=%d", str(place)), STAT_TIMEOUT_S)
    except UnavailableError:
        return None, f"does not answer within {STAT_TIMEOUT_S:g} s"
    return (None, said.complaint) if said.status else (int(said.out), "")


def _mount(place: Path, device_id: int | None, known: tuple[Mount, ...]) -> Mount | None:
    """Return the mount of a path: by name among the mounts of its device, else by name alone."""
    if device_id is not None:
        number = f"{os.major(device_id)}:{os.minor(device_id)}"
        same = tuple(mount for mount in known if mount.number == number)
        by_device = mount_of(place, same) or next(iter(same), None)
        if by_device:
            return by_device
    return mount_of(place, known)


def _without_device(mount: Mount, kernel: Kernel, known: tuple[Mount, ...]) -> tuple[str, str]:
    """Return device and note of a file system that is not on its own block device."""
    if mount.filesystem == "overlay":
        upper = next((word[9:] for word in mount.options if word.startswith("upperdir=")), "")
        below = mount_of(Path(upper), known) if upper.startswith("/") else None
        device = below.device(kernel) if below and below != mount else None
        if device:
            return device, f"overlay: what is written goes to {upper}"
        return "", "overlay: what is below is not visible from here"
    if mount.filesystem in _MEMORY:
        return "", f"{mount.filesystem}: in memory, gone after a restart"
    return "", f"{mount.filesystem} from {mount.source}: no block device of this machine"
