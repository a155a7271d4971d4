"""`make bench-ledger`: the figures of the ledger, each beside its goal.

Prints one JSON object as its last line and writes it to build/bench/ledger.json. Result and page
of the run are in build/bench/runs.
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from storage.bench.commands.measuring import HERE
from storage.bench.goals.goals import LEDGER_GOALS, missed, written
from storage.bench.goals.goalsrun import GoalsRun, carry_out_command, ended
from storage.bench.goals.ledger.catchup import catch_up
from storage.bench.goals.ledger.chains import (
    PACED_PER_S,
    PER_BATCH,
    QUICK,
    WHOLE,
    LedgerSizes,
    NodeMeasurements,
)
from storage.bench.goals.ledger.figures import Figures, figures_of, observations
from storage.bench.goals.ledger.network import (
    KILLED_PER_S,
    LATENCY_PER_S,
    PAIRS,
    measure_network,
)
from storage.bench.goals.ledger.trucks import measure_trucks
from storage.bench.run.directories import workplace
from storage.bench.run.outcome import Outcome
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, Place, Step, StepGroup
from storage.bench.trucks.fleet import DEVICES

NAME: Final = "bench-ledger"
_MULTIPLE: Final = DEVICES * PER_BATCH
_GUESSED_S: Final[Mapping[str, Callable[[LedgerSizes], float]]] = {
    "long-chain": lambda sizes: sizes.chain / 5_000,
    "runs": lambda sizes: sizes.runs / 40_000,
    "singles": lambda sizes: sizes.singles / 1_500,
    "paced": lambda sizes: sizes.paced / PACED_PER_S,
    "network": lambda sizes: (
        PAIRS * sizes.network / 1_000
        + sizes.network_runs / 10_000
        + sizes.network_paced / LATENCY_PER_S
        + sizes.network_killed / KILLED_PER_S
    ),
    "trucks": lambda sizes: (sizes.trip + sizes.trucks) / 800,
}
"""For the time left."""

Measure = Callable[[NodeMeasurements, Path], Figures]
"""Measures with a chain in a directory that does not exist yet."""


def main() -> None:
    """Measure, and say what was measured."""
    sizes, names = _parse()

    def measure(directory: Path) -> str:
        figures = _measured(directory, sizes, names)
        _profile_missed(directory, sizes, missed(figures, LEDGER_GOALS))
        rounded = {name: round(value, 3) for name, value in figures.items()}
        chosen = {f"size_{name}": value for name, value in asdict(sizes).items()}
        return written(rounded | chosen, directory / "ledger.json")

    carry_out_command(NAME, measure)


def _measured(directory: Path, sizes: LedgerSizes, names: Sequence[str]) -> Figures:
    """Carry out a run; print its figures beside their goals and return them."""
    run = GoalsRun(NAME, LEDGER_GOALS, sizes)

    def prepare(setup: Setup, _: ExitStack) -> dict[str, Prepared]:
        work = setup.volumes[0].work
        return run.prepared(
            [_group(name, _MEASURES[name], directory, work, sizes) for name in names]
        )

    finished = run.carried_out(prepare, quick=sizes != WHOLE, repetitions=1)
    figures = figures_of(finished.result)
    run.show(figures)
    ended(finished)
    return figures


def _group(
    name: str, measure: Measure, directory: Path, work: Path, sizes: LedgerSizes
) -> StepGroup:
    def execute(place: Place) -> Outcome:
        chain = work / name
        try:
            with place.counted():
                figures = measure(NodeMeasurements(directory, sizes, place.says), chain)
        finally:
            shutil.rmtree(chain, ignore_errors=True)
        return Outcome(observations(figures))

    steps = [Step(name, HERE, execute)]
    return StepGroup(Part.LEDGER, name, _GUESSED_S[name](sizes), lambda: nullcontext(steps), 1)


def _long_chain(node: NodeMeasurements, chain: Path) -> Figures:
    """Load a long chain, restart the node on it, and let an index follow it."""
    figures = node.in_a_row(chain, on=True)
    figures |= node.restart(chain)
    return figures | _followed(node, chain, node.sizes.chain)


def _runs(node: NodeMeasurements, chain: Path) -> Figures:
    """Load runs, and let an index follow them."""
    figures = node.runs(chain)
    followed = _followed(node, chain, node.sizes.runs)
    return figures | {f"{name}_runs": value for name, value in followed.items()}


def _followed(node: NodeMeasurements, chain: Path, readings: int) -> Figures:
    """Let an index follow a chain with so many readings."""
    with node.node(chain) as running:
        return catch_up(running, chain.with_name("gateway"), readings, node.say)


_MEASURES: Final[Mapping[str, Measure]] = {
    "long-chain": _long_chain,
    "runs": _runs,
    "singles": NodeMeasurements.singles,
    "paced": NodeMeasurements.paced,
    "network": measure_network,
    "trucks": measure_trucks,
}


def _profile_missed(directory: Path, sizes: LedgerSizes, names: list[str]) -> None:
    """Print where the time goes of each figure that missed its goal, from a second pass."""
    for name in names:
        out = directory / f"{name}.profile"
        with workplace(directory) as work:
            if not _profiled(directory, work / "profiled", sizes, name, out):
                continue
        print(f"\n{name} missed its goal; the profile of a second pass, {out}:")
        print(out.read_text("utf-8"))


def _profiled(directory: Path, chain: Path, sizes: LedgerSizes, name: str, out: Path) -> bool:
    """Measure one figure again under the profiler; return whether it has a profile."""
    node = NodeMeasurements(directory, sizes, _say, out)
    match name:
        case "readings_per_s":
            node.in_a_row(chain, on=False)
        case "readings_per_s_runs":
            node.runs(chain)
        case "single_batches_per_s":
            node.singles(chain)
        case "p50_ms" | "p99_ms":
            node.paced(chain)
        case "catchup_per_s":  # the profile of the index is wanted, not the node's
            bare = NodeMeasurements(directory, sizes, _say)
            bare.in_a_row(chain, on=False)
            with bare.node(chain) as running:
                catch_up(running, chain.with_name("gateway"), sizes.in_a_row, _say, out)
        case _:
            return False
    return True


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _parse() -> tuple[LedgerSizes, Sequence[str]]:
    """Return the sizes, and the names of the measurements."""
    parser = argparse.ArgumentParser(prog=f"make {NAME}", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a look of about five minutes")
    for name in asdict(WHOLE):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="READINGS")
    parser.add_argument(
        "--only", action="append", choices=list(_MEASURES), help="may be repeated; default all"
    )
    options = vars(parser.parse_args())
    names = options.pop("only") or list(_MEASURES)
    sizes = QUICK if options.pop("quick") else WHOLE
    chosen = {name: value for name, value in options.items() if value is not None}
    for name, value in chosen.items():
        if value < _MULTIPLE or value % _MULTIPLE:
            parser.error(f"--{name}: expected a multiple of {_MULTIPLE}, got {value}")
    sizes = replace(sizes, **chosen)
    if sizes.in_a_row > sizes.chain:
        parser.error(f"--in-a-row: expected at most --chain {sizes.chain}, got {sizes.in_a_row}")
    return sizes, names


if __name__ == "__main__":
    main()
