"""Tables over time: a chart for each series of a workload, a panel for each of its columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from storage.bench.report.charts.style import (
    COLOURS,
    LINES,
    Chart,
    chart,
    figure,
    in_parts,
    in_unit,
    label,
    legend,
)
from storage.bench.report.numbers import Scale, scale
from storage.bench.run.savedrun import Table

PANELS_MAX: Final = 4
"""In one chart; further ones go into another."""
POINTS_MAX: Final = 1000
"""Of one line; more samples are averaged with their neighbours."""
_ROOM: Final = 1.08
"""Upper end of the axis over the highest value."""
_PANEL_IN: Final = 1.15
_HEAD_IN: Final = 0.7
_UNITS: Final = {
    "_bytes_per_s": "B/s",
    "_per_s": "1/s",
    "_bytes": "B",
    "_s": "s",
    "_cores": "cores",
    "_celsius": "°C",
    "_mhz": "MHz",
    "_w": "W",
    "_j": "J",
}
"""By the ending of a column's name."""
SAMPLES_MIN: Final = 3
"""A table of fewer rows shows no course."""
_CAPTION: Final = "A line for each repetition: thick the first, thin the others."


@dataclass(frozen=True, slots=True)
class Traced:
    """A table of one execution, with its target."""

    target: str
    table: Table


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of one execution over time.

    Attributes:
        place: Of its colour and dashes.
        thick: Stands out among others of its colour.
    """

    seconds: Sequence[float]
    values: Sequence[float]
    place: int
    thick: bool = True


def unit_of(column: str) -> tuple[str, str]:
    """Return a column's name in words, and its unit."""
    for ending, unit in _UNITS.items():
        if column.endswith(ending):
            return column.removesuffix(ending).replace("_", " "), unit
    return column.replace("_", " "), "1"


def over_time(title: str, traced: Sequence[Traced], places: Mapping[str, int]) -> Iterator[Chart]:
    """Yield the charts of one series.

    Args:
        title: What they show.
        traced: All its executions on all targets, in the order of time.
        places: Of each target's colour.
    """
    columns = list(dict.fromkeys(name for each in traced for name in _known(each.table)))
    targets = list(dict.fromkeys(each.target for each in traced))
    for number, some in enumerate(in_parts(columns, PANELS_MAX)):
        drawn = figure(_PANEL_IN * len(some) + _HEAD_IN)
        axes = drawn.subplots(len(some), 1, squeeze=False, sharex=True)[:, 0]
        for axis, column in zip(axes, some, strict=True):
            words, unit = unit_of(column)
            found = list(lines(traced, column, places))
            panel(axis, found, suited(found, unit))
            axis.set_title(label(words))
        axes[-1].set_xlabel("s since it began")
        legend(drawn, [key(places[target]) for target in targets], targets)
        more = ", continued" if number else ""
        yield chart(f"time-{title}-{number}", f"{title} over time{more}", _CAPTION, drawn)


def lines(traced: Sequence[Traced], column: str, places: Mapping[str, int]) -> Iterator[Line]:
    """Yield a line for each execution that has the column; the first of each target is thick."""
    seen: set[str] = set()
    for each in traced:
        if column in each.table.columns[1:]:
            seconds = each.table.column(each.table.columns[0])
            thick = each.target not in seen
            seen.add(each.target)
            yield Line(seconds, each.table.column(column), places[each.target], thick)


def suited(drawn: Sequence[Line], unit: str) -> Scale:
    """Return the unit that suits all lines of one upright axis."""
    return scale([value for line in drawn for value in line.values], unit)


def panel(axis: Axes, drawn: Sequence[Line], suits: Scale) -> None:
    """Draw lines over one axis of time, from 0."""
    for line in drawn:
        seconds, values = _thinned(line.seconds), _thinned(line.values)
        look = LINES[line.place] if line.thick else "-"
        axis.plot(
            seconds,
            values,
            color=COLOURS[line.place],
            linestyle=look,
            linewidth=1.4 if line.thick else 0.6,
            alpha=1 if line.thick else 0.5,
        )
    known = [value for line in drawn for value in line.values if isfinite(value)]
    axis.set_ylim(min([0.0, *known]), (max(known, default=0.0) or 1.0) * _ROOM)
    axis.set_xlim(left=0)
    in_unit(axis, "y", suits)
    axis.set_ylabel(suits.label)


def key(place: int) -> Line2D:
    """Return the key of a line in a legend."""
    return Line2D([], [], color=COLOURS[place], linestyle=LINES[place])


def _known(table: Table) -> Iterator[str]:
    """Yield the columns to draw: without columns of zeros and of absent values."""
    for name in table.columns[1:]:
        if any(isfinite(value) and value for value in table.column(name)):
            yield name


def _thinned(values: Sequence[float]) -> list[float]:
    if len(values) <= POINTS_MAX:
        return list(values)
    return [float(part.mean()) for part in np.array_split(np.asarray(values), POINTS_MAX)]
