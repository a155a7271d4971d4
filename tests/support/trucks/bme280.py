"""The registers of a Bosch BME280, with the calibration of Bosch's own example.

Source: BST-BMP280-DS001, 3.12 (the example), BST-BME280-DS002, 4.2.2 (registers) and 8.1 (double
precision formulas, which the kernel's drivers do not use).
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ADDRESS: Final = 0x76
CHIP_ID: Final = 0x60
_T: Final = (27_504, 26_435, -1_000)
_P: Final = (36_477, -10_685, 3_024, 2_855, 140, -7, 15_500, -14_600, 6_000)
_H: Final = (75, 370, 0, 313, 50, 30)
PRESSURE_RAW: Final = 415_148
"""Of the example, which has 100 653 Pa with `WARM`."""
HUMIDITY_RAW: Final = 28_160


@dataclass(frozen=True, slots=True)
class Weather:
    """What the chip's converter gives, and what that means.

    Attributes:
        raw: Temperature, 20 bits.
        mcel: Thousandths of a degree Celsius.
        pa: Pascal, with `PRESSURE_RAW`.
        mpct: Thousandths of a percent, with `HUMIDITY_RAW`.
    """

    raw: int
    mcel: int
    pa: int
    mpct: int

    @classmethod
    def of(cls, raw: int) -> "Weather":
        """Compute it as the data sheet does."""
        t1, t2, t3 = _T
        fine = (raw / 16_384 - t1 / 1_024) * t2 + (raw / 131_072 - t1 / 8_192) ** 2 * t3
        return cls(raw, round(fine / 5.12), round(_pressure(fine)), round(_humidity(fine) * 1_000))


def _pressure(fine: float) -> float:
    p1, p2, p3, p4, p5, p6, p7, p8, p9 = _P
    first = fine / 2 - 64_000
    second = (first * first * p6 / 32_768 + first * p5 * 2) / 4 + p4 * 65_536
    first = (1 + (p3 * first * first / 524_288 + p2 * first) / 524_288 / 32_768) * p1
    found = (1_048_576 - PRESSURE_RAW - second / 4_096) * 6_250 / first
    return found + (p9 * found * found / 2_147_483_648 + found * p8 / 32_768 + p7) / 16


def _humidity(fine: float) -> float:
    h1, h2, h3, h4, h5, h6 = _H
    left = fine - 76_800
    slope = h2 / 65_536 * (1 + h6 / 67_108_864 * left * (1 + h3 / 67_108_864 * left))
    found = (HUMIDITY_RAW - (h4 * 64 + h5 / 16_384 * left)) * slope
    return found * (1 - h1 * found / 524_288)


WARM: Final = Weather.of(519_888)
COLD: Final = Weather.of(450_000)


def identity() -> Mapping[int, int]:
    """Return the registers that never change, by their addresses: id and calibration."""
    h1, h2, h3, h4, h5, h6 = _H
    tail = struct.pack("<hBBBBb", h2, h3, h4 >> 4, (h4 & 15) | (h5 & 15) << 4, h5 >> 4, h6)
    blocks = {0x88: struct.pack("<Hhh", *_T) + struct.pack("<H8h", *_P), 0xE1: tail}
    calibration = {
        at + number: byte for at, block in blocks.items() for number, byte in enumerate(block)
    }
    return calibration | {0xD0: CHIP_ID, 0xA1: h1}


def measured(weather: Weather) -> Mapping[int, int]:
    """Return the registers of a measurement."""
    wire = b"".join((value << 4).to_bytes(3, "big") for value in (PRESSURE_RAW, weather.raw))
    wire += HUMIDITY_RAW.to_bytes(2, "big")
    return {0xF7 + number: byte for number, byte in enumerate(wire)}
