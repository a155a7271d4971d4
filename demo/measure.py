"""`make measure`: the figures of docs/performance.md, each beside the limit it is held against.

Prints one JSON object as its last line and writes it to build/measure.json. Result and page of
the run are in build/bench/runs.
"""

import argparse
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

from contracts.runtime.files import make_directory
from demo.ending import failing_in_one_line
from demo.measure_readings import Offloads, summary
from storage.bench.commands.measuring import HERE, Request, carry_out
from storage.bench.goals.goals import written
from storage.bench.machine.power import metered
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, StepGroup
from storage.drives.kernel import Kernel

DIRECTORY: Final = Path("build/measure")
"""Target of the run; servers and trucks work in it."""
RUNS: Final = Path("build/bench/runs")
RESULT: Final = Path("build/measure.json")
_GUESSED_PER_S: Final = 500
"""Readings, through agent, gateway and node, for the time left."""


def main() -> None:
    """Measure readings."""
    directory = DIRECTORY.absolute()
    with failing_in_one_line("measure"):
        options = _parse()
        make_directory(directory)
        try:
            figures = {"readings": _measured(directory, options)}
        finally:
            with suppress(OSError):  # another run measures there
                directory.rmdir()
        line = written(figures, RESULT)
    print(line)


def _measured(directory: Path, options: argparse.Namespace) -> dict[str, Any]:
    readings, runs = options.readings, options.runs

    def prepare(setup: Setup, _: ExitStack) -> dict[str, Prepared]:
        offloads = Offloads(setup.volumes[0].work, readings, runs, options.per_transaction)
        expected_s = 2 * runs * readings / _GUESSED_PER_S
        group = StepGroup(Part.OFFLOAD, "readings", expected_s, offloads.opened, runs)
        return {"measure": Prepared([group], dict(vars(options)))}

    finished = carry_out(
        Request(
            title="measure",
            command=["make", "measure", *sys.argv[1:]],
            out=RUNS,
            power=metered(Kernel(), None, None),
            targets=[(HERE, directory)],
            repetitions=runs,
        ),
        prepare,
    )
    finished.require_whole()
    print(f"report: {finished.reported()['report']}")
    return summary(finished.result, options.per_transaction)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make measure", description=__doc__)
    parser.add_argument("--readings", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--per-transaction", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
