"""Adapter: temperature, humidity and pressure of a Sense HAT, by its HTS221 and LPS25H, by smbus2.

The kernel of Raspberry Pi OS need not have drivers of these chips, so they are read here, as the
knocks of the same board are.

Source: ST HTS221 data sheet, DocID026333 Rev 4: 6 and 7 (registers), 8 (interpolation); ST LPS25H
data sheet, DocID023722 Rev 6: 8 and 9 (registers). An LPS25HB, on later boards, has the same.
"""

import struct
from dataclasses import dataclass
from functools import partial
from typing import Final

from contracts.errors import UnavailableError
from device.live.drivers.i2c import I2cBus, StSensor
from device.live.port import Measured

HTS221: Final = 0x5F
LPS25H: Final = 0x5C
ANSWER_S: Final = 1.0
"""A chip without a new value for so long measures nothing: at 7 Hz seven are due."""
_POLL_S: Final = 0.02
_IS_HTS221: Final = 0xBC
_IS_LPS25H: Final = 0xBD
_CTRL_REG1: Final = 0x20
_STATUS: Final = 0x27
_OUT: Final = 0x28
_CALIBRATION: Final = 0x30
_NEXT: Final = 0x80
"""Added to the first register of several: addresses count up."""
_MODES: Final = {HTS221: 0x86, LPS25H: 0xA4}
"""CTRL_REG1: on, 7 values a second, all bytes of a value are of the same one."""
_NEW: Final = {HTS221: 0x03, LPS25H: 0x02}
"""STATUS: a new temperature and humidity; a new pressure."""
_SET_UP: Final = (
    (HTS221, 0x21, 0x00),  # CTRL_REG2: the heater is off
    (LPS25H, 0x21, 0x00),  # CTRL_REG2: no FIFO
    (LPS25H, 0x2E, 0x00),  # FIFO_CTRL: bypass
)
_STEPS_PER_HPA: Final = 4_096
_SATURATED_MPCT: Final = 10_000
"""In fog the chip may claim up to so much more than 100 %."""


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line through two points of calibration.

    Attributes:
        raw: What the chip gives at each.
        true: What is true at each, in thousandths.
    """

    raw: tuple[int, int]
    true: tuple[float, float]

    def at(self, raw: int) -> int:
        """Return what is true where the chip gives `raw`."""
        share = (raw - self.raw[0]) / (self.raw[1] - self.raw[0])
        return round(self.true[0] + share * (self.true[1] - self.true[0]))


class SenseHat(StSensor):
    """The two chips of one board.

    Args:
        bus: Number of the I2C bus, or an open one.

    Raises:
        UnavailableError: smbus2 is not installed, or one of the chips does not answer, is another
            one, or has no calibration.
    """

    def __init__(self, bus: int | I2cBus) -> None:
        super().__init__(bus, "Sense HAT")

    def measure(self) -> Measured:
        """See `Sensor.measure`.

        Raises:
            UnavailableError: A chip does not answer, was reset, or measures nothing.
        """
        with self.asking():
            for chip, mode in _MODES.items():
                self.check_mode(chip, _CTRL_REG1, "CTRL_REG1", mode)
                has_value = partial(_has_all, _NEW[chip])
                self.await_status(chip, _STATUS, has_value, pause_s=_POLL_S, within_s=ANSWER_S)
            raw = bytes(self.bus.read_i2c_block_data(HTS221, _OUT | _NEXT, 4))
            pressure = bytes(self.bus.read_i2c_block_data(LPS25H, _OUT | _NEXT, 3))
        wet, warm = struct.unpack("<2h", raw)
        steps = int.from_bytes(pressure, "little", signed=True)
        return Measured(
            {
                "temperature_mcel": self._temperature.at(warm),
                "humidity_mpct": _saturated(self._humidity.at(wet)),
                "pressure_pa": round(steps * 100 / _STEPS_PER_HPA),
            }
        )

    def _set_up(self) -> None:
        """See `StSensor._set_up`; read the calibration of humidity and temperature."""
        self.check_chip(HTS221, _IS_HTS221, "HTS221")
        self.check_chip(LPS25H, _IS_LPS25H, "LPS25H")
        found = bytes(self.bus.read_i2c_block_data(HTS221, _CALIBRATION | _NEXT, 16))
        for chip, register, value in _SET_UP:
            self.bus.write_byte_data(chip, register, value)
        for chip, mode in _MODES.items():
            self.bus.write_byte_data(chip, _CTRL_REG1, 0x00)  # off, or it ignores a new rate
            self.bus.write_byte_data(chip, _CTRL_REG1, mode)
        h0, h1, t0, t1, _, more = found[:6]
        h0_out, _, h1_out, t0_out, t1_out = struct.unpack("<5h", found[6:])
        if h0_out == h1_out or t0_out == t1_out:
            raise UnavailableError(
                f"{self.name}: the calibration in its HTS221 is damaged: {found.hex()}"
            )
        self._humidity = Line((h0_out, h1_out), (h0 * 500, h1 * 500))
        low, high = t0 | (more & 0x03) << 8, t1 | (more & 0x0C) << 6
        self._temperature = Line((t0_out, t1_out), (low * 125, high * 125))


def _has_all(bits: int, status: int) -> bool:
    return status & bits == bits


def _saturated(humidity_mpct: int) -> int:
    """Return a humidity as the chip means it: a little beyond an end is the end."""
    nearest = min(max(humidity_mpct, 0), 100_000)
    return nearest if abs(humidity_mpct - nearest) <= _SATURATED_MPCT else humidity_mpct
