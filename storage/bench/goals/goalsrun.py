"""The frame of our three commands `make bench-…`: options, plan, run and table."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from contracts.errors import WaysealError
from contracts.runtime.commands import FAILED, complain, write_for_any_terminal
from contracts.runtime.files import make_directory
from storage.bench.commands.measuring import HERE, Finished, Request, carry_out
from storage.bench.goals.goals import DIRECTORY, RUNS, Goals, row
from storage.bench.machine.power import metered
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import REPETITIONS, StepGroup
from storage.drives.kernel import Kernel


@dataclass(frozen=True, slots=True)
class GoalsRun:
    """The run of one of these commands.

    Attributes:
        name: Of the command, after `make`; also the title of the run.
        goals: Of its figures.
        sizes: A dataclass: how much is measured.
    """

    name: str
    goals: Goals
    sizes: Any

    def prepared(self, groups: Sequence[StepGroup]) -> dict[str, Prepared]:
        """Return the plan of the run."""
        goals = {name: asdict(goal) for name, goal in self.goals.items()}
        return {self.name: Prepared(groups, {"sizes": asdict(self.sizes), "goals": goals})}

    def carried_out(
        self,
        prepare: Callable[[Setup, ExitStack], Mapping[str, Prepared]],
        *,
        quick: bool,
        repetitions: int = REPETITIONS,
    ) -> Finished:
        """Measure in `DIRECTORY`; see `carry_out`."""
        request = Request(
            title=self.name,
            command=["make", self.name, *sys.argv[1:]],
            out=RUNS,
            power=metered(Kernel(), None, None),
            targets=[(HERE, DIRECTORY.absolute())],
            quick=quick,
            repetitions=repetitions,
        )
        return carry_out(request, prepare)

    def show(self, figures: Mapping[str, Any]) -> None:
        """Print the figures that are numbers, each beside its goal."""
        print("\nfigure                              value")
        for name, value in figures.items():
            if isinstance(value, int | float):
                print(row(name, value, self.goals))


def ended(finished: Finished) -> None:
    """Print where the report is.

    Raises:
        UnavailableError: A step failed, or the run ended early.
    """
    finished.require_whole()
    print(f"report: {finished.reported()['report']}")


def carry_out_command(name: str, measure: Callable[[Path], str]) -> None:
    """Call `measure` with `DIRECTORY`, which exists then; print what it returns, or the error."""
    write_for_any_terminal()
    directory = DIRECTORY.absolute()
    try:
        make_directory(directory)
        text = measure(directory)
    except WaysealError as error:
        complain(name, error)
        sys.exit(FAILED)
    print(text)


def add_sizes(
    parser: argparse.ArgumentParser, whole: object, shorter: Mapping[str, tuple[object, str]]
) -> None:
    """Add options that set `sizes`.

    Args:
        parser: Of the command.
        whole: The sizes without such an option.
        shorter: Names of options, without dashes, with their sizes and words.
    """
    group = parser.add_mutually_exclusive_group()
    for name, (sizes, words) in shorter.items():
        group.add_argument(
            f"--{name}", dest="sizes", action="store_const", const=sizes, default=whole, help=words
        )
