"""A part's options and groups as the benchmark's runner would use them."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

from storage.bench.ledger.modes import Choices
from storage.bench.run.outcome import Outcome
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Place, Step
from storage.bench.run.volumetarget import volume_targets

SEED = 11


def parsed(
    add_options: Callable[[argparse.ArgumentParser], None], *words: str
) -> argparse.Namespace:
    """Return a part's options, parsed from words."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_options(parser)
    return parser.parse_args(words)


@contextmanager
def setup_on(directory: Path, *names: str) -> Iterator[Setup]:
    """Make a target of each name, each a directory of its own, for a quick run."""
    chosen = []
    for name in names:
        (directory / name).mkdir(parents=True)
        chosen.append((name, directory / name))
    work = directory / "work"
    work.mkdir()
    with volume_targets(chosen) as volumes:
        yield Setup(volumes, quick=True, repetitions=1, seed=SEED, work=work)


@contextmanager
def steps_of(prepared: Prepared) -> Iterator[Sequence[Step]]:
    """Open the only group."""
    (group,) = prepared.groups
    with group.opened() as steps:
        yield steps


def execute(step: Step, scratch: Path) -> Outcome:
    """Execute a step once, with data of its own for each scratch directory."""
    scratch.mkdir()
    return step.execute(Place(scratch, crc32(scratch.name.encode())))


def values(outcome: Outcome) -> dict[str, float]:
    """Return the figures by name."""
    return {seen.metric.name: seen.value for seen in outcome.observations}


def flags(outcome: Outcome) -> dict[str, set[str]]:
    """Return the flags of each figure, by name."""
    return {
        seen.metric.name: {each.flag.value for each in seen.flags} for seen in outcome.observations
    }


def all_flags(outcome: Outcome) -> set[str]:
    """Return the flags of all figures together."""
    return set().union(*flags(outcome).values())


def short_choices(signed: Path) -> Choices:
    """Return choices for loads of a second or less; the batches are signed into a folder."""
    return Choices(
        rate_per_s=50.0, open_s=0.4, scale=1, latency_s=20.0, latency_percent=95.0, probes=2,
        probe_s=0.5, writes=0.5, sample_s=0.1, seed=3, signed=signed,
    )  # fmt: skip
