"""Adapter: a DS18B20 on the 1-Wire bus, behind the kernel's driver w1_therm.

Source: the kernel's Documentation/w1/slaves/w1_therm: `temperature` in thousandths of a degree
Celsius; the kernel checks the CRC. Maxim DS18B20, table 1: 85 degrees Celsius is what the chip
holds after power-up, before it has measured.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError, UnavailableError
from device.live.drivers.sysfs import number
from device.live.port import Measured

ROOT: Final = Path("/sys/bus/w1/devices")
_NOT_MEASURED_MCEL: Final = 85_000


@dataclass(frozen=True, slots=True)
class OneWireSensor:
    """One chip, by the folder of its serial number.

    Attributes:
        folder: Such as `/sys/bus/w1/devices/28-0316a2795cff`.
    """

    folder: Path

    @classmethod
    def find(cls, serial: str, root: Path = ROOT) -> Self:
        """Return the chip with that serial number, or the only one if `serial` is empty.

        Raises:
            UnavailableError: The bus has no such chip, or several of which one has to be named.
        """
        there = sorted(each.name for each in root.glob("28-*"))
        named = [serial] if serial else there
        if len(named) != 1 or named[0] not in there:
            wanted = f"chip {serial}" if serial else "one chip, or `chip` with its serial number"
            raise UnavailableError(
                f"{root}: expected {wanted}, got {', '.join(there) or 'no DS18B20'}"
            )
        return cls(root / named[0])

    def measure(self) -> Measured:
        """See `Sensor.measure`."""
        value = round(number(self.folder / "temperature"))
        if value == _NOT_MEASURED_MCEL:
            raise RejectedError(
                f"{self.folder.name}: 85 degrees Celsius is what the chip holds before it has "
                f"measured; check its supply and the pull-up resistor"
            )
        return Measured({"temperature_mcel": value})

    def close(self) -> None:
        """See `Sensor.close`."""
