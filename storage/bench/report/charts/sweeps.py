"""Sweeps: rate and latency over the requests under way, a panel for each block size and way."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from storage.bench.report.charts.overtime import key
from storage.bench.report.charts.style import (
    COLOURS,
    LINES,
    Chart,
    chart,
    figure,
    in_time,
    in_unit,
    label,
    legend,
)
from storage.bench.report.flagged import everywhere, without
from storage.bench.report.numbers import scale
from storage.bench.report.sweeps import PlottedPoint
from storage.bench.run.document import Document
from storage.bench.run.savedrun import these

WAYS: Final = ("read", "write")
_PERCENTILES: Final = ("p50", "p99")
"""The first as a line in its target's style, the second dotted."""
_PANEL_IN: Final = 1.3
_HEAD_IN: Final = 0.75
_ROOM: Final = 1.1
_POINTS: Final = "Medians with their intervals; a hollow point has a flag of its own."

Swept = Sequence[tuple[PlottedPoint, Document]]
"""Figures of one sweep, in the order of block sizes and requests under way."""


def sweep_charts(title: str, found: Swept, places: Mapping[str, int]) -> Iterator[Chart]:
    """Yield the chart of rates and the one of latencies of one sweep.

    Args:
        title: Of the sweep.
        found: All its figures; others than rates and latencies are not drawn.
        places: Of each target's colour.
    """
    rates = {way: f"{way}-rate" for way in WAYS}
    if drawn := _grid(found, {way: [metric] for way, metric in rates.items()}, places):
        yield chart(f"{title}-rate", f"{title}: rate over queue depth", _POINTS, drawn)
    latencies = {way: [f"{way}-latency-{each}" for each in _PERCENTILES] for way in WAYS}
    if drawn := _grid(found, latencies, places):
        caption = f"The median operation, and dotted the 99th percentile. {_POINTS}"
        yield chart(f"{title}-latency", f"{title}: latency over queue depth", caption, drawn)


def _grid(
    found: Swept, metrics: Mapping[str, Sequence[str]], places: Mapping[str, int]
) -> Figure | None:
    """Return panels, a row for each block size and a column for each way; None without figures."""
    names = {metric for each in metrics.values() for metric in each}
    seen = [(point, each) for point, each in found if each["metric"] in names]
    if not seen:
        return None
    alike = everywhere([each for _, each in seen])
    seen = [(point, without([each], alike)[0]) for point, each in seen]
    blocks = list(dict.fromkeys(point.block for point, _ in seen))
    have = {each["metric"] for _, each in seen}
    ways = [way for way in WAYS if have & set(metrics[way])]
    drawn = figure(_PANEL_IN * len(blocks) + _HEAD_IN)
    axes = drawn.subplots(len(blocks), len(ways), squeeze=False, sharex=True, sharey="row")
    depths = sorted({point.depth for point, _ in seen})
    for (row, block), (column, way) in product(enumerate(blocks), enumerate(ways)):
        axis = axes[row, column]
        some = [(point, each) for point, each in seen if point.block == block]
        _panel(
            axis, [one for one in some if one[1]["metric"] in metrics[way]], metrics[way], places
        )
        _dress(axis, [each for _, each in some], depths)
        axis.set_title(label(f"{block} {way}"))
        if column:
            axis.set_ylabel("")
    for axis in axes[-1]:
        axis.set_xlabel("requests under way")
    targets = [target for (target,) in these([each for _, each in seen], "target")]
    legend(drawn, [key(places[target]) for target in targets], targets)
    return drawn


def _panel(axis: Axes, seen: Swept, metrics: Sequence[str], places: Mapping[str, int]) -> None:
    lines: dict[tuple[str, str], list[tuple[PlottedPoint, Document]]] = {}
    for point, each in seen:
        lines.setdefault((each["target"], each["metric"]), []).append((point, each))
    for (target, metric), some in lines.items():
        place = places[target]
        first = metric == metrics[0]
        axis.plot(
            [point.depth for point, _ in some],
            [each["median"] for _, each in some],
            color=COLOURS[place],
            linestyle=LINES[place] if first else ":",
            linewidth=1.4 if first else 1,
        )
        for point, each in some:
            axis.add_line(_interval(point.depth, each, COLOURS[place]))


def _interval(depth: int, each: Document, colour: str) -> Line2D:
    """Return one median with its interval."""
    return Line2D(
        [depth] * 3,
        [each["low"], each["median"], each["high"]],
        color=colour,
        linewidth=1,
        marker="o",
        markersize=4,
        markevery=[1],
        markerfacecolor="none" if each["flags"] else colour,
    )


def _dress(axis: Axes, row: Sequence[Document], depths: Sequence[int]) -> None:
    """Number both axes; panels of one row have one upright axis."""
    axis.set_xscale("log", base=2)
    axis.set_xticks(depths, [str(depth) for depth in depths], minor=False)
    axis.set_xticks([], minor=True)
    axis.set_xlim(depths[0] / 1.3, depths[-1] * 1.3)
    unit = row[0]["unit"]
    ends = [value for each in row for value in (each["low"], each["high"]) if value > 0] or [1.0]
    if unit == "s":
        axis.set_yscale("log")
        in_time(axis, "y", min(ends), max(ends))
        return
    suits = scale(ends, unit)
    axis.set_ylim(0, max(ends) * _ROOM)
    in_unit(axis, "y", suits)
    axis.set_ylabel(suits.label)
