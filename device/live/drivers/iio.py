"""Adapter: sensors behind the kernel's industrial I/O drivers, such as BME280, HTS221 and LPS25H.

The kernel reads the chip's calibration and compensates; we read what it computed. Source: the
kernel's Documentation/ABI/testing/sysfs-bus-iio: `in_temp_input` in thousandths of a degree
Celsius, `in_humidityrelative_input` in thousandths of a percent, `in_pressure_input` in
kilopascal. A driver that gives `_raw` only is `(raw + offset) * scale` in the same unit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from contracts.errors import UnavailableError
from device.live.drivers.sysfs import chip, number
from device.live.port import Measured

ROOT: Final = Path("/sys/bus/iio/devices")
_PA_PER_KPA: Final = 1_000
_CHANNELS: Final[Mapping[str, tuple[str, int]]] = {
    "temperature_mcel": ("in_temp", 1),
    "humidity_mpct": ("in_humidityrelative", 1),
    "pressure_pa": ("in_pressure", _PA_PER_KPA),
}


@dataclass(frozen=True, slots=True)
class IioSensor:
    """One chip, by the folder of its driver.

    Attributes:
        folder: Such as `/sys/bus/iio/devices/iio:device0`.
    """

    folder: Path

    @classmethod
    def find(cls, name: str, root: Path = ROOT) -> Self:
        """Return the chip whose driver calls it `name`, such as `bme280`.

        Raises:
            UnavailableError: No chip has that name.
        """
        return cls(chip("iio:device*", name, root))

    def measure(self) -> Measured:
        """See `Sensor.measure`."""
        found = {
            quantity: round(self._value(channel) * factor)
            for quantity, (channel, factor) in _CHANNELS.items()
            if self._has(channel)
        }
        if not found:
            raise UnavailableError(f"{self.folder}: gives no temperature, humidity or pressure")
        return Measured(found)

    def close(self) -> None:
        """See `Sensor.close`."""

    def _has(self, channel: str) -> bool:
        return any((self.folder / f"{channel}_{form}").exists() for form in ("input", "raw"))

    def _value(self, channel: str) -> float:
        ready = self.folder / f"{channel}_input"
        if ready.exists():
            return number(ready)
        raw = number(self.folder / f"{channel}_raw")
        offset = self.folder / f"{channel}_offset"
        shift = number(offset) if offset.exists() else 0.0
        return (raw + shift) * number(self.folder / f"{channel}_scale")
