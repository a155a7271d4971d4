"""The most important figures of a part, for a terminal and for the head of a page."""

from collections.abc import Sequence
from typing import Final

from storage.bench.report.sweeps import by_numbers, point_of
from storage.bench.run.document import Document
from storage.bench.run.plan import Part

_RATES: Final = ("write-rate", "read-rate")
_FIRST: Final[dict[str, Sequence[str]]] = {
    Part.SYSTEM: (
        *("events", "sign", "verify", "digest", "write", "read", "received", "round-trip"),
        *_RATES,
    ),
    Part.IO: (
        *("upload-rate", "stream-rate", "audit-rate", *_RATES),
        *("fsync-latency-p50", "fsync-latency-p99"),
    ),
    Part.LEDGER: (
        *("highest-rate", "committed-rate", "readings-rate"),
        *("roomy-committed-rate", "limited-committed-rate", "committed-rate-ratio"),
    ),
    Part.OFFLOAD: (
        *("offload-p50", "offload-p95", "readings", "video", "gateway-memory-peak"),
        *("ratio-to-slower-alone", "errors"),
    ),
}
"""By part, in the order in which they are shown."""
_OPEN_LOOP: Final = ("response-p95", "committed-rate")
"""For workloads at a given rate, where the response time is what matters."""
_SMALL: Final = ("write-operations", "read-operations")
"""For points of a sweep with small blocks, instead of rates."""
_SMALL_BYTES: Final = 64 << 10


def chosen(figures: Sequence[Document]) -> list[Document]:
    """Return the most important figures of one part, in order; sweeps come last."""
    return sorted((each for each in figures if each["metric"] in _wanted(each)), key=_place)


def _wanted(figure: Document) -> Sequence[str]:
    part, workload = figure["part"], figure["workload"]
    if part == Part.LEDGER and workload.endswith("-open-loop"):
        return _OPEN_LOOP
    first, point = _FIRST.get(part, ()), point_of(workload)
    if point is None or point.block_bytes > _SMALL_BYTES:
        return first
    return (*_SMALL, *(each for each in first if each not in _RATES))


def _place(figure: Document) -> tuple[bool, Sequence[int | str], int]:
    workload, at = str(figure["workload"]), _wanted(figure).index(figure["metric"])
    return point_of(workload) is not None, by_numbers(workload), at
