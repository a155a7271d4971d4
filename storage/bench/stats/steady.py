"""Whether a figure has settled, by both tests of the storage industry's norm.

Source: SNIA Solid State Storage Performance Test Specification 2.0.2, 2.1.24.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression
from typing import Final

WINDOW: Final = 5
"""The last rounds, which are judged."""
RANGE: Final = 0.20
"""Highest minus lowest value, of the mean, at most."""
EXCURSION: Final = 0.10
"""Rise or fall of the fitted line over the window, of the mean, at most."""


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
    """Judge the last rounds; None while there are fewer than a window.

    Args:
        values: One of each round, in the order of time.
    """
    window = values[-WINDOW:]
    if len(window) < WINDOW:
        return None
    mean = sum(window) / WINDOW
    if not mean:
        return Steadiness(0.0, 0.0)
    slope = linear_regression(range(WINDOW), window).slope
    return Steadiness((max(window) - min(window)) / mean, abs(slope) * (WINDOW - 1) / mean)
