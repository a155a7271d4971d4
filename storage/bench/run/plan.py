"""The plan of a run: steps on targets, their repetitions and their order."""

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
    """A part of the benchmark."""

    SYSTEM = "system"
    IO = "io"
    LEDGER = "ledger"
    OFFLOAD = "offload"


def _unheard(_: str) -> None:
    """Drop the words."""


@dataclass(frozen=True, slots=True)
class Place:
    """The surroundings of one execution.

    Attributes:
        scratch: A directory of its own on no target, removed afterwards.
        seed: Of all data of this execution: the same run with the same seed writes the same bytes.
        counted: Entered at most once, around the part of the execution for which CPU, power and
            other counters of the machine are taken. Never entered, they cover all of it.
        says: Shows people the current activity.
    """

    scratch: Path
    seed: int
    counted: Callable[[], AbstractContextManager[None]] = nullcontext
    says: Callable[[str], None] = _unheard


Execute = Callable[[Place], Outcome]
"""Executes a step once."""


@dataclass(frozen=True, slots=True)
class Step:
    """One workload on one target.

    Attributes:
        workload: Words with dashes, as in `direct-write`.
        target: Name of a target of the run.
        execute: Executes the workload once.
    """

    workload: str
    target: str
    execute: Execute


@dataclass(frozen=True, slots=True)
class StepGroup:
    """Steps that are compared with each other, and the servers that they need.

    Attributes:
        expected_s: Duration of the group, for the time left.
        opened: Starts the servers that the steps need, yields the steps, and stops the servers.
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
    """Yield (repetition, step): rounds of all steps, each in a new random order.

    A drift of the machine then affects all steps equally. Source: Maricq et al., OSDI
    2018, section 6.
    """
    for repetition in range(repetitions):
        yield from ((repetition, step) for step in chance.sample(steps, len(steps)))
