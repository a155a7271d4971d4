"""The figures of a truck: names of the table of `make bench-device`, and their metrics."""

from collections.abc import Iterator, Mapping
from typing import Final

from storage.bench.commands.offload import (
    ERRORS,
    FLEET_WORKLOAD,
    LONG_TRIP_WORKLOAD,
    OFFLOAD_P50,
    OFFLOAD_P95,
    RATIO,
)
from storage.bench.goals.ledger.figures import Scaled
from storage.bench.run.document import Document
from storage.bench.run.outcome import Better, Metric, Observation

Figures = dict[str, float]
"""Values by their names."""
_MB: Final = Scaled("B", 1e6)
_MB_A_DAY: Final = Scaled("B/s", 1e6 / 86_400)
_PER_S: Final = Scaled("1/s", better=Better.HIGHER)
_SHARE: Final = Scaled("1", better=Better.HIGHER)
_PERCENT: Final = Scaled("1", 1e-2)
FIGURES: Final[Mapping[str, Scaled]] = {
    "rss_mb": _MB,
    "cpu_percent_at_1hz": _PERCENT,
    "fsyncs_per_s": Scaled("1/s"),
    "card_mb_per_day": _MB_A_DAY,
    "journal_readings_per_s": _PER_S,
    "people_marked_share": _SHARE,
    "still_marked_share": Scaled("1"),
    "scene_cpu_ms": Scaled("s", 1e-3),
    "sign_us": Scaled("s", 1e-6),
    "hour_cpu_ms_per_reading": Scaled("s", 1e-3),
    "hour_kept_pace": _SHARE,
    "hour_flushes_per_reading": Scaled("1"),
    "hour_rss_mb": _MB,
    "hour_rss_first_quarter_mb": _MB,
    "hour_rss_last_quarter_mb": _MB,
    "live_card_mb_per_day": _MB_A_DAY,
    "live_readings_per_s": _PER_S,
    "small_cpu_percent_of_its_own": _PERCENT,
    "small_readings_per_s": _PER_S,
    "small_rss_mb": _MB,
}
PUBLISHED: Final[tuple[str, ...]] = (
    "rss_mb",
    "cpu_percent_at_1hz",
    "fsyncs_per_s",
    "card_mb_per_day",
    "journal_readings_per_s",
    "offload_ratio",
    "people_marked_share",
    "fleet_p95_s",
    "fleet_receipts",
)
"""The keys of the JSON object, in its order."""


def observations(figures: Mapping[str, float]) -> list[Observation]:
    """Return figures as a run keeps them, in SI units."""
    return [
        Observation(
            Metric(name.replace("_", "-"), FIGURES[name].unit, FIGURES[name].better),
            value * FIGURES[name].factor,
        )
        for name, value in figures.items()
    ]


def figures_of(result: Document, trucks: int) -> Figures:
    """Return the figures of a run's result, in the units of their names.

    Args:
        result: Of the run.
        trucks: Of its fleet.
    """
    return dict(_found(result, trucks))


def _found(result: Document, trucks: int) -> Iterator[tuple[str, float]]:
    for each in result["figures"]:
        name, value = each["metric"].replace("-", "_"), each["median"]
        match each["workload"], each["metric"]:
            case workload, RATIO.name if workload == LONG_TRIP_WORKLOAD:
                yield "offload_ratio", 1 / value
            case workload, OFFLOAD_P50.name if workload == LONG_TRIP_WORKLOAD:
                yield "offload_s", value
            case workload, OFFLOAD_P95.name if workload == FLEET_WORKLOAD:
                yield "fleet_p95_s", value
            case workload, ERRORS.name if workload == FLEET_WORKLOAD:
                yield "fleet_receipts", trucks - value
            case _ if name in FIGURES:
                yield name, value / FIGURES[name].factor
