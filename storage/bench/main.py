"""`wayseal-bench`: which storage and which ledger serve a gateway best, on your own machines."""

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from contracts.commands import FAILED, complain, write_for_any_terminal
from contracts.errors import WaysealError
from contracts.files import make_directory
from storage.bench.arguments import at_least_one
from storage.bench.cost.command import add_options as add_cost_options
from storage.bench.cost.command import table
from storage.bench.cost.parameters import DEFAULT, read_parameters
from storage.bench.io.command import Io
from storage.bench.ledger.command import LEDGER
from storage.bench.machine.around import Machine
from storage.bench.machine.options import add_power_options, chosen_meter
from storage.bench.offload.command import Offload
from storage.bench.paper import command as paper
from storage.bench.report import command as report
from storage.bench.report import compare, terminal
from storage.bench.report.savedrun import opened
from storage.bench.run.document import Document, Heading
from storage.bench.run.folder import RESULT, Folder
from storage.bench.run.part import PartCommand, Prepared, Setup
from storage.bench.run.plan import REPETITIONS
from storage.bench.run.progress import progress, waiting
from storage.bench.run.runner import Runner, now
from storage.bench.run.scratch import remove_left_scratch, scratch
from storage.bench.run.volumetarget import named_directory, volume_targets
from storage.bench.run.workplace import remove_left_in
from storage.bench.system.part import System

RUNS: Final = Path("wayseal-bench")
QUICK_REPETITIONS: Final = 2
PARTS: Final[Sequence[PartCommand]] = (System(), Io(), LEDGER, Offload())
_HELP: Final = {
    "system": "what this machine is capable of, without us",
    "io": "the gateway's storage on each target",
    "ledger": "transactions on each target",
    "offload": "trucks to ledger, the whole way",
    "all": "all of these, into one result",
    "cost": "what an hour of each kind of node costs, and a run's transactions and bytes",
    "report": "write the page of a run again, with its charts",
    "compare": "what differs between two runs, and whether it is more than noise",
    "paper": "a run's figures beside those of the papers",
}
Command = Callable[[argparse.Namespace], int]
"""Does what is asked for; returns the exit status."""
_SEEDS: Final = 1 << 32
_EPILOG: Final = """\
The method, every figure and every flag: docs/benchmarks.md.
The last line on standard output is a JSON object: `report`, the page for people (without
--no-report), and `result`, the same for programs. Ctrl-C ends a run early; what was measured until
then is kept and reported. The exit status is 1 then, and if a step failed.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line asks for."""
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
    """Carry out parts, and print where the result is, and the report unless none is wanted.

    Returns:
        0 if all of the plan was carried out, FAILED if a step failed or the run is partial.
    """
    parts: Sequence[PartCommand] = options.parts
    seed = random.SystemRandom().randrange(_SEEDS) if options.seed is None else options.seed
    power, prices = chosen_meter(options), read_parameters(options.cost)
    started_at = now()
    name = f"{started_at.replace(':', '').replace('-', '')}-{options.command}"
    remove_left_scratch()
    remove_left_in(options.out.absolute())
    folder = Folder(options.out.absolute() / name)
    chosen = options.target or [("here", folder.path)]
    with ExitStack() as stack:
        make_directory(folder.path)
        stack.callback(_remove_if_empty, folder.path)
        volumes = stack.enter_context(volume_targets(chosen))
        work = stack.enter_context(scratch())
        setup = Setup(volumes, options.quick, options.repetitions, seed, work)
        prepared = {part.part: part.prepare(options, setup, stack) for part in parts}
        machine = Machine(volumes, power)
        settings = {part.value: each.settings for part, each in prepared.items()}
        heading = Heading(
            run=name,
            version=version("wayseal"),
            command=["wayseal-bench", *sys.argv[1:]],
            seed=seed,
            quick=options.quick,
            started_at=started_at,
            settings={**settings, "cost": prices.described},
            machine=machine.fingerprint,
            targets=_targets(setup, prepared.values()),
            notes=[note for each in prepared.values() for note in each.notes],
        )
        stages = [stage for each in prepared.values() for stage in each.stages]
        with progress(sum(stage.expected_s for stage in stages)) as shown:
            runner = Runner(folder, heading, shown, machine.carry)
            result = runner.run(stages)
    _tell(result)
    written = {"result": str(folder.path / RESULT)}
    if options.report:
        with waiting("writing the report"):
            written = report.written(opened(folder.path))
    print(json.dumps(written))
    if runner.defect is not None:
        raise runner.defect
    return FAILED if result["failures"] or not result["complete"] else 0


def _remove_if_empty(folder: Path) -> None:
    """Leave nothing of a run that was refused before it began."""
    with suppress(OSError):
        folder.rmdir()


def _printed(tell: Callable[[argparse.Namespace], Mapping[str, Any]]) -> Command:
    def run(options: argparse.Namespace) -> int:
        print(json.dumps(tell(options)))
        return 0

    return run


def cost(options: argparse.Namespace) -> Mapping[str, Any]:
    """Print what nodes cost, and a run's rates on them; return it for programs."""
    lines, document = table(options)
    print("\n".join(lines))
    return document


def _targets(setup: Setup, prepared: Iterable[Prepared]) -> list[Mapping[str, Any]]:
    volumes = [volume.described for volume in setup.volumes]
    return [*volumes, *(target for each in prepared for target in each.targets)]


def _tell(result: Document) -> None:
    """Print what people want to see at once."""
    console = Console(highlight=False)
    terminal.tell(result, console if console.is_terminal else Console(width=terminal.WIDTH))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="wayseal-bench",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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
    options = parser.parse_args(arguments)
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
    add("--quick", action="store_true", help="small sizes, few repetitions: indicative")
    add("--repetitions", type=at_least_one, help=f"of each step; default {REPETITIONS}")
    add("--seed", type=int, help="of the order and of all data; default by chance, in the result")
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
