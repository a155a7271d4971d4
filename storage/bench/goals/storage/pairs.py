"""Ours and the limit, measured by turns; the medians and ratios of both."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from storage.bench.run.document import Document
from storage.bench.run.outcome import Better, Metric, Observation, Outcome
from storage.bench.run.plan import Place

RATIO: Final = Metric("ratio", "1")
"""The limit's seconds over ours: 1 is as fast as the limit, more is faster."""
OURS: Final = Metric("ours", "s", Better.LOWER)
OURS_CPU: Final = Metric("cpu-ours", "s", Better.LOWER)
LIMIT_CPU: Final = Metric("cpu-limit", "s", Better.LOWER)
"""User and system, all threads of the process that ran it."""
_LIMIT: Final = "limit-"


@dataclass(slots=True)
class Turns:
    """Measures ours and the limit; the one that was first is second the next time.

    Attributes:
        ours: Returns the seconds of our code.
        limit: Returns seconds by name; the slowest of them is the limit.
    """

    ours: Callable[[], float]
    limit: Callable[[], Mapping[str, float]]
    _done: int = 0

    def execute(self, place: Place) -> Outcome:
        """Measure both once."""
        with place.counted():
            if self._done % 2:
                limits = self.limit()
                ours_s = self.ours()
            else:
                ours_s = self.ours()
                limits = self.limit()
        self._done += 1
        return Outcome(
            [
                Observation(RATIO, max(limits.values()) / ours_s),
                Observation(OURS, ours_s),
                *(
                    Observation(
                        Metric(f"{_LIMIT}{name.replace('_', '-')}", "s", Better.LOWER), seconds
                    )
                    for name, seconds in limits.items()
                ),
            ]
        )


def summary(result: Document, workload: str, mib: float) -> dict[str, Any]:
    """Return the medians of a workload in MiB/s, and each single run.

    Args:
        result: Of a run that measured the workload.
        workload: Measured by `Turns`.
        mib: Data of each run.
    """
    values = {
        _name(each["metric"]): each["values"]
        for each in result["figures"]
        if each["workload"] == workload and _is_of_a_pair(each["metric"])
    }
    ratios = values.pop(RATIO.name)
    used = {
        _name(each["metric"]): each["median"]
        for each in result["figures"]
        if each["workload"] == workload and each["metric"] in (OURS_CPU.name, LIMIT_CPU.name)
    }
    return {
        "mib": mib,
        "ratio": round(statistics.median(ratios), 3),
        **{
            f"{name}_mib_per_s": round(mib / statistics.median(each), 1)
            for name, each in values.items()
        },
        **{f"{name}_s_per_gib": round(1024 / mib * each, 2) for name, each in used.items()},
        "runs": [
            {
                "ratio": round(ratio, 3),
                **{f"{name}_s": round(each[number], 3) for name, each in values.items()},
            }
            for number, ratio in enumerate(ratios)
        ],
    }


def _is_of_a_pair(metric: str) -> bool:
    return metric in (RATIO.name, OURS.name) or metric.startswith(_LIMIT)


def _name(metric: str) -> str:
    return metric.removeprefix(_LIMIT).replace("-", "_")
