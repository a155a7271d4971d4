"""Latencies of a result: percentiles, as far as there are enough samples."""

import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from hdrh.codec import (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
)
from hdrh.histogram import HdrHistogram

from contracts.errors import RejectedError

PERCENTILES: Final = (50.0, 68.0, 90.0, 95.0, 99.0, 99.7, 99.9)
"""The papers' percentiles and the usual ones."""
SAMPLES_BEYOND: Final = 10
"""Samples needed above a percentile: 99.9 % needs 10,000 in all."""
_MICROSECONDS: Final = 1e6
_HUNDRED: Final = 100
_DAMAGED: Final = (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
    IndexError,
    ValueError,
    zlib.error,
)


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of latencies.

    Attributes:
        values_s: Ascending, each once.
        counts: Of samples up to each value.
    """

    values_s: list[float]
    counts: list[int]

    @property
    def samples(self) -> int:
        """Return the number of operations."""
        return self.counts[-1] if self.counts else 0

    def at(self, percentile: float) -> float:
        """Return the smallest value that a percentage of samples does not exceed."""
        needed = self.samples * percentile / _HUNDRED
        return next(
            value
            for value, count in zip(self.values_s, self.counts, strict=True)
            if count >= needed - 1e-9
        )

    def suffices(self, percentile: float) -> bool:
        """Tell whether there are enough samples for a percentile."""
        return self.samples * (_HUNDRED - percentile) / _HUNDRED >= SAMPLES_BEYOND - 1e-9

    @property
    def most_s(self) -> float:
        """Return the longest."""
        return self.values_s[-1]


def distribution(encoded: Iterable[str]) -> Distribution:
    """Return the samples of several histograms as one.

    Args:
        encoded: HdrHistogram V2, compressed, base64; values in microseconds.

    Raises:
        RejectedError: One is damaged.
    """
    found: Counter[int] = Counter()
    for each in encoded:
        try:
            histogram = HdrHistogram.decode(each)
        except _DAMAGED as error:
            raise RejectedError(f"expected an HdrHistogram V2, got {each[:40]!r}") from error
        for place, count in enumerate(histogram.counts):
            if count:
                lowest = histogram.get_value_from_index(place)
                found[histogram.get_highest_equivalent_value(lowest)] += count
    values = sorted(found)
    return Distribution(
        [value / _MICROSECONDS for value in values],
        list(accumulate(found[value] for value in values)),
    )
