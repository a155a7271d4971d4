"""Latencies as a histogram, which keeps every percentile to three digits."""

from collections.abc import Iterable
from typing import Final

from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped] # it has no types

from storage.bench.run.outcome import Latencies

LATENCY_US_MAX: Final = 3_600_000_000
"""An hour; whatever takes longer counts as that."""
_DIGITS: Final = 3
_US: Final = 1_000_000


def latencies(name: str, seconds: Iterable[float], *, intended: bool) -> Latencies:
    """Return a histogram of how long each operation took.

    Args:
        name: As in `write-response`.
        seconds: Of each.
        intended: Counted from when each should have begun.
    """
    histogram = HdrHistogram(1, LATENCY_US_MAX, _DIGITS)
    for each in seconds:
        histogram.record_value(min(max(1, round(each * _US)), LATENCY_US_MAX))
    return Latencies(name, histogram.encode().decode("ascii"), intended)
