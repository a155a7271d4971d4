"""The papers' figures drawn anew from a run's own tables over time."""

from collections.abc import Mapping, Sequence
from typing import Final

from storage.bench.paper.known import Curve, Redrawn
from storage.bench.report.charts.overtime import Line, key, panel, suited, unit_of
from storage.bench.report.charts.style import Chart, chart, figure, label, legend
from storage.bench.report.savedrun import Table

_PANEL_IN: Final = 1.5
_HEAD_IN: Final = 0.7
_HOW: Final = "A line for each repetition here: thick the first, thin the others."


def redrawn_chart(
    redrawn: Redrawn, interfaces: Mapping[str, str], tables: Mapping[str, Sequence[Sequence[Table]]]
) -> Chart:
    """Return one figure of a paper, a panel for each target.

    Args:
        redrawn: Which.
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


def _all(curves: Sequence[Curve], tables: Sequence[Sequence[Table]]) -> list[Line]:
    return [
        Line(table.column(table.columns[0]), table.column(curve.column), place, number == 0)
        for place, (curve, each) in enumerate(zip(curves, tables, strict=True))
        for number, table in enumerate(each)
    ]
