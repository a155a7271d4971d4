"""The machine's drives: found by serial number, given a file system, mounted by its UUID."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rig.guest.commands import CommandError, run, until

BLOCK: Final = Path("/sys/block")
SERIALS: Final = ("device/serial", "device/vpd_pg80", "serial")
"""Where the kernel shows it: of NVMe, of SATA and USB, of virtio."""
MAKERS: Final = {
    "ext4": ("mkfs.ext4", "-q", "-F", "-E", "nodiscard"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K"),
}


def drive(serial: str) -> Path:
    """Return the block device of the drive with that serial number, once it is there."""
    until(f"a drive with serial {serial}", lambda: _find(serial) is not None)
    found = _find(serial)
    assert found is not None
    return Path("/dev") / found.name


def present(serial: str) -> bool:
    """Say whether the kernel knows a drive with that serial number."""
    return _find(serial) is not None


def format_drive(device: Path, kind: str) -> str:
    """Make a file system; return its UUID."""
    run(*MAKERS[kind], device)
    return run("blkid", "-p", "-s", "UUID", "-o", "value", device).strip()


@contextmanager
def mounted(uuid: str, at: Path) -> Iterator[Path]:
    """Mount the file system with that UUID; unmount it at the end, gone or not."""
    at.mkdir(parents=True, exist_ok=True)
    run("mount", "-U", uuid, at)
    try:
        yield at
    finally:
        unmount(at)


def remount(uuid: str, at: Path) -> None:
    """Mount a file system anew that has given up."""
    unmount(at)
    run("mount", "-U", uuid, at)


def unmount(at: Path) -> None:
    """Unmount; where the drive is gone, let go of it."""
    try:
        run("umount", at, limit_s=20)
    except CommandError:
        run("umount", "-l", at)


def _find(serial: str) -> Path | None:
    for device in BLOCK.iterdir():
        hidden = _read(device / "hidden").strip() == b"1"  # one path of several to an NVMe drive
        if not hidden and any(serial.encode() in _read(device / name) for name in SERIALS):
            return device
    return None


def _read(attribute: Path) -> bytes:
    try:
        return attribute.read_bytes()
    except OSError:
        return b""
