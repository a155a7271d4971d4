"""Keeps volumes usable without anyone at the keyboard: connects, and mounts anew what was lost.

A file system that met an error in its journal has shut down: XFS answers EIO, ext4 turns
read-only, for good, though the link came back. Only unmounting and mounting ends that, and only
root may; the gateway, which is not root, lets go of such a volume and uses it again once it works.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from storage.drives.devices import Device, below, devices
from storage.drives.kernel import Kernel
from storage.drives.mounts import Mount, mounts
from storage.drives.nvmeof import connect, connection
from storage.drives.saved import Saved, kept_points, saved
from storage.drives.standing import SHUT_DOWN, standing
from storage.drives.tools import Run

KEEP_EVERY_S: Final = 10.0
REMOUNT_EVERY_S: Final = 60.0
"""One mount point is mounted anew at most so often: a drive that errs again at once stays out."""
MOUNT_TIMEOUT_S: Final = 60.0
"""The file system repairs itself from its journal meanwhile."""


class Keeper:
    """Does each time what is to be done; says what it did, and what it could not.

    Args:
        kernel: Which machine.
        root: Of its files, `/`.
        run: Runs nvme-cli, stat, umount and mount.
        clock: Seconds.
    """

    def __init__(
        self,
        kernel: Kernel,
        root: Path,
        run: Run,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kernel = kernel
        self._root = root
        self._run = run
        self._clock = clock
        self._remounted: dict[Path, float] = {}

    def step(self) -> list[str]:
        """Connect what is remembered and not connected, mount what is ours and not mounted.

        Raises:
            RejectedError: The file of connections is not one of ours.
            UnavailableError: A file cannot be read.
        """
        said = [words for each in saved(self._root) for words in self._connected(each)]
        for point in kept_points(self._root):
            try:
                said += self._kept(point)
            except UnavailableError as error:
                said.append(f"{point}: {error}")
        return said

    def _connected(self, wanted: Saved) -> Iterator[str]:
        if connection(wanted.target, self._kernel):
            return  # or connecting: the kernel goes on by itself
        try:
            made, found = connect(wanted.target, wanted.settings, self._kernel, self._run)
            disks = ", ".join(each.name for each in found) or "no namespace"
            yield f"{made.name}: connected to {made.nqn} at {made.peer}: {disks}"
        except UnavailableError as error:
            yield f"{wanted.target.nqn} at {wanted.target.address}: {error}"

    def _kept(self, point: Path) -> Iterator[str]:
        """Mount what is not mounted; unmount first what can only be mounted anew."""
        mounted = mounts(self._kernel)
        here = [each for each in mounted if Path(each.point) == point]
        if here:
            why = self._dead(point, here[-1], mounted)
            last = self._remounted.get(point)
            if not why or (last is not None and self._clock() - last < REMOUNT_EVERY_S):
                return
            self._command("umount", point)
            self._remounted[point] = self._clock()
            yield f"{point}: unmounted, {why}"
        self._command("mount", point)
        if any(Path(each.point) == point for each in mounts(self._kernel)):
            yield f"{point}: mounted"

    def _dead(self, point: Path, mount: Mount, mounted: tuple[Mount, ...]) -> str:
        """Return why a mount will not work again by itself; empty if it may."""
        device = mount.device(self._kernel)
        if device is None:
            return f"its drive ({mount.gone}) is gone" if mount.on_device else ""
        stack = list(below(devices(self._kernel, mounted), device))
        if not any(_fabric(each) for each in stack) or any(each.lost for each in stack):
            # A drive in this machine that errs is for people to look at; of a link that is down
            # nothing can be said yet.
            return ""
        told = standing("", point, self._kernel, mounted, self._run)
        if told.problem == SHUT_DOWN:
            return "its file system has shut down"
        return "its file system turned read-only" if mount.turned_read_only else ""

    def _command(self, name: str, point: Path) -> None:
        said = self._run((name, str(point)), MOUNT_TIMEOUT_S)
        if said.status:
            raise UnavailableError(f"{name} failed: {said.complaint}")


def _fabric(device: Device) -> bool:
    return any(path.controller.fabric for path in device.paths)
