"""The machine's drives, as the project reports them."""

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rig.guest import fabric
from rig.guest.commands import run
from rig.guest.product import wayseal
from rig.guest.scenario import Scenario
from rig.guest.scenarios.fabric import connected

LOOPED: Final = Path("/run/looped.img")
INTERFACES: Final = {
    "RIGNVME0": "nvme-pcie",
    "RIGSSD0": "sata-ssd",
    "RIGHDD0": "sata-hdd",
    "RIGUSB0": "usb",
    "RIGTARGET0": "virtio",
    fabric.FABRIC_SERIAL: "nvme-tcp",
}
HEALTHY: Final = ("RIGNVME0", "RIGSSD0", "RIGHDD0")
"""QEMU's drives that keep a SMART log of their own."""


def _interfaces() -> str:
    with connected(), _looped():
        seen = json.loads(wayseal("volumes", "--json"))
    devices: list[dict[str, Any]] = seen["devices"]
    by_serial = {each["serial"]: each for each in devices if each["serial"]}
    found = {serial: by_serial[serial]["interface"] for serial in INTERFACES}
    assert found == INTERFACES, found
    assert any(each["interface"] == "loop" for each in devices), devices
    verdicts = {serial: by_serial[serial]["health"] for serial in HEALTHY}
    assert {each["verdict"] for each in verdicts.values()} == {"ok"}, verdicts
    warmth = ", ".join(str(each["temperature_c"]) for each in verdicts.values())
    return (
        f"Linux {platform.release()}, Python {platform.python_version()}; "
        f"{', '.join(INTERFACES.values())} and loop told apart; "
        f"NVMe and SATA report good health, at {warmth} degrees"
    )


@contextmanager
def _looped() -> Iterator[None]:
    LOOPED.touch()
    os.truncate(LOOPED, 1 << 20)
    device = run("losetup", "--find", "--show", LOOPED).strip()
    try:
        yield
    finally:
        run("losetup", "--detach", device)


INTERFACES_TOLD: Final = Scenario("interfaces", _interfaces)
