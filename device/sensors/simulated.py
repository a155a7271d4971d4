"""Adapter: SensorSource of a simulated cold-chain trip, the same for the same seed.

It has one excursion (above 8 Cel for longer than 10 minutes, otherwise 2..8 Cel) and one
tamper event (the door is open while the excursion begins). Only integers and exact arithmetic
are used, so every machine makes the same trip.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError
from contracts.records.reading import Position, Tamper
from device.sensors.port import Sample

INTERVAL_MS: Final = 5_000
MINUTES_MIN: Final = 20
"""The excursion with its slopes takes 18 minutes."""
MINUTES_MAX: Final = 7 * 24 * 60

_STEPS_PER_MINUTE: Final = 60_000 // INTERVAL_MS
_SLOPE: Final = 3 * _STEPS_PER_MINUTE
_PLATEAU: Final = 12 * _STEPS_PER_MINUTE
_EXCURSION: Final = _SLOPE + _PLATEAU + _SLOPE
_DOOR_OPEN: Final = 3 * _STEPS_PER_MINUTE
_RISE_MCEL: Final = 6_000
_START_E7: Final = (470_707_000, 154_395_000)
_STEP_E7: Final = (6_500, 8_500)
"""About 97 m per 5 s, 70 km/h, north-east; each second day back, so that no trip ends at a pole."""
_DAY: Final = 24 * 60 * _STEPS_PER_MINUTE
_STOP_EVERY: Final = 240
_STOP_STEPS: Final = 24


@dataclass(frozen=True, slots=True)
class SimulatedTrip:
    """A trip of `minutes`, made from `seed`.

    Raises:
        RejectedError: Shorter than the excursion or longer than a week.
    """

    minutes: int = 90
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the range, so that every trip holds the whole excursion."""
        if not MINUTES_MIN <= self.minutes <= MINUTES_MAX:
            raise RejectedError(
                f"a simulated trip takes {MINUTES_MIN}..{MINUTES_MAX} minutes, got {self.minutes}"
            )

    @property
    def count(self) -> int:
        """Number of samples."""
        return self.minutes * _STEPS_PER_MINUTE

    @property
    def duration_ms(self) -> int:
        """Milliseconds from the first sample to the last."""
        return (self.count - 1) * INTERVAL_MS

    def samples(self) -> Iterator[Sample]:
        """See `SensorSource.samples`."""
        dice = random.Random(self.seed)  # noqa: S311 - a simulated trip keeps no secret
        begins = (self.count - _EXCURSION) // 2
        temperature, humidity, pressure = 4_700, 52_000, 96_800
        latitude, longitude = _START_E7
        for step in range(self.count):
            temperature = _drift(dice, temperature, 25, 3_200, 6_400)
            humidity = _drift(dice, humidity, 150, 42_000, 61_000)
            pressure = _drift(dice, pressure, 6, 95_500, 98_500)
            if step % _STOP_EVERY >= _STOP_STEPS:
                ahead = -1 if step // _DAY % 2 else 1
                latitude += ahead * _STEP_E7[0] + dice.randint(-2_500, 2_500)
                longitude += ahead * _STEP_E7[1] + dice.randint(-2_500, 2_500)
            yield Sample(
                step * INTERVAL_MS,
                temperature_mcel=_round(temperature + _rise(step - begins)),
                humidity_mpct=_round(humidity),
                pressure_pa=pressure - pressure % 10,
                position=Position(latitude, longitude),
                tamper=Tamper.DOOR_OPEN if 0 <= step - begins < _DOOR_OPEN else Tamper.NONE,
            )


def _drift(dice: random.Random, value: int, step: int, low: int, high: int) -> int:
    return min(high, max(low, value + dice.randint(-step, step)))


def _rise(since: int) -> int:
    """Return how much the open door adds, mCel, `since` steps after the excursion began."""
    if not 0 <= since < _EXCURSION:
        return 0
    return _RISE_MCEL * min(since, _EXCURSION - since, _SLOPE) // _SLOPE


def _round(milli: int) -> int:
    """Return `milli` rounded down to one decimal, as many sensors report."""
    return milli - milli % 100
