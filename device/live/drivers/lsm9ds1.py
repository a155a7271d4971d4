"""Adapter: knocks, by the accelerometer of an ST LSM9DS1 on I2C, as on the Sense HAT, by smbus2.

The chip measures into its FIFO and we read every sample, so that a knock between two readings is
seen (ADR 0084). The gyroscope is off.

Source: ST LSM9DS1 data sheet, DocID025715 Rev 3: 3.5.3 (FIFO, continuous mode), table 3
(sensitivity), 7 (registers).
"""

import math
import struct
from collections.abc import Mapping
from typing import Final

from contracts.errors import RejectedError, WaysealError
from contracts.records.reading import Tamper
from device.live.drivers.gravity import Acceleration, Gravity
from device.live.drivers.i2c import I2cBus, StSensor
from device.live.port import Measured

FIFO_SAMPLES: Final = 32
ANSWER_S: Final = 0.5
"""A chip that gives no samples for so long, seconds, measures nothing: at 119 Hz 60 are due."""
GRAVITY_S: Final = 10.0
"""Time over which gravity is looked at: no truck falls, brakes or turns for so long."""
_LEAST: Final = 12
"""Samples for which one question waits: enough to see gravity at the first one."""
_SETTLING: Final = 4
"""First samples after the chip was set up, which are not valid yet."""
_MG_PER_LSB: Final = 0.732  # at +-16 g
_MG_PER_G: Final = 1_000
_LSM9DS1: Final = 0x68
_CTRL_REG6_XL: Final = 0x20
_OUT_X_L_XL: Final = 0x28
_FIFO_CTRL: Final = 0x2E
_FIFO_SRC: Final = 0x2F
_OVERRUN: Final = 0x40
_UNREAD: Final = 0x3F
_SCALE_16_G: Final = 0x08
_RATES: Final[Mapping[int, int]] = {119: 0x60, 238: 0x80, 476: 0xA0}
"""Samples a second, and the bits of CTRL_REG6_XL for them."""
_SET_UP: Final = (
    (0x10, 0x00),  # CTRL_REG1_G: the gyroscope is off
    (0x1F, 0x38),  # CTRL_REG5_XL: all three axes, no decimation
    (0x21, 0x00),  # CTRL_REG7_XL: no high-pass filter, which would take gravity away
    (0x22, 0x44),  # CTRL_REG8: both bytes of a value are of one sample; addresses count up
    (0x23, 0x02),  # CTRL_REG9: FIFO on, at its full depth
    (_FIFO_CTRL, 0x00),  # bypass: empties the FIFO
)
_CONTINUOUS: Final = 0xC0


def poll_s(rate_hz: int) -> float:
    """Return after how many seconds the FIFO is half full."""
    return FIFO_SAMPLES / 2 / rate_hz


class KnockSensor(StSensor):
    """One LSM9DS1, whose sign is a shock.

    Args:
        bus: Number of the I2C bus, or an open one.
        address: 0x6A, or 0x6B with SDO_A/G at 3.3 V.
        rate_hz: Samples a second: 119, 238 or 476.
        shock_mg: From this acceleration on, gravity included, a sample is a shock; thousandths
            of g.

    Raises:
        UnavailableError: smbus2 is not installed, nothing answers there, or it is another chip.
    """

    def __init__(self, bus: int | I2cBus, address: int, rate_hz: int, shock_mg: int) -> None:
        self._address, self._rate_hz, self._shock_mg = address, rate_hz, shock_mg
        self._mode = _RATES[rate_hz] | _SCALE_16_G
        self._gravity = Gravity(_MG_PER_LSB, round(GRAVITY_S * rate_hz))
        self._settling = _SETTLING
        self._owed: WaysealError | None = None
        self._knocked = False
        super().__init__(bus, f"LSM9DS1 at address {address:#x}")

    def measure(self) -> Measured:
        """Read all samples since the last question; see `Sensor.measure`.

        A sign comes before a complaint, which the next question without a sign raises: a knock
        may be what tore the cable off. A chip that does not show gravity gives no sign at all. A
        knock in the short first windows hides gravity: its sign comes once gravity shows.

        Raises:
            UnavailableError: It does not answer, was reset, or gives no samples.
            RejectedError: Samples were lost, or they do not show the 1 g that gravity is.
        """
        samples: list[Acceleration] = []
        owed, self._owed = self._owed, None
        try:
            self._drain(samples)
        except WaysealError as error:
            owed = error
        self._gravity.take(samples)
        wrong = self._gravity.wrong
        peak_mg = max((_MG_PER_LSB * math.hypot(*each) for each in samples), default=0.0)
        knocked = self._knocked or peak_mg >= self._shock_mg
        is_shock = knocked and not wrong
        self._knocked = knocked and bool(wrong) and self._gravity.is_early
        if is_shock:
            self._owed = owed
        elif owed is not None:
            raise owed
        elif wrong:
            raise RejectedError(f"{self.name}: {wrong}")
        note = (
            f"{self._gravity.now_mg / _MG_PER_G:.2f} g, at most {peak_mg / _MG_PER_G:.2f} g; "
            f"a shock begins at {self._shock_mg / _MG_PER_G:g} g"
        )
        return Measured(tamper=Tamper.SHOCK if is_shock else Tamper.NONE, note=note)

    def _set_up(self) -> None:
        """See `StSensor._set_up`."""
        self.check_chip(self._address, _LSM9DS1, "LSM9DS1")
        rest = ((_CTRL_REG6_XL, self._mode), (_FIFO_CTRL, _CONTINUOUS))
        for register, value in (*_SET_UP, *rest):
            self.bus.write_byte_data(self._address, register, value)

    def _drain(self, samples: list[Acceleration]) -> None:
        """Add the samples of the FIFO; those that came before an error are added too."""
        with self.asking():
            self.check_mode(self._address, _CTRL_REG6_XL, "CTRL_REG6_XL", self._mode)
            pause_s = 1 / self._rate_hz
            status = self.await_status(
                self._address, _FIFO_SRC, self._has_enough, pause_s=pause_s, within_s=ANSWER_S
            )
            for _ in range(status & _UNREAD):
                raw = self.bus.read_i2c_block_data(self._address, _OUT_X_L_XL, 6)
                if self._settling:
                    self._settling -= 1
                else:
                    samples.append(struct.unpack("<3h", bytes(raw)))
        if status & _OVERRUN:
            raise RejectedError(
                f"{self.name}: samples were lost, as it was not read for over "
                f"{FIFO_SAMPLES / self._rate_hz:.2f} s; a knock in that time is not seen"
            )

    def _has_enough(self, status: int) -> bool:
        """Say whether FIFO_SRC tells of enough samples."""
        unread = status & _UNREAD
        if unread > FIFO_SAMPLES:
            raise RejectedError(
                f"{self.name}: expected 0..{FIFO_SAMPLES} unread samples, got {unread}"
            )
        return unread >= _LEAST
