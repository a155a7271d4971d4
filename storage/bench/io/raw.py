"""A whole device without a file system as a target: everything on it is lost.

This needs the name of the device twice, and a device that is not in use.
"""

import argparse
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import disk_errors
from storage.bench.io.ground import Ground
from storage.drives.devices import Device, below, devices
from storage.drives.kernel import Kernel, names
from storage.drives.mounts import mounts
from storage.drives.tools import run_tool

BLKID_TIMEOUT_S: Final = 30
PURGE_TIMEOUT_S: Final = 3600
_NOTHING_FOUND: Final = 2
"""Exit status of blkid. Source: blkid(8)."""


def add_raw_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that destroy data."""
    add = parser.add_argument
    add(
        "--raw",
        type=Path,
        metavar="DEVICE",
        help="also measure a whole device: ALL DATA ON IT ARE LOST",
    )
    add("--i-mean-it", type=Path, metavar="DEVICE", help="the same device again")
    add("--purge", action="store_true", help="discard all of the raw device first (blkdiscard)")


@contextmanager
def held(options: argparse.Namespace) -> Iterator[Ground | None]:
    """Hold the raw device of the options open, so that it cannot be mounted; None without one.

    Raises:
        RejectedError: The device was not named twice, is in use or is not empty.
        UnavailableError: The device cannot be opened.
    """
    if options.raw is None:
        if options.i_mean_it is not None or options.purge:
            raise RejectedError("expected --raw DEVICE with --i-mean-it and --purge, got no --raw")
        yield None
        return
    if options.i_mean_it != options.raw:
        raise RejectedError(
            f"expected --i-mean-it {options.raw} with --raw {options.raw}, all on it will be lost; "
            f"got {options.i_mean_it}"
        )
    ground = _ground(options.raw)
    with disk_errors("open for us alone", ground.place):
        descriptor = os.open(ground.place, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
    try:
        yield ground
    finally:
        os.close(descriptor)


def purge(device: Path) -> None:
    """Discard everything on a device, which must be held.

    Raises:
        UnavailableError: The device refuses.
    """
    # Without --force blkdiscard refuses a device that is held, by this process too.
    said = run_tool(("blkdiscard", "--force", str(device)), PURGE_TIMEOUT_S)
    if said.status:
        raise UnavailableError(f"cannot purge {device}: {said.complaint}")


def _ground(named: Path) -> Ground:
    """Return the device as a target, if it is safe to overwrite all of it."""
    device = named.resolve()
    if not device.exists() or not stat.S_ISBLK(device.stat().st_mode):
        raise RejectedError(f"expected a block device, got {named}")
    kernel = Kernel()
    mounted = mounts(kernel)
    every = devices(kernel, mounted)
    known = {each.name: each for each in every}
    if device.name not in known:
        raise RejectedError(f"expected a block device with something behind it, got {named}")
    for mount in mounted:
        used = mount.device(kernel)
        if used and any(each.name == device.name for each in below(every, used)):
            raise RejectedError(f"{named} is in use: {mount.point} is mounted from it")
    _check(known[device.name], every, kernel)
    drives = tuple(below(every, device.name))
    return Ground(device.name, device, drives)


def _check(device: Device, every: tuple[Device, ...], kernel: Kernel) -> None:
    upon = [each.name for each in every if device.name in each.stands_on]
    upon += names(kernel.block(device.name) / "holders")
    if upon:
        raise RejectedError(f"/dev/{device.name} is in use: {', '.join(upon)} stand on it")
    if device.read_only:
        raise RejectedError(f"/dev/{device.name} is read-only")
    said = run_tool(("blkid", "--probe", f"/dev/{device.name}"), BLKID_TIMEOUT_S)
    if said.status != _NOTHING_FOUND:
        raise RejectedError(f"expected nothing on /dev/{device.name}, blkid says: {said.complaint}")
