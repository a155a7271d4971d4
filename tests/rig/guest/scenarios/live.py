"""A truck's sensor and camera behind the kernel's own drivers: registers of a BME280, and vivid."""

import shutil
import signal
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from smbus2 import SMBus

from contracts.runtime.files import PART_PREFIX
from device.live.healthfile import known
from rig.guest.commands import run, until
from rig.guest.scenario import Scenario
from support.network.world import key
from support.trucks.bme280 import ADDRESS, COLD, WARM, Weather, identity, measured
from support.trucks.truck import Truck

MODULES: Final = Path("/modules/later")
PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "i2c-stub.ko": (f"chip_addr={ADDRESS:#x}",),
    "vivid.ko": ("n_devs=1", "node_types=0x1", "num_inputs=1", "input_types=0"),
}
BUSES: Final = Path("/sys/bus/i2c/devices")
IIO: Final = Path("/sys/bus/iio/devices")
CAMERA: Final = Path("/sys/bus/platform/drivers/vivid")
PICTURE: Final = "vivid.0"
FOLDER: Final = Path("/tmp/live")  # noqa: S108 - the machine is ours alone
PRESENCE: Final = FOLDER / "presence"
RESULTS: Final = Path("/results")
KEPT: Final = "live-truck"
LIMIT_S: Final = 240
"""Emulated, the agent's packages take a minute to import."""
READINGS: Final = 3
SECTIONS: Final = (
    '[source]\ndriver = "sensors"\n'
    f'[presence]\nby = "file"\nfile = "{PRESENCE}"\ndebounce_s = 1\n'
    '[[sensors]]\nname = "cargo"\ndriver = "iio"\nchip = "bme280"\n'
    '[[cameras]]\nname = "dock"\ndriver = "v4l2"\ndevice = "/dev/video0"\n'
    "width = 320\nheight = 180\npictures_per_s = 5\nstill_pictures_per_s = 5\nsegment_s = 5\n"
)
NOWHERE: Final = {
    "WAYSEAL_GATEWAY__MQTT": "127.0.0.1:1",
    "WAYSEAL_GATEWAY__REST": "http://127.0.0.1:1",
    "WAYSEAL_GATEWAY__TOKEN": "none",
    "WAYSEAL_GATEWAY__PUBLIC_KEYS": key("site-b").public_key,
    "WAYSEAL_GATEWAY__GENESIS_BLOCK_ID": "0" * 128,
}
"""No gateway is in reach; the host offloads the trip afterwards."""


class Chip:
    """The registers of a BME280 on the kernel's stub of a bus, which may be plugged in."""

    def __init__(self) -> None:
        names = {each: (each / "name").read_text().strip() for each in BUSES.glob("i2c-*")}
        (self._bus,) = (each for each, name in names.items() if name.startswith("SMBus stub"))
        self._write(identity())

    def measures(self, weather: Weather) -> None:
        self._write(measured(weather))

    def plug(self) -> None:
        (self._bus / "new_device").write_text(f"bme280 {ADDRESS:#x}\n")

    def unplug(self) -> None:
        (self._bus / "delete_device").write_text(f"{ADDRESS:#x}\n")

    def _write(self, registers: Mapping[int, int]) -> None:
        number = int(self._bus.name.removeprefix("i2c-"))
        with SMBus(number, force=True) as bus:  # its driver has it, we are the chip
            for register, value in registers.items():
                bus.write_byte_data(ADDRESS, register, value)


class Drive:
    """What the agent has recorded, looked at from outside."""

    def __init__(self, truck: Truck) -> None:
        self._truck = truck

    def until(self, what: str, health: Mapping[str, str]) -> None:
        """Wait until sensor and camera are said to be so, and some readings more are there."""

        def is_so() -> bool:
            found = known(self._truck.data)
            return all(found.get(each, {}).get("health") == how for each, how in health.items())

        until(what, is_so, LIMIT_S)
        before = self.readings()
        until(f"readings: {what}", lambda: self.readings() >= before + READINGS, LIMIT_S)

    def readings(self) -> int:
        return sum(readings for _, readings in self._trips())

    def is_sealed(self) -> bool:
        return [state for state, _ in self._trips()] == ["sealed"]

    def segments(self) -> int:
        found = self._truck.data.glob("videos/*/dock-*.mp4")
        return sum(not each.name.startswith(PART_PREFIX) for each in found)

    def _trips(self) -> list[tuple[str, int]]:
        journal = sqlite3.connect(self._truck.data / "journal.sqlite", timeout=LIMIT_S)
        try:
            return journal.execute("SELECT state, readings FROM trips").fetchall()
        finally:
            journal.close()


def _filmed() -> str:
    for name in (MODULES / "order").read_text().split():
        run("insmod", MODULES / name, *PARAMETERS.get(name, ()))
    chip = Chip()
    chip.measures(COLD)
    chip.plug()
    until("the kernel's driver knows the chip", lambda: _names() == ["bme280"])
    FOLDER.mkdir()
    _say("present")
    truck, said = Truck(FOLDER / "truck", SECTIONS, NOWHERE), list[str]()
    truck.run("init")
    drive = Drive(truck)
    with truck.start("run") as agent:
        assert agent.stderr is not None
        reader = threading.Thread(target=said.extend, args=[agent.stderr], daemon=True)
        reader.start()
        try:
            _say("absent")
            drive.until("all works", {"cargo": "works", "dock": "works"})
            until("two segments", lambda: drive.segments() > 1, LIMIT_S)
            chip.measures(WARM)
            drive.until("it is warm", {"cargo": "works"})
            chip.unplug()
            drive.until("the sensor is gone", {"cargo": "lost"})
            chip.plug()
            (CAMERA / "unbind").write_text(PICTURE)
            drive.until("only the camera is gone", {"cargo": "works", "dock": "lost"})
            (CAMERA / "bind").write_text(PICTURE)
            drive.until("all works again", {"cargo": "works", "dock": "works"})
            _say("present")
            until("the trip is sealed", drive.is_sealed, LIMIT_S)
        finally:
            agent.send_signal(signal.SIGTERM)
            agent.wait(LIMIT_S)
            (RESULTS / "live.log").write_text("".join(said))
    shutil.copytree(truck.folder, RESULTS / KEPT)
    return (
        f"{drive.readings()} readings and {drive.segments()} segments by the kernel's bmp280 over "
        f"i2c-stub and by vivid's /dev/video0, both unplugged and plugged in again"
    )


def _names() -> list[str]:
    return [(each / "name").read_text().strip() for each in IIO.glob("iio:device*")]


def _say(word: str) -> None:
    part = PRESENCE.with_suffix(".part")
    part.write_text(word)
    part.rename(PRESENCE)


def _verified(results: Path) -> str:
    """Offload the trip to a gateway, and judge it by its evidence."""
    from rig.verdicts import verdict_of  # noqa: PLC0415 - the machine has no gateway's packages

    with TemporaryDirectory() as folder:
        kept = shutil.copytree(results / KEPT, Path(folder) / KEPT)
        return verdict_of(Truck(kept), Path(folder))


FILMED: Final = Scenario("truck-live", _filmed, limit_s=1200, after=_verified)
