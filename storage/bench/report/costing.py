"""The cost of a run's rates, by the parameters that its settings keep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from matplotlib.patches import Patch

from contracts.errors import RejectedError
from storage.bench.cost.model import NodeHour
from storage.bench.cost.parameters import Parameters, parameters_of
from storage.bench.cost.rates import Costed, costs
from storage.bench.report.charts.style import COLOURS, Chart, chart, figure, in_unit, label, legend
from storage.bench.report.gallery import Gallery, Placed
from storage.bench.report.numbers import Scale, digits
from storage.bench.run.savedrun import SavedRun

COST: Final = "cost"
UNKNOWN: Final = "power unknown"
_ROW_IN: Final = 0.3
_HEAD_IN: Final = 0.9
_PAID_FOR: Final = ("hardware", "energy", "manpower")


@dataclass(frozen=True, slots=True)
class PriceTable:
    """A table of words; the first word of each row is its name."""

    heads: tuple[str, ...]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Costs:
    """The section of a page about cost.

    Attributes:
        note: How to read the tables.
        problem: Reason why there are no tables, in a sentence; else empty.
    """

    note: str
    tables: tuple[PriceTable, ...]
    charts: tuple[Placed, ...]
    problem: str = ""


def costing(run: SavedRun, gallery: Gallery) -> Costs | None:
    """Return the cost of a run; None if the run has no parameters of the cost model.

    Raises:
        UnavailableError: A chart can't be written.
    """
    kept = run.result["settings"].get(COST)
    if kept is None:
        return None
    try:
        parameters = parameters_of(kept, "settings of the run")
    except RejectedError as error:
        return Costs("", (), (), f"Costs are not shown: {error}.")
    hours = {name: each for name, each in parameters.node_hours().items() if each is not None}
    cluster = parameters.cluster
    note = (
        f"In {parameters.currency}. {cluster.nodes} nodes, {digits(cluster.lifetime_h)} h of life, "
        f"{digits(cluster.electricity_per_kwh)} per kWh, {digits(cluster.manpower_per_h)} per hour "
        "of manpower for all nodes. The cost of a rate on another kind of node assumes "
        "that the node is as fast as this machine."
    )
    drawn = (gallery.keep(_chart(hours, parameters.currency)),) if hours else ()
    rates = list(costs(run.result, parameters, 1))
    tables = [_hours(hours), *([_rates(parameters, rates)] if rates else [])]
    return Costs(note, tuple(tables), drawn)


def _hours(hours: dict[str, NodeHour]) -> PriceTable:
    return PriceTable(
        ("node-hour", "hardware", "energy", "no manpower", "all in"),
        [
            [name, *map(digits, (each.hardware, each.energy, each.machine, each.all_in))]
            for name, each in hours.items()
        ],
    )


def _rates(parameters: Parameters, rates: list[Costed]) -> PriceTable:
    rows: dict[str, list[str]] = {}
    for each in rates:
        name = f"{each.workload} {each.metric} on {each.target}, per {each.amount}"
        rows.setdefault(name, [name]).append(
            UNKNOWN
            if each.machine is None or each.all_in is None
            else f"{digits(each.machine)} ({digits(each.all_in)} all in)"
        )
    return PriceTable(("rate", *parameters.node_hours()), list(rows.values()))


def _chart(hours: Mapping[str, NodeHour], currency: str) -> Chart:
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
