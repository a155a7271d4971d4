"""Real file systems for tests that may mount them: small, full, frozen, read-only, gone."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.trucks.rogue import until

_REPAIRED = 1
"""Exit code of e2fsck."""
_CHUNK = 1 << 16


def run(*command: str | Path) -> None:
    """Run a system command; raise if it fails."""
    subprocess.run([*map(str, command)], check=True, capture_output=True)  # noqa: S603


def run_when_idle(*command: str | Path) -> None:
    """Run a command again until no open file makes the kernel refuse it."""

    def runs() -> bool:
        done = subprocess.run([*map(str, command)], check=False, capture_output=True)  # noqa: S603
        return done.returncode == 0

    until(" ".join(map(str, command)), runs)


@contextmanager
def tmpfs(path: Path, size: str) -> Iterator[Path]:
    """Mount a file system in memory; it may be gone at the end."""
    _mount(path, "-t", "tmpfs", "-o", f"size={size}", "none", path)
    try:
        yield path
    finally:
        if os.path.ismount(path):
            run("umount", "--lazy", path)


@contextmanager
def ext4(path: Path, size_bytes: int) -> Iterator[Path]:
    """Mount an ext4 file system from an image beside the path; it may be gone at the end."""
    image = path.with_name(f"{path.name}.img")
    with image.open("wb") as file:
        file.truncate(size_bytes)
    run("mkfs.ext4", "-q", image)
    _mount(path, "-o", "loop", image, path)
    try:
        yield path
    finally:
        if os.path.ismount(path):
            run("umount", "--lazy", path)


def let_fail(path: Path) -> None:
    """Have the kernel find an error in an ext4 file system: it lets nobody write there any more."""
    run("mount", "-o", "remount,errors=remount-ro", path)
    found = subprocess.run(  # noqa: S603
        ["findmnt", "-no", "SOURCE", str(path)],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    )
    device = Path(found.stdout.strip()).name
    Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("1")


def mount_again(path: Path) -> None:
    """Repair and mount the image of `ext4` again, as a reboot does.

    A copy of it: a process in a mount namespace of its own, of another test or a container, may
    keep the old mount, and the kernel would mount the image with the error that it has there.
    """
    run_when_idle("umount", path)
    image = path.with_name(f"{path.name}.again")
    run("cp", path.with_name(f"{path.name}.img"), image)
    done = subprocess.run(  # noqa: S603
        ["e2fsck", "-p", str(image)],  # noqa: S607
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, _REPAIRED), done.stdout
    run("mount", "-o", "loop", image, path)


@contextmanager
def frozen(path: Path) -> Iterator[None]:
    """Let every write stall without an error, as a lost NVMe-oF link does."""
    run("fsfreeze", "--freeze", path)
    try:
        yield
    finally:
        run("fsfreeze", "--unfreeze", path)


def _mount(path: Path, *options: str | Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    path.mkdir()
    command = ["mount", *map(str, options)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode != 0:
        pytest.skip(f"this machine does not let a container mount: {done.stderr.strip()}")


def fill(filler: Path) -> None:
    """Leave no room on a disk."""
    with filler.open("wb", buffering=0) as file:
        for size in (_CHUNK, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
