"""The table of drivers: how the sensors of the settings are opened."""

from collections.abc import Callable, Mapping
from typing import Final

from contracts.records.reading import Tamper
from device.live.drivers.gpio import GpioSensor
from device.live.drivers.gps import GpsSensor
from device.live.drivers.hwmon import HwmonSensor
from device.live.drivers.iio import IioSensor
from device.live.drivers.lsm9ds1 import KnockSensor, poll_s
from device.live.drivers.onewire import OneWireSensor
from device.live.drivers.sensehat import SenseHat
from device.live.port import Sensor
from device.live.source import Connection
from device.live.watch import WatchPlan
from device.settings_live import SensorSettings

LATE_LEAST_S: Final = 5.0
LATE_TIMES: Final = 3
"""So many questions without an answer, and a sensor hangs."""


def _gpio(sensor: SensorSettings) -> Sensor:
    sign = Tamper[(sensor.sign or "").replace("-", "_").upper()]
    return GpioSensor(sensor.pin or 0, sign, active_high=sensor.active == "high")


def _lsm9ds1(sensor: SensorSettings) -> Sensor:
    return KnockSensor(sensor.bus, sensor.address, sensor.rate_hz, sensor.shock_mg)


DRIVERS: Final[Mapping[str, Callable[[SensorSettings], Sensor]]] = {
    "iio": lambda sensor: IioSensor.find(sensor.chip or ""),
    "hwmon": lambda sensor: HwmonSensor.find(sensor.chip or ""),
    "1-wire": lambda sensor: OneWireSensor.find(sensor.chip or ""),
    "gpsd": lambda sensor: GpsSensor(sensor.gpsd),
    "gpio": _gpio,
    "lsm9ds1": _lsm9ds1,
    "sense-hat": lambda sensor: SenseHat(sensor.bus),
}


def connection(sensor: SensorSettings) -> Connection:
    """Return how a sensor of the settings is asked and opened; it is not opened yet."""
    offsets = {
        "temperature_mcel": sensor.offset_mcel,
        "humidity_mpct": sensor.offset_mpct,
        "pressure_pa": sensor.offset_pa,
    }
    # Its own FIFO says how often it has to be asked.
    every_s = poll_s(sensor.rate_hz) if sensor.driver == "lsm9ds1" else sensor.every_s
    late_s = max(LATE_LEAST_S, LATE_TIMES * every_s)
    plan = WatchPlan(sensor.name, every_s, offsets, sensor.frozen_after_s, late_s)
    return Connection(plan, lambda: DRIVERS[sensor.driver](sensor))
