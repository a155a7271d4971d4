"""The machine's drives: found by serial number, given a file system, mounted by its UUID."""

from pathlib import Path
from typing import Final

from rig.guest.commands import CommandError, run, until

BLOCK: Final = Path("/sys/block")
SERIALS: Final = ("device/serial", "device/vpd_pg80", "serial")
"""Where the kernel shows the serial number of NVMe, of SATA and USB, and of virtio."""
MAKERS: Final = {
    "ext4": ("mkfs.ext4", "-q", "-F", "-E", "nodiscard"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K"),
}


def drive(serial: str) -> Path:
    """Wait for the drive with that serial number; return its block device."""
    until(f"a drive with serial {serial}", lambda: _find(serial) is not None)
    found = _find(serial)
    assert found is not None
    return Path("/dev") / found.name


def present(serial: str) -> bool:
    """Return whether the kernel knows a drive with that serial number."""
    return _find(serial) is not None


def format_drive(device: Path, kind: str) -> None:
    """Create a file system."""
    run(*MAKERS[kind], device)


def remount(at: Path) -> None:
    """Unmount a directory, and mount it again as /etc/fstab says."""
    unmount(at)
    run("mount", at)


def unmount(at: Path) -> None:
    """Unmount a directory, lazily if its drive is gone."""
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
