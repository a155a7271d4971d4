"""What the rates of a run cost on each kind of node."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from storage.bench.cost.model import NodeHour, cost_of
from storage.bench.cost.parameters import Parameters
from storage.bench.run.document import Document
from storage.bench.run.outcome import POWER
from storage.bench.run.plan import Part

MILLION: Final = 1_000_000
TB: Final = 1_000_000_000_000
_COSTED: Final = {
    (Part.LEDGER, "1/s"): (MILLION, "million transactions"),
    (Part.OFFLOAD, "1/s"): (MILLION, "million transactions"),
    (Part.IO, "B/s"): (TB, "TB"),
    (Part.OFFLOAD, "B/s"): (TB, "TB"),
}
"""The rates of a run that users pay for: readings and bytes of video."""
_PEAK: Final = "-max"
"""End of the name of a peak: no system sustains it."""


@dataclass(frozen=True, slots=True)
class Costed:
    """The cost of a rate of a run on one kind of node.

    Attributes:
        amount: In words, as in `TB`.
        power: Source of the node's power: `given`, the metric of the run, `unknown`, or `rent`,
            which includes it.
        machine: Without manpower; None if the node's power is unknown.
        all_in: With manpower.
    """

    workload: str
    target: str
    metric: str
    amount: str
    node: str
    power: str
    machine: float | None
    all_in: float | None


def costs(result: Document, parameters: Parameters, machines: int) -> Iterator[Costed]:
    """Yield the cost of each sustained rate of a run on each kind of node.

    The rates are those of the measured machine. For another kind of node the cost assumes that
    the node is as fast.

    Args:
        result: Of a run.
        parameters: Prices.
        machines: Number that the rates took together.
    """
    for figure in result["figures"]:
        amount = _COSTED.get((figure["part"], figure["unit"]))
        if amount is None or figure["metric"].endswith(_PEAK) or not figure["median"] > 0:
            continue
        source, measured_w = _measured(result, figure)
        where = (figure["workload"], figure["target"], figure["metric"])
        for name, hour in parameters.node_hours(measured_w).items():
            cost = _cost(amount[0], figure["median"], hour, machines)
            yield Costed(*where, amount[1], name, parameters.power_of(name) or source, *cost)


def _cost(
    amount: float, rate: float, hour: NodeHour | None, machines: int
) -> tuple[float | None, float | None]:
    if hour is None:
        return None, None
    without, with_all = hour.machine * machines, hour.all_in * machines
    return cost_of(amount, rate, without), cost_of(amount, rate, with_all)


def _measured(result: Document, figure: Document) -> tuple[str, float | None]:
    """Return metric and median of the power of the same workload on the same target."""
    for other in result["figures"]:
        same = all(other[key] == figure[key] for key in ("part", "workload", "target"))
        if same and other["metric"].startswith(POWER):
            return other["metric"], float(other["median"])
    return "unknown", None
