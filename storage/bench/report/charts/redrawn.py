"""The papers' figures, drawn again from a run's own tables over time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError
from storage.bench.paper.known import PaperCurve, Redrawn, known
from storage.bench.report.charts.overtime import SAMPLES_MIN, Line, key, panel, suited, unit_of
from storage.bench.report.charts.style import Chart, chart, figure, label, legend
from storage.bench.run.document import Document
from storage.bench.run.savedrun import SavedRun, Table, these

_PANEL_IN: Final = 1.5
_HEAD_IN: Final = 0.7
_HOW: Final = "A line for each repetition here: thick the first, thin the others."


@dataclass(frozen=True, slots=True)
class Drawn:
    """The papers' figures for which a run has tables.

    Attributes:
        missing: Figures that are not drawn, with reasons, in sentences.
    """

    charts: list[Chart]
    missing: list[str]


def redrawn(run: SavedRun) -> Drawn:
    """Draw the papers' figures for which this run has tables."""
    interfaces = {each["name"]: each["interface"] for each in run.result["targets"]}
    executed = {(each["part"], each["workload"]) for each in run.result["executions"]}
    found = Drawn([], [])
    for each in known().redrawn:
        tables = dict(_by_target(run, each))
        if tables:
            found.charts.append(_chart(each, interfaces, tables))
        elif (each.part, each.workload) in executed:
            why = f"{each.workload} was over before there were {SAMPLES_MIN} samples"
            found.missing.append(f"{each.figure}, {each.shown}, is not drawn: {why}.")
    return found


def _chart(
    redrawn: Redrawn, interfaces: Mapping[str, str], tables: Mapping[str, Sequence[Sequence[Table]]]
) -> Chart:
    """Return one figure of a paper, a panel for each target.

    Args:
        redrawn: The figure.
        interfaces: By target.
        tables: By target, for each curve the tables of all executions.
    """
    drawn = figure(_PANEL_IN * len(tables) + _HEAD_IN)
    axes = drawn.subplots(len(tables), 1, squeeze=False, sharex=True, sharey=True)[:, 0]
    _, unit = unit_of(redrawn.curves[0].column)
    found = {target: _all(redrawn.curves, by_curve) for target, by_curve in tables.items()}
    suits = suited([line for some in found.values() for line in some], unit)
    for axis, (target, some) in zip(axes, found.items(), strict=True):
        panel(axis, some, suits)
        interface = interfaces.get(target)
        axis.set_title(label(f"{target} ({interface})" if interface else target))
    axes[-1].set_xlabel("s since it began")
    if len(redrawn.curves) > 1:
        keys = [key(place) for place in range(len(redrawn.curves))]
        legend(drawn, keys, [each.shown for each in redrawn.curves])
    title = f"Paper 002, {redrawn.figure}: {redrawn.shown}"
    return chart(f"redrawn-{redrawn.figure}", title, f"{redrawn.note} {_HOW}", drawn)


def _all(curves: Sequence[PaperCurve], tables: Sequence[Sequence[Table]]) -> list[Line]:
    return [
        Line(table.column(table.columns[0]), table.column(curve.column), place, number == 0)
        for place, (curve, each) in enumerate(zip(curves, tables, strict=True))
        for number, table in enumerate(each)
    ]


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


def _tables(run: SavedRun, curve: PaperCurve, executions: list[Document]) -> Iterator[Table]:
    for each in executions:
        if curve.series in each["series"]:
            try:
                table = run.table(each, curve.series)
            except RejectedError:
                continue  # the section of the workload reports the error
            if curve.column in table.columns and len(table.rows) >= SAMPLES_MIN:
                yield table
