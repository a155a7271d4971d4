"""The machine's drives: found by serial number, given a file system, mounted by its UUID."""

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


def format_drive(device: Path, kind: str) -> None:
    """Make a file system."""
    run(*MAKERS[kind], device)


def remount(at: Path) -> None:
    """Mount anew what /etc/fstab says."""
    unmount(at)
    run("mount", at)


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
