"""Metrics and series that figures.json expects of each workload."""

from typing import Final

from storage.bench.paper.known import known
from storage.bench.run.savedrun import SavedRun

EXECUTED: Final = {
    ("system", "at-rest"),
    ("system", "tcp"),
    ("system", "udp"),
    ("system", "ping"),
    ("system", "sequential-1m-qd8-read0"),
    ("system", "sequential-1m-qd8-read100"),
    ("system", "random-4k-qd1-read0"),
    ("system", "random-4k-qd1-read100"),
    ("io", "cassandra"),
    ("io", "direct"),
    ("ledger", "poet-readings"),
    ("ledger", "bep-23-open-loop"),
    ("ledger", "bep-23-flat-out"),
    ("ledger", "key-value-flat-out"),
}
"""Workloads that tests execute for real, and hold to this module."""


def wanted(part: str, workload: str) -> set[str]:
    """Return the metrics of a workload that stand beside figures of the papers."""
    return {
        each.measured
        for each in known().correspondences
        if (each.part, each.workload) == (part, workload)
    }


def drawn(part: str, workload: str) -> set[tuple[str, str]]:
    """Return the series and their columns that figures of the papers are redrawn from."""
    return {
        (curve.series, curve.column)
        for each in known().redrawn
        if (each.part, each.workload) == (part, workload)
        for curve in each.curves
    }


def unwritten(run: SavedRun, part: str) -> set[tuple[str, ...]]:
    """Return metrics and series that a part's executed workloads should have, but lack."""
    here = {each for each in EXECUTED if each[0] == part}
    figures = {(each["workload"], each["metric"]) for each in run.result["figures"]}
    columns = {
        (each["workload"], series, column)
        for each in run.result["executions"]
        for series in each["series"]
        for column in run.table(each, series).columns
    }
    metrics = {(workload, each) for _, workload in here for each in wanted(part, workload)}
    curves = {(workload, *each) for _, workload in here for each in drawn(part, workload)}
    return (metrics - figures) | (curves - columns)
