"""The kernel's NVMe-oF target, behind a cable that can be cut.

It listens in a network namespace; the cable is a pair of virtual interfaces. It has two ports, each
with an address: two controllers to the same drive.
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
SECOND: Final = "10.99.0.3"
SILENT: Final = "10.99.0.77"
"""What is sent there is lost without an answer."""
SERVICE: Final = "4420"
NQN: Final = "nqn.2024-01.org.example:wayseal-rig"
TARGET_SERIAL: Final = "RIGTARGET0"
FABRIC_SERIAL: Final = "RIGFABRIC0"
FABRIC_MODEL: Final = "Rig fabric drive"
_SUBSYSTEM: Final = NVMET / "subsystems" / NQN
_PORTS: Final = {NVMET / "ports/1": ADDRESS, NVMET / "ports/2": SECOND}
_HOST_NQN: Final = Path("/etc/nvme/hostnqn")


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
    """Plug the cable in again."""
    run("ip", "link", "set", "rig0", "up")


def enable(*, on: bool) -> None:
    """Put the namespace into the subsystem, or take it out."""
    set_attribute(_SUBSYSTEM / "namespaces/1/enable", "1" if on else "0")


def ana(port: int, state: str) -> None:
    """Let a port's controllers call the drive `optimized`, `inaccessible`, `change`, …"""
    set_attribute(NVMET / f"ports/{port}/ana_groups/1/ana_state", state)


@contextmanager
def protected(secret: str, ctrl_secret: str) -> Iterator[None]:
    """Admit this host alone, and only if it proves that it has a secret."""
    name = _HOST_NQN.read_text("ascii").strip()
    host, admitted = NVMET / "hosts" / name, _SUBSYSTEM / "allowed_hosts" / name
    host.mkdir()
    try:
        set_attribute(host / "dhchap_key", secret)
        set_attribute(host / "dhchap_ctrl_key", ctrl_secret)
        set_attribute(_SUBSYSTEM / "attr_allow_any_host", "0")
        admitted.symlink_to(host)
        yield
    finally:
        with suppress(FileNotFoundError):
            admitted.unlink()
        host.rmdir()


def _cable() -> None:
    run("ip", "netns", "add", NAMESPACE)
    run("ip", "link", "add", "rig0", "type", "veth", "peer", "name", "rig1", "netns", NAMESPACE)
    run("ip", "address", "add", f"{HOST_ADDRESS}/24", "dev", "rig0")
    run("ip", "link", "set", "rig0", "up")
    for address in _PORTS.values():
        run("ip", "-n", NAMESPACE, "address", "add", f"{address}/24", "dev", "rig1")
    nobody = ("lladdr", "02:00:00:00:00:77", "dev", "rig0", "nud", "permanent")
    run("ip", "neighbour", "add", SILENT, *nobody)
    run("ip", "-n", NAMESPACE, "link", "set", "rig1", "up")


def _subsystem(device: Path) -> None:
    _SUBSYSTEM.mkdir()
    set_attribute(_SUBSYSTEM / "attr_allow_any_host", "1")
    set_attribute(_SUBSYSTEM / "attr_serial", FABRIC_SERIAL)
    set_attribute(_SUBSYSTEM / "attr_model", FABRIC_MODEL)
    (_SUBSYSTEM / "namespaces/1").mkdir()
    set_attribute(_SUBSYSTEM / "namespaces/1/device_path", str(device))
    enable(on=True)


def _listen() -> None:
    for port, address in _PORTS.items():
        port.mkdir()
        settings = {"trtype": "tcp", "adrfam": "ipv4", "traddr": address, "trsvcid": SERVICE}
        for name, value in settings.items():
            set_attribute(port / f"addr_{name}", value)
        # The target listens in the network namespace of the process that creates this link.
        link = ("ln", "-s", _SUBSYSTEM, port / "subsystems" / NQN)
        run("nsenter", f"--net=/run/netns/{NAMESPACE}", *link)


def _take_down() -> None:
    for port in _PORTS:
        with suppress(FileNotFoundError):
            (port / "subsystems" / NQN).unlink()
    for made in (*_PORTS, _SUBSYSTEM / "namespaces/1", _SUBSYSTEM):
        with suppress(FileNotFoundError):
            made.rmdir()
    run("ip", "netns", "delete", NAMESPACE)


def set_attribute(attribute: Path, value: str) -> None:
    """Write an attribute of configfs or sysfs in one call, as the kernel wants it."""
    descriptor = os.open(attribute, os.O_WRONLY)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)
