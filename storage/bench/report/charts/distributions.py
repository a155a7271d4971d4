"""Latencies as cumulative distributions whose tail can be read."""

from collections.abc import Mapping
from math import log10
from typing import Final

from matplotlib.axes import Axes

from storage.bench.report.charts.overtime import key
from storage.bench.report.charts.style import (
    COLOURS,
    LINES,
    Chart,
    chart,
    figure,
    in_time,
    legend,
)
from storage.bench.report.latencies import Distribution

_HEIGHT_IN: Final = 2.9
_TICKS: Final = (50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999)
_MARKED: Final = (50.0, 90.0, 99.0, 99.9)
_LEAST_S: Final = 1e-6
_CAPTION: Final = (
    "Share of operations that took no longer. Dots: 50, 90, 99, 99.9 % as far as samples suffice."
)


def distribution_chart(
    title: str, found: Mapping[str, Distribution], places: Mapping[str, int]
) -> Chart:
    """Return one chart of one kind of latency.

    Args:
        title: What took so long.
        found: By target, each of at least one sample.
        places: Of each target's colour.
    """
    drawn = figure(_HEIGHT_IN)
    axis = drawn.subplots()
    for target, each in found.items():
        _curve(axis, each, places[target])
    _dress(axis, max(each.samples for each in found.values()))
    seen_s = [value for each in found.values() for value in (each.values_s[0], each.most_s)]
    in_time(axis, "x", max(min(seen_s), _LEAST_S), max(*seen_s, _LEAST_S))
    legend(drawn, [key(places[target]) for target in found], list(found))
    return chart(f"cdf-{title}", f"{title}, latency", _CAPTION, drawn)


def _curve(axis: Axes, found: Distribution, place: int) -> None:
    """Draw one distribution; the longest ends it where half a sample would be left."""
    axis.plot(
        [max(value, _LEAST_S) for value in found.values_s],
        [_height(count, found.samples) for count in found.counts],
        color=COLOURS[place],
        linestyle=LINES[place],
        drawstyle="steps-post",
    )
    marked = [each for each in _MARKED if found.suffices(each)]
    axis.plot(
        [max(found.at(each), _LEAST_S) for each in marked],
        [_height(found.samples * each / 100, found.samples) for each in marked],
        "o",
        markersize=3.5,
        color=COLOURS[place],
    )


def _dress(axis: Axes, samples: int) -> None:
    axis.set_xscale("log")
    ticks = [each for each in _TICKS if samples * (100 - each) >= 50]  # noqa: PLR2004 - half a sample
    axis.set_yticks([-log10(1 - each / 100) for each in ticks], [f"{each:g} %" for each in ticks])
    axis.set_ylim(bottom=0)


def _height(count: float, samples: int) -> float:
    return -log10(max(1 - count / samples, 0.5 / samples))
