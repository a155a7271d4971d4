"""Loop devices of this machine, with a file system or bare, as slow as a test wants them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.machine.mounts import run

_BLKIO = Path("/sys/fs/cgroup/blkio")


@contextmanager
def loop_device(image: Path, size_bytes: int) -> Iterator[Path]:
    """Make a loop device on a new file."""
    if os.geteuid():
        pytest.skip("loop devices need root")
    with image.open("wb") as made:
        made.truncate(size_bytes)
    command = ["losetup", "--find", "--show", "--direct-io=on", str(image)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        pytest.skip(f"no loop device here: {done.stderr.strip()}")
    device = Path(done.stdout.strip())
    try:
        yield device
    finally:
        run("losetup", "--detach", device)


def make_ext4(device: Path) -> None:
    """Make a file system on a device, all of it at once."""
    run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)


@contextmanager
def volume_on(point: Path, device: Path) -> Iterator[Path]:
    """Make an ext4 file system on a device and mount it."""
    make_ext4(device)
    with mounted_at(point, device):
        yield point


@contextmanager
def mounted_at(point: Path, device: Path) -> Iterator[Path]:
    """Mount what is on a device."""
    point.mkdir()
    run("mount", device, point)
    try:
        yield point
    finally:
        run("umount", point)


@contextmanager
def throttled(device: Path, bytes_per_s: int) -> Iterator[None]:
    """Let this process and what it starts use a device at so many bytes per second each way."""
    group = _BLKIO / f"wayseal-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup of version 1 that limits devices here: {error}")
    number = os.stat(device).st_rdev  # noqa: PTH116 - of the device's file
    limit = f"{os.major(number)}:{os.minor(number)} {bytes_per_s}"
    try:
        for way in ("read", "write"):
            (group / f"blkio.throttle.{way}_bps_device").write_text(limit)
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (_BLKIO / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()
