"""The median of repeated measurements, and the interval that encloses the true one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from statistics import median
from typing import Final

CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A median with two of the values around it.

    Attributes:
        confidence: That the true median lies from `low` to `high`, 0 to 1.
    """

    median: float
    low: float
    high: float
    confidence: float


def interval(values: Sequence[float]) -> Interval:
    """Return the narrowest interval between two values, equally far from the ends, with CONFIDENCE.

    It assumes nothing about the distribution. Fewer than six values cannot give CONFIDENCE; then
    the whole range is returned with the confidence that it has. SciPy's `quantile_test` gives the
    same bounds from six values on, but no confidence and nothing for fewer values.
    Source: Le Boudec, Performance Evaluation of Computer and Communication Systems, theorem 2.1.

    Args:
        values: At least one.
    """
    ordered, count = sorted(values), len(values)
    skipped = 0
    while _confidence(count, skipped + 1) >= CONFIDENCE:
        skipped += 1
    return Interval(
        median(ordered), ordered[skipped], ordered[-1 - skipped], _confidence(count, skipped)
    )


def _confidence(count: int, skipped: int) -> float:
    """Return the chance that the median is inside after cutting off values at each end."""
    if 2 * skipped >= count:
        return 0.0
    outside = sum(comb(count, below) for below in range(skipped + 1))
    return 1 - outside / (1 << (count - 1))
