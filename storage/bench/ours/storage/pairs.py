"""Ours and the limit, one beside the other, again and again; what the ratios come to."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Pair:
    """One repetition.

    Attributes:
        ours_s: What our code took, seconds.
        limit_s: What the limit took beside it, seconds.
        parts: Times of which either is made, seconds, by name.
    """

    ours_s: float
    limit_s: float
    parts: dict[str, float]

    @property
    def ratio(self) -> float:
        """Return how close ours comes to the limit: 1 is as fast, more is faster."""
        return self.limit_s / self.ours_s


def interleaved(
    repetitions: int, ours: Callable[[int], float], limit: Callable[[int], dict[str, float]]
) -> list[Pair]:
    """Measure both by turns; whichever was first is second the next time.

    Args:
        repetitions: How often.
        ours: Given the number of the repetition, returns its seconds.
        limit: Likewise; returns seconds by name, the slowest of which is the limit.
    """
    pairs = []
    for number in range(repetitions):
        if number % 2:
            parts = limit(number)
            ours_s = ours(number)
        else:
            ours_s = ours(number)
            parts = limit(number)
        pairs.append(Pair(ours_s, max(parts.values()), parts))
    return pairs


def ratio_of(pairs: Sequence[Pair]) -> float:
    """Return the median of the ratios."""
    return round(statistics.median(pair.ratio for pair in pairs), 3)


def summary(pairs: Sequence[Pair], mib: float) -> dict[str, Any]:
    """Return medians in MiB/s, and every single run.

    Args:
        pairs: What was measured.
        mib: How much data each run was about.
    """
    names = pairs[0].parts
    medians = {name: statistics.median(pair.parts[name] for pair in pairs) for name in names}
    return {
        "mib": mib,
        "ratio": ratio_of(pairs),
        "ours_mib_per_s": _rate(mib, statistics.median(pair.ours_s for pair in pairs)),
        **{f"{name}_mib_per_s": _rate(mib, median_s) for name, median_s in medians.items()},
        "runs": [
            {
                "ratio": round(pair.ratio, 3),
                "ours_s": round(pair.ours_s, 3),
                **{f"{name}_s": round(part_s, 3) for name, part_s in pair.parts.items()},
            }
            for pair in pairs
        ],
    }


def _rate(mib: float, seconds: float) -> float:
    return round(mib / seconds, 1)
