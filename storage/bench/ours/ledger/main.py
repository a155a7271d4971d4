"""`make bench-ledger`: the figures of the ledger, each beside its target.

Prints one JSON object as its last line and writes it to build/bench/ledger.json.
"""

import argparse
import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from contracts.commands import FAILED, complain, write_for_any_terminal
from contracts.errors import WaysealError
from contracts.files import locked, make_directory
from storage.bench.ledger.fleet import DEVICES
from storage.bench.ours.ledger.catchup import catch_up
from storage.bench.ours.ledger.chains import PER_BATCH, QUICK, WHOLE, Bench, Sizes
from storage.bench.ours.ledger.targets import TARGETS, Figures
from storage.bench.ours.targets import missed, row, written

DIRECTORY: Final = Path("build/bench")
_MULTIPLE: Final = DEVICES * PER_BATCH


def main() -> None:
    """Measure, and say what was measured."""
    write_for_any_terminal()
    sizes = _parse()
    directory = DIRECTORY.absolute()
    try:
        make_directory(directory)
        with locked(directory / "lock", f"another benchmark is at work in {directory}"):
            figures = _measure(directory, sizes)
            text = written(figures, directory / "ledger.json")
    except WaysealError as error:
        complain("bench-ledger", error)
        sys.exit(FAILED)
    print(text)


def _measure(directory: Path, sizes: Sizes) -> Figures:
    chains = directory / "chains"
    shutil.rmtree(chains, ignore_errors=True)
    try:
        figures = _measured(directory, chains, sizes)
        print("\nfigure                              value")
        for name, value in figures.items():
            print(row(name, value, TARGETS))
        for name in missed(figures, TARGETS):
            _profile(directory, chains, sizes, name)
    finally:
        shutil.rmtree(chains, ignore_errors=True)
    return {name: round(value, 3) for name, value in figures.items()} | {
        f"size_{name}": value for name, value in asdict(sizes).items()
    }


def _measured(directory: Path, chains: Path, sizes: Sizes) -> Figures:
    bench = Bench(directory, sizes, _say)
    figures = bench.in_a_row(chains / "long", on=True)
    figures |= bench.restart(chains / "long")
    with bench.node(chains / "long") as node:
        figures |= catch_up(node, chains / "gateway", sizes.chain, _say)
    shutil.rmtree(chains / "long")
    figures |= bench.runs(chains / "runs")
    figures |= bench.singles(chains / "singles")
    figures |= bench.paced(chains / "paced")
    return figures


def _profile(directory: Path, chains: Path, sizes: Sizes, name: str) -> None:
    """Print where the time goes of what missed its target, from a second pass."""
    out = directory / f"{name}.profile"
    chain = chains / "profiled"
    shutil.rmtree(chain, ignore_errors=True)
    bench = Bench(directory, sizes, _say, out)
    match name:
        case "readings_per_s":
            bench.in_a_row(chain, on=False)
        case "readings_per_s_runs":
            bench.runs(chain)
        case "single_batches_per_s":
            bench.singles(chain)
        case "p50_ms" | "p99_ms":
            bench.paced(chain)
        case "catchup_per_s":
            bare = Bench(directory, sizes, _say)  # the index's profile is wanted, not the node's
            bare.in_a_row(chain, on=False)
            with bare.node(chain) as node:
                catch_up(node, chains / "gateway", sizes.in_a_row, _say, out)
        case _:
            return
    print(f"\n{name} missed its target; the profile of a second pass, {out}:")
    print(out.read_text("utf-8"))


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _parse() -> Sizes:
    parser = argparse.ArgumentParser(prog="make bench-ledger", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a look of about a minute")
    for name in asdict(WHOLE):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="READINGS")
    options = vars(parser.parse_args())
    sizes = QUICK if options.pop("quick") else WHOLE
    chosen = {name: value for name, value in options.items() if value is not None}
    for name, value in chosen.items():
        if value < _MULTIPLE or value % _MULTIPLE:
            parser.error(f"--{name}: a multiple of {_MULTIPLE}, got {value}")
    sizes = replace(sizes, **chosen)
    if sizes.in_a_row > sizes.chain:
        parser.error("--in-a-row: at most as many as --chain")
    return sizes


if __name__ == "__main__":
    main()
