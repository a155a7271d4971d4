"""What an hour of each kind of node costs, by what it is paid for."""

from collections.abc import Mapping
from typing import Final

from matplotlib.patches import Patch

from storage.bench.cost.model import NodeHour
from storage.bench.report.charts.style import COLOURS, Chart, chart, figure, in_unit, label, legend
from storage.bench.report.numbers import Scale

_ROW_IN: Final = 0.3
_HEAD_IN: Final = 0.9
_PAID_FOR: Final = ("hardware", "energy", "manpower")


def node_hours_chart(hours: Mapping[str, NodeHour], currency: str) -> Chart:
    """Return bars, one for each kind of node, of at least one."""
    drawn = figure(_ROW_IN * len(hours) + _HEAD_IN)
    axis = drawn.subplots()
    for row, hour in enumerate(hours.values()):
        left = 0.0
        for place, part in enumerate((hour.hardware, hour.energy, hour.manpower)):
            axis.barh(row, part, 0.7, left=left, color=COLOURS[place], alpha=0.7)
            left += part
    axis.set_yticks(range(len(hours)), [label(name) for name in hours])
    axis.invert_yaxis()
    axis.grid(visible=False, axis="y")
    axis.tick_params(axis="y", length=0)
    in_unit(axis, "x", Scale(1.0, currency))
    axis.set_xlabel(label(f"{currency} per hour"))
    legend(drawn, [Patch(color=COLOURS[place], alpha=0.7) for place in range(3)], _PAID_FOR)
    caption = "Rented nodes are charged no manpower, as in papers/000."
    return chart("cost", "Cost of a node-hour", caption, drawn)
