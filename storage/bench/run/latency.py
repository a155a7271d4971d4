"""Latencies as a histogram, which keeps every percentile to three digits."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from hdrh.histogram import HdrHistogram

from storage.bench.run.outcome import Latencies

LATENCY_US_MAX: Final = 3_600_000_000
"""An hour; longer operations count as an hour."""
_DIGITS: Final = 3
_US: Final = 1_000_000


def latencies(name: str, seconds: Iterable[float], *, intended: bool) -> Latencies:
    """Return a histogram of how long each operation took.

    Args:
        name: As in `write-response`.
        seconds: Of each operation.
        intended: Counted from the intended start of each.
    """
    return counted(name, Counter(seconds), intended=intended)


def counted(name: str, operations: Mapping[float, int], *, intended: bool) -> Latencies:
    """Return a histogram of operations that are already counted.

    Args:
        name: As in `write-response`.
        operations: Number of operations by their seconds.
        intended: Counted from the intended start of each.
    """
    histogram = HdrHistogram(1, LATENCY_US_MAX, _DIGITS)
    for each, count in operations.items():
        histogram.record_value(min(max(1, round(each * _US)), LATENCY_US_MAX), count)
    return Latencies(name, histogram.encode().decode("ascii"), intended)
