"""Adapter: temperature, humidity and pressure of a Sense HAT, by its HTS221 and LPS25H, by smbus2.

The kernel of Raspberry Pi OS need not have drivers of these chips, so they are read here, as the
knocks of the same board are.

Source: ST HTS221 data sheet, DocID026333 Rev 4: 6 and 7 (registers), 8 (interpolation); ST LPS25H
data sheet, DocID023722 Rev 6: 8 and 9 (registers). An LPS25HB, on later boards, has the same.
"""

import struct
import time
from dataclasses import dataclass
from typing import Final

from contracts.errors import UnavailableError
from device.live.drivers.i2c import I2cBus, check_chip, lost, open_bus
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


class SenseHat:
    """The two chips of one board.

    Args:
        bus: Number of the I2C bus, or an open one.

    Raises:
        UnavailableError: smbus2 is not installed, or one of the chips does not answer, is another
            one, or has no calibration.
    """

    def __init__(self, bus: int | I2cBus) -> None:
        at = f" on I2C bus {bus}" if isinstance(bus, int) else ""
        self._name = f"Sense HAT{at}"
        self._bus = open_bus(bus, self._name) if isinstance(bus, int) else bus
        try:
            self._humidity, self._temperature = self._set_up()
        except OSError as error:
            self.close()
            raise lost(self._name, error) from error
        except UnavailableError:
            self.close()
            raise

    def measure(self) -> Measured:
        """See `Sensor.measure`.

        Raises:
            UnavailableError: A chip does not answer, was reset, or measures nothing.
        """
        try:
            for chip in _MODES:
                self._await_value(chip)
            raw = bytes(self._bus.read_i2c_block_data(HTS221, _OUT | _NEXT, 4))
            pressure = bytes(self._bus.read_i2c_block_data(LPS25H, _OUT | _NEXT, 3))
        except OSError as error:
            raise lost(self._name, error) from error
        wet, warm = struct.unpack("<2h", raw)
        steps = int.from_bytes(pressure, "little", signed=True)
        return Measured(
            {
                "temperature_mcel": self._temperature.at(warm),
                "humidity_mpct": _saturated(self._humidity.at(wet)),
                "pressure_pa": round(steps * 100 / _STEPS_PER_HPA),
            }
        )

    def close(self) -> None:
        """See `Sensor.close`."""
        self._bus.close()

    def _set_up(self) -> tuple[Line, Line]:
        """Set both chips up; return the calibration of humidity and temperature."""
        check_chip(self._bus, HTS221, _IS_HTS221, "HTS221", self._name)
        check_chip(self._bus, LPS25H, _IS_LPS25H, "LPS25H", self._name)
        found = bytes(self._bus.read_i2c_block_data(HTS221, _CALIBRATION | _NEXT, 16))
        for chip, register, value in _SET_UP:
            self._bus.write_byte_data(chip, register, value)
        for chip, mode in _MODES.items():
            self._bus.write_byte_data(chip, _CTRL_REG1, 0x00)  # off, or it ignores a new rate
            self._bus.write_byte_data(chip, _CTRL_REG1, mode)
        h0, h1, t0, t1, _, more = found[:6]
        h0_out, _, h1_out, t0_out, t1_out = struct.unpack("<5h", found[6:])
        if h0_out == h1_out or t0_out == t1_out:
            raise UnavailableError(
                f"{self._name}: the calibration in its HTS221 is damaged: {found.hex()}"
            )
        humidity = Line((h0_out, h1_out), (h0 * 500, h1 * 500))
        low, high = t0 | (more & 0x03) << 8, t1 | (more & 0x0C) << 6
        return humidity, Line((t0_out, t1_out), (low * 125, high * 125))

    def _await_value(self, chip: int) -> None:
        mode, until_s = self._bus.read_byte_data(chip, _CTRL_REG1), time.monotonic() + ANSWER_S
        if mode != _MODES[chip]:
            raise UnavailableError(
                f"{self._name}: expected CTRL_REG1 of the chip at {chip:#x} to be "
                f"{_MODES[chip]:#x}, got {mode:#x}: it lost power, or another program uses it; it "
                f"is set up again"
            )
        while self._bus.read_byte_data(chip, _STATUS) & _NEW[chip] != _NEW[chip]:
            if time.monotonic() > until_s:
                raise UnavailableError(
                    f"{self._name}: the chip at {chip:#x} measures nothing within {ANSWER_S:g} s"
                )
            time.sleep(_POLL_S)


def _saturated(humidity_mpct: int) -> int:
    """Return a humidity as the chip means it: a little beyond an end is the end."""
    nearest = min(max(humidity_mpct, 0), 100_000)
    return nearest if abs(humidity_mpct - nearest) <= _SATURATED_MPCT else humidity_mpct
