"""Whether a figure has settled, by both tests of the storage industry's norm.

Source: SNIA Solid State Storage Performance Test Specification 2.0.2, 2.1.24.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from storage.bench.run.flags import Flag, Raised

WINDOW: Final = 5
"""Rounds that are looked at, the last ones."""
RANGE: Final = 0.20
"""The highest minus the lowest value, of the mean, at most."""
EXCURSION: Final = 0.10
"""What the fitted line rises or falls over the window, of the mean, at most."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How far the last rounds are from a flat line, as shares of their mean."""

    range: float
    excursion: float

    @property
    def steady(self) -> bool:
        """Return whether both tests are passed."""
        return self.range <= RANGE and self.excursion <= EXCURSION


def steadiness(values: Sequence[float]) -> Steadiness | None:
    """Judge the last rounds; None while there are fewer than a window's.

    Args:
        values: One of each round, in the order of time.
    """
    window = values[-WINDOW:]
    if len(window) < WINDOW:
        return None
    mean, middle = sum(window) / WINDOW, (WINDOW - 1) / 2
    if not mean:
        return Steadiness(0.0, 0.0)
    rise = sum((at - middle) * value for at, value in enumerate(window))
    slope = rise / sum((at - middle) ** 2 for at in range(WINDOW))
    return Steadiness((max(window) - min(window)) / mean, abs(slope) * (WINDOW - 1) / mean)


def not_steady(values: Sequence[float], rounds: str) -> tuple[Raised, ...]:
    """Return the flag if the last rounds are there and fail.

    Args:
        values: One of each round, in the order of time.
        rounds: What a round is, in words, as in `repetitions`.
    """
    found = steadiness(values)
    if found is None or found.steady:
        return ()
    why = (
        f"expected of the last {WINDOW} {rounds} a range within {RANGE:.0%} and a drift within "
        f"{EXCURSION:.0%} of their mean, got {found.range:.1%} and {found.excursion:.1%}"
    )
    return (Raised(Flag.NOT_STEADY, why),)


@dataclass(slots=True)
class Rounds:
    """What one step brought in each of its repetitions, by figure."""

    _values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def flags(self, figure: str, value: float) -> tuple[Raised, ...]:
        """Take the value of one more repetition; return the flag if the last ones fail."""
        self._values[figure].append(value)
        return not_steady(self._values[figure], "repetitions")
