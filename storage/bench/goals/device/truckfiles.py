"""The files of the measured truck: its settings, a log of readings, and its sensors' files."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.runtime.files import OWNER_ONLY, make_directory
from storage.bench.trucks.fleet import key

DEVICE: Final = "bench-truck"
_HEAD: Final = "Date/Time,Latitude,Longitude,Temperature,Humidity,Pressure\n"
_NOWHERE: Final = "127.0.0.1:9"
"""No gateway is near: the port of `discard`, where nothing listens."""


@dataclass(frozen=True, slots=True)
class TruckFiles:
    """The files of one truck.

    Attributes:
        directory: For settings and sources.
        card: Folder of its data: its card.
    """

    directory: Path
    card: Path

    @property
    def settings(self) -> Path:
        """Return the settings file."""
        return self.directory / "device.toml"

    @property
    def log(self) -> Path:
        """Return the log that is replayed."""
        return self.directory / "log.csv"

    @property
    def chips(self) -> Path:
        """Return what its kernel would show at /sys/class."""
        return self.directory / "class"

    def replaying(self, readings: int, speed: str) -> None:
        """Write the settings of an agent that replays so many readings, one for each second."""
        self._settings(f'driver = "replay"\nreadings = "{self.log}"\nspeed = "{speed}"\n')
        self._log(readings)

    def measuring(self, gpsd: str) -> None:
        """Write the settings of an agent on the road: receiver, thermometer and door, at 1 Hz."""
        chip = self.chips / "hwmon" / "hwmon0"
        make_directory(chip)
        for name, text in {
            "name": "sht3x",
            "temp1_input": "4500",
            "humidity1_input": "61200",
        }.items():
            (chip / name).write_text(f"{text}\n")
        presence = self.directory / "presence"
        presence.write_text("absent")
        self._settings(
            'driver = "sensors"\n'
            f'[presence]\nby = "file"\nfile = "{presence}"\ndebounce_s = 0\n'
            f'[[sensors]]\nname = "gps"\ndriver = "gpsd"\ngpsd = "{gpsd}"\n'
            '[[sensors]]\nname = "cargo"\ndriver = "hwmon"\nchip = "sht3x"\n'
            '[[sensors]]\nname = "door"\ndriver = "gpio"\npin = 17\nsign = "door-open"\n'
        )

    def _settings(self, source: str) -> None:
        make_directory(self.directory)
        self.settings.touch(OWNER_ONLY)
        self.settings.write_text(
            f'device_id = "{DEVICE}"\ndata = {json.dumps(str(self.card / "data"))}\n'
            '[trip]\norigin_site = "site-a"\ndestination_site = "site-b"\ndeliveries = ["order"]\n'
            f'[[gateways]]\nsite_id = "site-b"\nmqtt = "{_NOWHERE}"\nrest = "http://{_NOWHERE}"\n'
            f'public_keys = ["{key("gateway").public_key}"]\n'
            f"[source]\n{source}"
        )

    def _log(self, readings: int) -> None:
        with self.log.open("w", encoding="ascii") as file:
            file.write(_HEAD)
            for number in range(readings):
                minute, second = divmod(number, 60)
                hour, minute = divmod(minute, 60)
                file.write(
                    f"2022-01-31 {hour:02d}:{minute:02d}:{second:02d},47.{number:06d},15.4,"
                    f"{4 + number % 30 / 10:.1f},50.{number % 7},1013.{number % 10}\n"
                )
