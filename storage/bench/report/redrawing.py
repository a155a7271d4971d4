"""Which of the papers' figures a run has the tables for."""

from collections.abc import Iterator

from contracts.errors import RejectedError
from storage.bench.paper.known import Curve, Redrawn, known
from storage.bench.report.charts.redrawn import redrawn_chart
from storage.bench.report.charts.style import Chart
from storage.bench.report.savedrun import SavedRun, Table, these
from storage.bench.run.document import Document


def redrawn(run: SavedRun) -> Iterator[Chart]:
    """Yield the papers' figures that this run's tables allow to draw."""
    interfaces = {each["name"]: each["interface"] for each in run.result["targets"]}
    for each in known().redrawn:
        tables = dict(_by_target(run, each))
        if tables:
            yield redrawn_chart(each, interfaces, tables)


def _by_target(run: SavedRun, wanted: Redrawn) -> Iterator[tuple[str, list[list[Table]]]]:
    executions = [
        each
        for each in run.result["executions"]
        if (each["part"], each["workload"]) == (wanted.part, wanted.workload)
    ]
    for (target,), done in sorted(these(executions, "target").items()):
        tables = [list(_tables(run, curve, done)) for curve in wanted.curves]
        if any(tables):
            yield target, tables


def _tables(run: SavedRun, curve: Curve, executions: list[Document]) -> Iterator[Table]:
    for each in executions:
        if curve.series in each["series"]:
            try:
                table = run.table(each, curve.series)
            except RejectedError:
                continue  # what cannot be read is said where the workload is shown
            if curve.column in table.columns and table.rows:
                yield table
