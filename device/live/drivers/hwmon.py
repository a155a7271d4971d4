"""Adapter: sensors behind the kernel's hardware monitoring drivers, such as SHT3x and 1-Wire.

Source: the kernel's Documentation/hwmon/sysfs-interface: `temp1_input` in thousandths of a degree
Celsius, `humidity1_input` in thousandths of a percent.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from device.live.drivers.sysfs import chip, number
from device.live.port import Measured

ROOT: Final = Path("/sys/class/hwmon")


@dataclass(frozen=True, slots=True)
class HwmonSensor:
    """One chip, by the folder of its driver.

    Attributes:
        folder: Such as `/sys/class/hwmon/hwmon2`.
    """

    folder: Path

    @classmethod
    def find(cls, name: str, root: Path = ROOT) -> Self:
        """Return the chip whose driver calls it `name`, such as `sht3x`.

        Raises:
            UnavailableError: No chip has that name.
        """
        return cls(chip("hwmon*", name, root))

    def measure(self) -> Measured:
        """See `Sensor.measure`."""
        humidity = self.folder / "humidity1_input"
        found = {"temperature_mcel": round(number(self.folder / "temp1_input"))}
        if humidity.exists():
            found["humidity_mpct"] = round(number(humidity))
        return Measured(found)

    def close(self) -> None:
        """See `Sensor.close`."""
