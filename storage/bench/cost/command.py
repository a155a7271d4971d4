"""`wayseal-bench cost`: what an hour of each kind of node costs, and what a run's rates cost."""

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from storage.bench.arguments import at_least_one
from storage.bench.cost.model import NodeHour, cost_of, ownership
from storage.bench.cost.parameters import Parameters, parameters_of, read_parameters
from storage.bench.machine.power import POWER
from storage.bench.report.savedrun import opened
from storage.bench.run.document import Document
from storage.bench.run.plan import Part

MILLION: Final = 1_000_000
TB: Final = 1_000_000_000_000
_COSTED: Final = {
    (Part.LEDGER, "1/s"): (MILLION, "million transactions"),
    (Part.OFFLOAD, "1/s"): (MILLION, "million transactions"),
    (Part.IO, "B/s"): (TB, "TB"),
    (Part.OFFLOAD, "B/s"): (TB, "TB"),
}
"""Of all the rates in a run, those that somebody pays for: readings and bytes of video."""
_PEAK: Final = "-max"
"""End of the name of a figure that nobody sustains."""


@dataclass(frozen=True, slots=True)
class Costed:
    """What a rate of a run costs on one kind of node.

    Attributes:
        amount: In words, as in `TB`.
        power: Where the node's power comes from: `given`, the metric of the run, `unknown`, or
            `rent` which has it.
        machine: Without manpower; None when the node's power is not known.
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


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what is asked of this command."""
    add = parser.add_argument
    add("run_folder", nargs="?", type=Path, metavar="RUN", help="folder of a run, for its rates")
    add(
        "--parameters",
        type=Path,
        metavar="FILE",
        help="TOML; default: those of the run, else of papers/000",
    )
    add(
        "--machines",
        type=at_least_one,
        default=1,
        metavar="N",
        help="nodes that the run's rates took together; default %(default)s",
    )


def table(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Return the costs as lines for people and as JSON for programs.

    Raises:
        RejectedError: There is no such run, or the parameters are wrong.
    """
    result = None if options.run_folder is None else opened(options.run_folder).result
    parameters = _parameters(options, result)
    hours = parameters.node_hours()
    found = [] if result is None else list(costs(result, parameters, options.machines))
    lines = _hours(parameters, hours)
    if result is not None:
        lines += ["", *_rates(parameters, found)]
    return lines, {
        "parameters": parameters.described,
        "node_hours": {
            name: None if hour is None else {"machine": hour.machine, "all_in": hour.all_in}
            for name, hour in hours.items()
        },
        "rates": [asdict(each) for each in found],
    }


def costs(result: Document, parameters: Parameters, machines: int) -> Iterator[Costed]:
    """Yield what each sustained rate of a run costs on each kind of node.

    The rates are those of the machine that was measured: another kind of node in the parameters
    answers what they would cost there if it were as fast.

    Args:
        result: Of a run.
        parameters: Prices.
        machines: That the rates took together.
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
    """Return which metric has the power of the same workload on the same target, and its median."""
    for other in result["figures"]:
        same = all(other[key] == figure[key] for key in ("part", "workload", "target"))
        if same and other["metric"].startswith(POWER):
            return other["metric"], float(other["median"])
    return "unknown", None


def _hours(parameters: Parameters, hours: dict[str, NodeHour | None]) -> list[str]:
    heads = ("hardware", "energy", "no manpower", "all in", "lifetime")
    lines = [f"{parameters.currency} per node-hour" + "".join(f"{head:>13}" for head in heads)]
    for name, hour in hours.items():
        if hour is None:
            lines.append(f"{name:17} power_w is not given: as measured in a run")
            continue
        cells = (hour.hardware, hour.energy, hour.machine, hour.all_in)
        whole = ownership(parameters.cluster, hour)
        lines.append(f"{name:17}" + "".join(f"{_money(each):>13}" for each in (*cells, whole)))
    cluster = parameters.cluster
    return [*lines, f"lifetime: of {cluster.nodes} nodes, {cluster.lifetime_h:g} h"]


def _rates(parameters: Parameters, found: list[Costed]) -> list[str]:
    if not found:
        return ["This run has no rate of transactions or bytes to cost."]
    heads = f"{'workload':28} {'target':12} {'metric':20} {'node':17} {'power':12}"
    lines = [f"{heads} {'no manpower':>13} {'all in':>13}"]
    for each in found:
        what = f"{each.workload:28} {each.target:12} {each.metric:20} {each.node:17}"
        money = f"{_money(each.machine):>13} {_money(each.all_in):>13}"
        lines.append(f"{what} {each.power:12} {money} {parameters.currency} per {each.amount}")
    return lines


def _money(amount: float | None) -> str:
    """Return an amount with four significant digits, the fourth with its zeros."""
    return "?" if amount is None else f"{amount:#.4g}"


def _parameters(options: argparse.Namespace, result: Document | None) -> Parameters:
    if options.parameters is not None:
        return read_parameters(options.parameters)
    kept = None if result is None else result["settings"].get("cost")
    return read_parameters() if kept is None else parameters_of(kept, "settings of the run")
