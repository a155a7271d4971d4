"""Which of the papers' figures a run has the tables for."""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts.errors import RejectedError
from storage.bench.paper.known import Curve, Redrawn, known
from storage.bench.report.charts.overtime import SAMPLES_MIN
from storage.bench.report.charts.redrawn import redrawn_chart
from storage.bench.report.charts.style import Chart
from storage.bench.report.savedrun import SavedRun, Table, these
from storage.bench.run.document import Document


@dataclass(frozen=True, slots=True)
class Drawn:
    """The papers' figures, as far as a run has the tables for them.

    Attributes:
        missing: What is not drawn and why, in sentences.
    """

    charts: list[Chart]
    missing: list[str]


def redrawn(run: SavedRun) -> Drawn:
    """Draw the papers' figures that this run's tables allow to draw."""
    interfaces = {each["name"]: each["interface"] for each in run.result["targets"]}
    executed = {(each["part"], each["workload"]) for each in run.result["executions"]}
    found = Drawn([], [])
    for each in known().redrawn:
        tables = dict(_by_target(run, each))
        if tables:
            found.charts.append(redrawn_chart(each, interfaces, tables))
        elif (each.part, each.workload) in executed:
            why = f"{each.workload} was over before there were {SAMPLES_MIN} samples"
            found.missing.append(f"{each.figure}, {each.shown}, is not drawn: {why}.")
    return found


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
            if curve.column in table.columns and len(table.rows) >= SAMPLES_MIN:
                yield table
