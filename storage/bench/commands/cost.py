"""`wayseal-bench cost`: the cost of an hour of each kind of node, and of a run's rates."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from storage.bench.arguments import at_least_one
from storage.bench.cost.model import NodeHour, ownership
from storage.bench.cost.parameters import Parameters, parameters_of, read_parameters
from storage.bench.cost.rates import Costed, costs
from storage.bench.run.document import Document
from storage.bench.run.savedrun import opened


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add = parser.add_argument
    add(
        "run_folder", nargs="?", type=Path, metavar="RUN", help="folder of a run, to cost its rates"
    )
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
        help="number of nodes behind the run's rates; default %(default)s",
    )


def table(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Return the costs as lines for people and as JSON for programs.

    Raises:
        RejectedError: The run is missing, or the parameters are invalid.
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
