"""Whether two sets of repeated measurements differ by more than chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb, isclose
from statistics import median
from typing import Final

import numpy as np

SIGNIFICANCE: Final = 0.05
"""A difference that chance makes less often than this counts as more than noise."""
_EXACT: Final = 100_000
"""Up to so many ways to divide the values between the sides, all are tried."""


class Telling(StrEnum):
    """The conclusion about a difference."""

    MORE_THAN_NOISE = "more than noise"
    WITHIN_NOISE = "within noise"
    TOO_FEW = "too few values to tell"


@dataclass(frozen=True, slots=True)
class Difference:
    """How two sets of values differ.

    Attributes:
        ratio: Of the second median to the first; None where that is 0.
        p: Chance that values which do not differ look at least as different, two-sided.
        least_p: The smallest p that so few values can give.
    """

    medians: tuple[float, float]
    ratio: float | None
    p: float
    least_p: float

    @property
    def telling(self) -> Telling:
        """Return the conclusion."""
        if self.least_p >= SIGNIFICANCE:
            return Telling.TOO_FEW
        return Telling.MORE_THAN_NOISE if self.p < SIGNIFICANCE else Telling.WITHIN_NOISE


def difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Compare by the Mann-Whitney U test, which assumes nothing about the distributions.

    The test is exact, with ties too, up to 100,000 ways to divide the values between the sides:
    up to nine on each side, and no tie if one side has a single value. Source: Mann and Whitney,
    Annals of Mathematical Statistics 18, 1947.

    Args:
        first: At least one value.
        second: At least one value.
    """
    medians = median(first), median(second)
    ways = comb(len(first) + len(second), len(first))
    return Difference(
        medians,
        medians[1] / medians[0] if medians[0] else None,
        _p(first, second, ways),
        min(1.0, 2 / ways),
    )


def _p(first: Sequence[float], second: Sequence[float], ways: int) -> float:
    # Not at the top: it would take nearly half of the start of every command.
    from scipy.stats import PermutationMethod, mannwhitneyu  # noqa: PLC0415

    tied = len({*first, *second}) < len(first) + len(second)
    if not tied and ways <= _EXACT:
        return float(mannwhitneyu(first, second, method="exact").pvalue)
    if all(isclose(each, first[0]) for each in (*first, *second)):
        return 1.0
    if ways > _EXACT or 1 in (len(first), len(second)):  # SciPy permutes no single value
        return float(mannwhitneyu(first, second, method="asymptotic").pvalue)
    every = PermutationMethod(n_resamples=_EXACT, rng=np.random.default_rng(0))
    return float(mannwhitneyu(first, second, method=every).pvalue)
