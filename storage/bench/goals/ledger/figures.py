"""The ledger's figures: names of the JSON object of `make bench-ledger`, and their metrics."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from storage.bench.run.document import Document
from storage.bench.run.outcome import Better, Metric, Observation

Figures = dict[str, float]
"""Values by the names that the JSON object has."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """The unit of a figure in the JSON object.

    Attributes:
        unit: SI, as a result has it.
        factor: SI units in one unit of the JSON object.
    """

    unit: str
    factor: float = 1.0
    better: Better = Better.LOWER


_PER_S: Final = Scaled("1/s", better=Better.HIGHER)
_RATIO: Final = Scaled("1", better=Better.HIGHER)
_SHARE: Final = Scaled("1")
_COUNT: Final = Scaled("1", better=Better.HIGHER)
_S: Final = Scaled("s")
_MS: Final = Scaled("s", 1e-3)
_BYTES: Final = Scaled("B")
_MB: Final = Scaled("B", 1e6)
FIGURES: Final[Mapping[str, Scaled]] = {
    "readings_per_s": _PER_S,
    "readings_loader_cpu_s": _S,
    "readings_written_bytes": _BYTES,
    "grown_readings_per_s": _PER_S,
    "grown_written_bytes": _BYTES,
    "late_readings_per_s": _PER_S,
    "late_readings_per_cpu_s": _PER_S,
    "late_ratio": _RATIO,
    "late_cpu_ratio": _RATIO,
    "loaded_peak_mb": _MB,
    "readings_per_cpu_s": _PER_S,
    "times_real_node": _RATIO,
    "cpu_s_per_1000_readings": _S,
    "bytes_per_reading": _BYTES,
    "log_bytes_per_reading": _BYTES,
    "index_bytes_per_reading": _BYTES,
    "restart_s": _S,
    "rss_mb": _MB,
    "catchup_per_s": _PER_S,
    "catchup_s": _S,
    "catchup_gateway_cpu_s": _S,
    "catchup_node_cpu_s": _S,
    "catchup_gateway_peak_mb": _MB,
    "index_bytes_per_reading_gateway": _BYTES,
    "catchup_per_s_runs": _PER_S,
    "catchup_s_runs": _S,
    "catchup_gateway_cpu_s_runs": _S,
    "catchup_node_cpu_s_runs": _S,
    "catchup_gateway_peak_mb_runs": _MB,
    "index_bytes_per_reading_gateway_runs": _BYTES,
    "readings_per_s_runs": _PER_S,
    "readings_per_cpu_s_runs": _PER_S,
    "log_bytes_per_reading_runs": _BYTES,
    "single_batches_per_s": _PER_S,
    "single_batches_per_cpu_s": _PER_S,
    "p50_ms": _MS,
    "p90_ms": _MS,
    "p99_ms": _MS,
    "max_ms": _MS,
    "paced_readings_per_s": _PER_S,
    "paced_cpu_s_per_1000_readings": _S,
    "bft_readings_per_s": _PER_S,
    "bft_readings_per_s_runs": _PER_S,
    "bft_cpu_s_per_1000_readings": _S,
    "bft_alone_cpu_s_per_1000_readings": _S,
    "bft_cpu_ratio": _SHARE,
    "bft_cpu_ratio_most": _SHARE,
    "bft_p50_ms": _MS,
    "bft_p99_ms": _MS,
    "bft_pause_before_s": _S,
    "bft_pause_s": _S,
    "end_to_end_readings_per_s": _PER_S,
    "end_to_end_ratio": _RATIO,
    "end_to_end_gateway_cpu_s_per_1000_readings": _S,
    "end_to_end_node_cpu_s_per_1000_readings": _S,
    "trucks_receipts": _COUNT,
    "trucks_readings_per_s": _PER_S,
    "trucks_p50_s": _S,
    "trucks_p95_s": _S,
}


def observations(figures: Figures) -> list[Observation]:
    """Return figures as a run keeps them, in SI units."""
    return [
        Observation(
            Metric(_metric(name), FIGURES[name].unit, FIGURES[name].better),
            value * FIGURES[name].factor,
        )
        for name, value in figures.items()
    ]


def figures_of(result: Document) -> Figures:
    """Return the figures of a run's result, in the units of the JSON object."""
    return dict(_found(result))


def _found(result: Document) -> Iterator[tuple[str, float]]:
    names = {_metric(name): name for name in FIGURES}
    for each in result["figures"]:
        name = names.get(each["metric"])
        if name is not None:
            yield name, each["median"] / FIGURES[name].factor


def _metric(name: str) -> str:
    return name.replace("_", "-")
