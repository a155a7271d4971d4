"""Which workload runs on which target, how often, and in which order."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from storage.bench.run.outcome import Outcome

REPETITIONS: Final = 6
"""The least and the most of six values enclose the median with 96.9 % confidence."""


class Part(StrEnum):
    """What the benchmark is asked for."""

    SYSTEM = "system"
    IO = "io"
    LEDGER = "ledger"
    OFFLOAD = "offload"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an execution may leave files.

    Attributes:
        scratch: A directory of its own, removed afterwards, on no target.
        seed: Of all data of this execution: the same run with the same seed writes the same bytes.
        counted: Entered, at most once, around the part of the execution that CPU, power and other
            counters of the machine shall be of; if it is not, they are of the whole execution.
    """

    scratch: Path
    seed: int
    counted: Callable[[], AbstractContextManager[None]] = nullcontext


Execute = Callable[[Place], Outcome]
"""Does a step once."""


@dataclass(frozen=True, slots=True)
class Step:
    """One workload on one target.

    Attributes:
        workload: Words with dashes, as in `direct-write`.
        target: Name of a target of the run.
        execute: Does it once.
    """

    workload: str
    target: str
    execute: Execute


@dataclass(frozen=True, slots=True)
class Stage:
    """Steps that are compared with each other, and what must be up meanwhile.

    Attributes:
        expected_s: How long all of it takes, for the time left.
        opened: Starts what the steps need, such as a Cassandra on each target, yields the steps,
            and stops it however they end.
        repetitions: How often each step is executed.
    """

    part: Part
    name: str
    expected_s: float
    opened: Callable[[], AbstractContextManager[Sequence[Step]]]
    repetitions: int = REPETITIONS


def order(
    steps: Sequence[Step], repetitions: int, chance: random.Random
) -> Iterator[tuple[int, Step]]:
    """Yield (repetition, step): every step once before any runs again, each round shuffled anew.

    A drift of the machine then hits all alike. Source: Maricq et al., OSDI 2018, section 6.
    """
    for repetition in range(repetitions):
        yield from ((repetition, step) for step in chance.sample(steps, len(steps)))
