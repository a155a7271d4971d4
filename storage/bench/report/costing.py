"""The cost of a run's rates, by the parameters that its settings keep."""

from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError
from storage.bench.cost.command import Costed, costs
from storage.bench.cost.model import NodeHour
from storage.bench.cost.parameters import Parameters, parameters_of
from storage.bench.report.charts.nodehours import node_hours_chart
from storage.bench.report.gallery import Gallery, Placed
from storage.bench.report.numbers import digits
from storage.bench.report.savedrun import SavedRun

COST: Final = "cost"
UNKNOWN: Final = "power unknown"


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Words in rows; the first of each names it."""

    heads: tuple[str, ...]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Costs:
    """What a page says of cost.

    Attributes:
        note: How to read the tables.
        problem: Why there are none, in a sentence; empty if there are.
    """

    note: str
    tables: tuple[PriceTable, ...]
    charts: tuple[Placed, ...]
    problem: str = ""


def costing(run: SavedRun, gallery: Gallery) -> Costs | None:
    """Return the cost of a run; None if it keeps no parameters of the cost model.

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
        "of manpower for all nodes. What a rate costs on another kind of node is what it would "
        "cost there if that node were as fast as this machine."
    )
    drawn = (gallery.keep(node_hours_chart(hours, parameters.currency)),) if hours else ()
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
