"""An NVMe-oF target of the kernel's own, behind a cable that can be cut.

It listens in a network namespace; the cable is a pair of virtual interfaces.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from rig.guest.commands import run
from rig.guest.drives import drive

NVMET: Final = Path("/sys/kernel/config/nvmet")
NAMESPACE: Final = "target"
HOST_ADDRESS: Final = "10.99.0.1"
ADDRESS: Final = "10.99.0.2"
SERVICE: Final = "4420"
NQN: Final = "nqn.2024-01.org.example:wayseal-rig"
TARGET_SERIAL: Final = "RIGTARGET0"
FABRIC_SERIAL: Final = "RIGFABRIC0"
FABRIC_MODEL: Final = "Rig fabric drive"
_SUBSYSTEM: Final = NVMET / "subsystems" / NQN
_PORT: Final = NVMET / "ports/1"


@contextmanager
def target() -> Iterator[None]:
    """Run a target with one subsystem, whose namespace is one of the machine's drives."""
    _cable()
    try:
        _subsystem(drive(TARGET_SERIAL))
        _listen()
        yield
    finally:
        _take_down()


def cut() -> None:
    """Cut the cable."""
    run("ip", "link", "set", "rig0", "down")


def mend() -> None:
    """Mend the cable."""
    run("ip", "link", "set", "rig0", "up")


def enable(*, on: bool) -> None:
    """Put the namespace into the subsystem, or take it out."""
    _write(_SUBSYSTEM / "namespaces/1/enable", "1" if on else "0")


def _cable() -> None:
    run("ip", "netns", "add", NAMESPACE)
    run("ip", "link", "add", "rig0", "type", "veth", "peer", "name", "rig1", "netns", NAMESPACE)
    run("ip", "address", "add", f"{HOST_ADDRESS}/24", "dev", "rig0")
    run("ip", "link", "set", "rig0", "up")
    run("ip", "-n", NAMESPACE, "address", "add", f"{ADDRESS}/24", "dev", "rig1")
    run("ip", "-n", NAMESPACE, "link", "set", "rig1", "up")


def _subsystem(device: Path) -> None:
    _SUBSYSTEM.mkdir()
    _write(_SUBSYSTEM / "attr_allow_any_host", "1")
    _write(_SUBSYSTEM / "attr_serial", FABRIC_SERIAL)
    _write(_SUBSYSTEM / "attr_model", FABRIC_MODEL)
    (_SUBSYSTEM / "namespaces/1").mkdir()
    _write(_SUBSYSTEM / "namespaces/1/device_path", str(device))
    enable(on=True)


def _listen() -> None:
    _PORT.mkdir()
    settings = {"trtype": "tcp", "adrfam": "ipv4", "traddr": ADDRESS, "trsvcid": SERVICE}
    for name, value in settings.items():
        _write(_PORT / f"addr_{name}", value)
    # The socket opens in the network of whoever makes this link.
    link = ("ln", "-s", _SUBSYSTEM, _PORT / "subsystems" / NQN)
    run("nsenter", f"--net=/run/netns/{NAMESPACE}", *link)


def _take_down() -> None:
    with suppress(FileNotFoundError):
        (_PORT / "subsystems" / NQN).unlink()
    for made in (_PORT, _SUBSYSTEM / "namespaces/1", _SUBSYSTEM):
        with suppress(FileNotFoundError):
            made.rmdir()
    run("ip", "netns", "delete", NAMESPACE)


def _write(attribute: Path, value: str) -> None:
    descriptor = os.open(attribute, os.O_WRONLY)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)
