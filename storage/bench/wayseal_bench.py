"""`wayseal-bench`: which storage and which ledger serve a gateway best, on your own machines."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from contracts.errors import WaysealError
from contracts.runtime.commands import (
    FAILED,
    add_version,
    complain,
    parse,
    write_for_any_terminal,
)
from storage.bench.arguments import at_least_one
from storage.bench.commands import compare, paper, report
from storage.bench.commands.cost import add_options as add_cost_options
from storage.bench.commands.cost import table
from storage.bench.commands.io import Io
from storage.bench.commands.ledger import LEDGER
from storage.bench.commands.measuring import Request, add_power_options, carry_out, chosen_meter
from storage.bench.commands.offload import Offload
from storage.bench.commands.system import System
from storage.bench.cost.parameters import DEFAULT, read_parameters
from storage.bench.report import terminal
from storage.bench.run.document import Document
from storage.bench.run.folder import RESULT
from storage.bench.run.part import PartCommand, Prepared, Setup
from storage.bench.run.plan import REPETITIONS
from storage.bench.run.volumetarget import named_directory

RUNS: Final = Path("wayseal-bench")
QUICK_REPETITIONS: Final = 2
PARTS: Final[Sequence[PartCommand]] = (System(), Io(), LEDGER, Offload())
_HELP: Final = {
    "system": "the limits of this machine itself",
    "io": "the gateway's storage on each target",
    "ledger": "transactions on each target",
    "offload": "the whole way from trucks to ledger",
    "all": "all of these, into one result",
    "cost": "the cost of an hour of each kind of node, and of a run's transactions and bytes",
    "report": "write the page of a run again, with its charts",
    "compare": "differences between two runs, and whether they are more than noise",
    "paper": "a run's figures beside the papers' figures",
}
Command = Callable[[argparse.Namespace], int]
"""Carries out a command; returns the exit status."""
_EPILOG: Final = """\
The method, every figure and every flag: docs/benchmarks.md.
The last line on standard output is a JSON object: `report`, the page for people (without
--no-report), and `result`, the same for programs. Ctrl-C ends a run early; the figures until then
are kept and reported. The exit status is 1 then, and if a step failed.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Carry out the command line."""
    write_for_any_terminal()
    options = _parse(arguments)
    try:
        status = options.run(options)
    except WaysealError as error:
        complain("wayseal-bench", error)
        status = FAILED
    if status:
        sys.exit(status)


def measure(options: argparse.Namespace) -> int:
    """Carry out parts; print where the result is, and the page unless it is not wanted.

    Returns:
        0 if everything planned was carried out, FAILED if a step failed or the run ended early.
    """
    parts: Sequence[PartCommand] = options.parts

    def prepare(setup: Setup, stack: ExitStack) -> dict[str, Prepared]:
        return {part.part.value: part.prepare(options, setup, stack) for part in parts}

    request = Request(
        title=options.command,
        command=["wayseal-bench", *sys.argv[1:]],
        out=options.out,
        power=chosen_meter(options),
        targets=options.target or (),
        quick=options.quick,
        repetitions=options.repetitions,
        seed=options.seed,
        settings={"cost": read_parameters(options.cost).described},
    )
    finished = carry_out(request, prepare)
    _tell(finished.result)
    written = {"result": str(finished.folder / RESULT)}
    if options.report:
        written = finished.reported()
    print(json.dumps(written))
    if finished.defect is not None:
        raise finished.defect
    return FAILED if finished.result["failures"] or not finished.result["complete"] else 0


def _printed(tell: Callable[[argparse.Namespace], Mapping[str, Any]]) -> Command:
    def run(options: argparse.Namespace) -> int:
        print(json.dumps(tell(options)))
        return 0

    return run


def cost(options: argparse.Namespace) -> Mapping[str, Any]:
    """Print the cost of nodes and of a run's rates; return it for programs."""
    lines, document = table(options)
    print("\n".join(lines))
    return document


def _tell(result: Document) -> None:
    """Print the most important figures."""
    console = Console(highlight=False)
    terminal.tell(result, console if console.is_terminal else Console(width=terminal.WIDTH))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="wayseal-bench",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, parts in {**{part.part.value: (part,) for part in PARTS}, "all": PARTS}.items():
        command = commands.add_parser(name, help=_HELP[name])
        _add_run_options(command)
        for part in parts:
            part.add_options(command)
        command.set_defaults(run=measure, parts=parts)
    command = commands.add_parser("cost", help=_HELP["cost"])
    add_cost_options(command)
    command.set_defaults(run=_printed(cost))
    for name, reader in {"report": report, "compare": compare, "paper": paper}.items():
        command = commands.add_parser(name, help=_HELP[name])
        reader.add_options(command)
        command.set_defaults(run=_printed(reader.tell))
    options = parse(parser, arguments)
    if "repetitions" in options and options.repetitions is None:
        options.repetitions = QUICK_REPETITIONS if options.quick else REPETITIONS
    return options


def _add_run_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "--target",
        type=named_directory,
        action="append",
        metavar="NAME=DIR",
        help="a directory on a volume to compare; may be repeated; default: the run's own folder",
    )
    add("--out", type=Path, default=RUNS, metavar="DIR", help="where runs go; default %(default)s")
    add(
        "--no-report",
        dest="report",
        action="store_false",
        help="measure only: `wayseal-bench report` writes the page later, here or elsewhere",
    )
    add("--quick", action="store_true", help="small sizes, few repetitions: figures are indicative")
    add("--repetitions", type=at_least_one, help=f"of each step; default {REPETITIONS}")
    add(
        "--seed", type=int, help="of the order and of all data; default: random, kept in the result"
    )
    add_power_options(command)
    add(
        "--cost",
        type=Path,
        default=DEFAULT,
        metavar="FILE",
        help="parameters of the cost model, kept in the result; default: those of papers/000",
    )


if __name__ == "__main__":
    main()
