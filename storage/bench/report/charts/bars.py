"""Medians as bars with their intervals: one chart for each workload, a panel for each unit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from storage.bench.report.charts.style import (
    CHART_ROWS_MAX,
    COLOURS,
    FLAGGED,
    Chart,
    chart,
    figure,
    in_parts,
    in_unit,
    label,
    legend,
)
from storage.bench.report.numbers import Scale, scale, unit_of
from storage.bench.run.document import Document
from storage.bench.run.savedrun import these

_ROW_IN: Final = 0.22
_PANEL_IN: Final = 0.5
_LEGEND_IN: Final = 0.35
_THICK: Final = 0.72
_NAME_ROWS: Final = 1.0
"""The name of a figure stands above its bars."""
_ROOM: Final = 1.5
"""Right end of the axis over the longest bar: room for the figure in words."""
_CAPTION: Final = (
    f"Medians, their intervals, and the single values. {FLAGGED}: flagged, see the table."
)


def bars(workload: str, figures: Sequence[Document], places: Mapping[str, int]) -> Iterator[Chart]:
    """Yield the charts of one workload.

    Args:
        workload: Its name.
        figures: Of the result, of this workload.
        places: Of each target's colour.
    """
    for number, some in enumerate(in_parts(figures, CHART_ROWS_MAX)):
        panels = list(these(some, "unit").values())
        heights = [_PANEL_IN + _ROW_IN * _rows(panel) for panel in panels]
        drawn = figure(sum(heights) + _LEGEND_IN)
        axes = drawn.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axis, panel in zip(axes, panels, strict=True):
            _panel(axis, panel, places)
        targets = list(these(some, "target"))
        handles = [Patch(color=COLOURS[places[target]]) for (target,) in targets]
        legend(drawn, handles, [target for (target,) in targets])
        title = f"{workload}: medians" if not number else f"{workload}: medians, continued"
        yield chart(f"bars-{workload}-{number}", title, _CAPTION, drawn)


def _rows(panel: Sequence[Document]) -> float:
    return len(panel) + _NAME_ROWS * len(these(panel, "metric"))


def _panel(axis: Axes, panel: Sequence[Document], places: Mapping[str, int]) -> None:
    unit = panel[0]["unit"]
    seen = [value for each in panel for value in each["values"]]
    suits = scale(seen, unit)
    top = 0.0
    for (metric,), group in these(panel, "metric").items():
        axis.annotate(
            label(metric),
            (0, top + _NAME_ROWS / 2 - 0.5),
            xycoords=("axes fraction", "data"),
            xytext=(1, 0),
            textcoords="offset points",
            va="center",
        )
        top += _NAME_ROWS
        own = scale([value for each in group for value in each["values"]], unit_of(group[0]))
        for each in group:
            _bar(axis, top, each, own, COLOURS[places[each["target"]]])
            top += 1
    axis.set_yticks([])
    axis.grid(visible=False, axis="y")
    axis.set_ylim(top - 0.5, -0.5)
    axis.set_xlim(min(0.0, *seen), (max(*seen, 0.0) or 1.0) * _ROOM)
    in_unit(axis, "x", suits)
    if suits.label:
        axis.set_xlabel(suits.label)


def _bar(axis: Axes, top: float, each: Document, suits: Scale, colour: str) -> None:
    axis.barh(top, each["median"], _THICK, color=colour, alpha=0.35, edgecolor=colour)
    axis.plot(each["values"], [top] * len(each["values"]), ".", color=colour, markersize=4)
    axis.plot([each["low"], each["high"]], [top, top], color=colour, marker="|", markersize=6)
    words = suits.text(each["median"]) + (f" {FLAGGED}" if each["flags"] else "")
    end = max(each["median"], *each["values"], each["high"])
    axis.annotate(
        words, (end, top), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9
    )
