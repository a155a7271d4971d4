"""Keeps volumes usable without an operator: connects drives, and mounts lost volumes again.

A file system shuts down for good after an error in its journal: XFS answers EIO, ext4 turns
read-only, even if the link comes back. Only unmounting and mounting it again helps, which only root
may do. The gateway, which is not root, stops using such a volume until it works again.
"""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError, WaysealError
from storage.drives.devices import Device, below, devices
from storage.drives.kernel import Kernel
from storage.drives.mounts import Mount, mounts
from storage.drives.nvmeof import Fabric, answers, connection
from storage.drives.reported import HEALTH_EVERY_S, ask, leave
from storage.drives.saved import kept_points, saved
from storage.drives.standing import SHUT_DOWN, standing
from storage.drives.targets import Target, WantedConnection
from storage.drives.tools import Run

KEEP_EVERY_S: Final = 10.0
CONNECT_TOGETHER_S: Final = 5.0
"""Time for connections before volumes are mounted; slower ones go on in the background."""
REMOUNT_EVERY_S: Final = 60.0
"""Shortest time between two mounts of one volume: a drive that fails again at once stays out."""
MOUNT_TIMEOUT_S: Final = 60.0
"""In this time the file system repairs itself from its journal."""


class Attempt(threading.Thread):
    """Makes one connection in the background.

    Attributes:
        said: The work that was done or failed, once it ended.
    """

    def __init__(self, fabric: Fabric, wanted: WantedConnection) -> None:
        super().__init__(name="connect", daemon=True)  # the keeper ends without it
        self._fabric = fabric
        self._wanted = wanted
        self.said = ""

    def run(self) -> None:
        """Connect."""
        target = self._wanted.target
        try:
            made = self._fabric.connect(self._wanted)
            disks = ", ".join(each.name for each in made.devices) or "no namespace"
            own = made.controller
            self.said = f"{own.name}: connected to {own.nqn} at {own.peer}: {disks}"
        except WaysealError as error:
            self.said = f"{target.nqn} at {target.address}: {error}"
        except Exception as error:  # noqa: BLE001 - a later step reports it, whatever it is
            self.said = f"{target.nqn} at {target.address}: {error!r}"


class Keeper:
    """Makes missing connections and mounts; reports each step and each failure.

    Args:
        kernel: Of the machine.
        root: Of its files, `/`.
        run: Runs nvme-cli, stat, umount and mount.
        clock: Seconds.
        answers: Checks that a target answers.
    """

    def __init__(
        self,
        kernel: Kernel,
        root: Path,
        run: Run,
        clock: Callable[[], float] = time.monotonic,
        answers: Callable[[Target], None] = answers,
    ) -> None:
        self._kernel = kernel
        self._root = root
        self._run = run
        self._clock = clock
        self._fabric = Fabric(kernel, root, run, answers)
        self._attempts: dict[Target, Attempt] = {}
        self._remounted: dict[Path, float] = {}
        self._asked_s: float | None = None

    @property
    def connecting(self) -> bool:
        """Return whether a connection is still being made."""
        return bool(self._attempts)

    def step(self) -> list[str]:
        """Make the saved connections that are missing, and mount our volumes that are not mounted.

        Connections are made side by side. One that takes longer than `CONNECT_TOGETHER_S` is
        reported by a later step.

        Returns:
            The steps that were done or failed, one sentence each.

        Raises:
            RejectedError: The file of connections is invalid.
            UnavailableError: A file cannot be read.
        """
        said = self._connected(saved(self._root))
        for point in kept_points(self._root):
            try:
                said += self._kept(point)
            except UnavailableError as error:
                said.append(f"{point}: {error}")
        return said

    def ask(self) -> list[str]:
        """Ask all drives for their health now and then, for programs that are not root.

        Returns:
            The failure, in words.
        """
        if self._asked_s is not None and self._clock() - self._asked_s < HEALTH_EVERY_S:
            return []
        self._asked_s = self._clock()
        try:
            found = devices(self._kernel, mounts(self._kernel))
            leave(found, ask(found, self._run), self._kernel)
        except UnavailableError as error:
            return [f"health of the drives: {error}"]
        return []

    def _connected(self, connections: tuple[WantedConnection, ...]) -> list[str]:
        """Start the connections that are missing; return what became of those that ended."""
        for each in connections:
            # If it is connecting, the kernel retries by itself; if it is another program's, it is
            # that program's to keep.
            if each.target in self._attempts or connection(each.target, self._kernel):
                continue
            self._attempts[each.target] = Attempt(self._fabric, each)
            self._attempts[each.target].start()
        until = time.monotonic() + CONNECT_TOGETHER_S
        for attempt in self._attempts.values():
            attempt.join(max(0.0, until - time.monotonic()))
        ended = [at for at, attempt in self._attempts.items() if not attempt.is_alive()]
        return [self._attempts.pop(at).said for at in ended]

    def _kept(self, point: Path) -> Iterator[str]:
        """Mount a volume that is not mounted; unmount a dead one first."""
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
        """Return why a mount will not recover by itself; empty if it may."""
        device = mount.device(self._kernel)
        if device is None:
            return f"its drive ({mount.gone}) is gone" if mount.on_device else ""
        stack = list(below(devices(self._kernel, mounted), device))
        if not any(_fabric(each) for each in stack) or any(each.lost for each in stack):
            # An operator should look at a failing local drive; a link that is down may come back.
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
