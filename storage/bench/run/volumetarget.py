"""A directory to measure in, with its drives and how they are attached."""

import argparse
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError
from storage.bench.run.directories import workplace
from storage.drives.devices import Device, below, devices
from storage.drives.kernel import Kernel
from storage.drives.mounts import mounts
from storage.drives.standing import standing

NO_DEVICE: Final = "none"
"""Interface of a directory without a block device: memory, a network file system."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


@dataclass(frozen=True, slots=True)
class VolumeTarget:
    """One of the volumes that are compared.

    Attributes:
        work: Empty at the start; removed at the end.
        interface: One word, see docs/storage.md: `nvme-tcp`, `sata-ssd`, `virtio`, ….
        drives: From the directory's own device down to the drives.
    """

    name: str
    directory: Path
    work: Path
    interface: str
    filesystem: str
    mount_options: tuple[str, ...]
    drives: tuple[Device, ...] = field(default=())

    @property
    def bottom(self) -> tuple[Device, ...]:
        """Return the drives at the bottom: they wear."""
        return tuple(drive for drive in self.drives if not drive.stands_on)

    @property
    def described(self) -> dict[str, Any]:
        """Return the target as a result describes it."""
        return {
            "name": self.name,
            "kind": "volume",
            "interface": self.interface,
            "directory": str(self.directory),
            "filesystem": self.filesystem,
            "mount_options": list(self.mount_options),
            "drives": [asdict(drive) for drive in self.drives],
        }


def named_directory(text: str) -> tuple[str, Path]:
    """Read NAME=DIRECTORY, for argparse."""
    name, _, directory = text.partition("=")
    if not _NAME.fullmatch(name) or not directory:
        raise argparse.ArgumentTypeError(
            f"expected NAME=DIRECTORY with a name of a-z, 0-9, '.', '_' and '-', got {text!r}"
        )
    return name, Path(directory).absolute()


@contextmanager
def volume_targets(chosen: Sequence[tuple[str, Path]]) -> Iterator[tuple[VolumeTarget, ...]]:
    """Make a workplace on each target, and remove it at the end.

    Raises:
        RejectedError: A name or a directory is given twice, or a path is not a directory.
        UnavailableError: Another run works there, or the medium failed.
    """
    names = [name for name, _ in chosen]
    places = [str(directory.resolve()) for _, directory in chosen]
    for what, given in (("name", names), ("directory", places)):
        if len(set(given)) < len(given):
            raise RejectedError(f"expected targets with a {what} each, got {', '.join(given)}")
    with ExitStack() as stack:
        yield tuple(
            _target(name, directory, stack.enter_context(workplace(directory)))
            for name, directory in chosen
        )


def _target(name: str, directory: Path, work: Path) -> VolumeTarget:
    kernel = Kernel()
    mounted = mounts(kernel)
    stands = standing(name, directory.resolve(), kernel, mounted, None)
    if stands.mount is None:
        raise RejectedError(f"target {name}: expected a mounted file system, {stands.problem}")
    drives = tuple(below(devices(kernel, mounted), stands.device))
    return VolumeTarget(
        name,
        directory,
        work,
        drives[0].interface if drives else NO_DEVICE,
        stands.mount.filesystem,
        tuple(stands.mount.options),
        drives,
    )
