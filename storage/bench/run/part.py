"""The port of a part: its options and its plan."""

import argparse
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from storage.bench.run.plan import Part, StepGroup
from storage.bench.run.volumetarget import VolumeTarget


@dataclass(frozen=True, slots=True)
class Setup:
    """The setup that all parts of a run share.

    Attributes:
        volumes: At least one.
        quick: Small sizes and few repetitions.
        repetitions: Of each step.
        work: A directory on no target, removed at the end.
    """

    volumes: tuple[VolumeTarget, ...]
    quick: bool
    repetitions: int
    seed: int
    work: Path


@dataclass(frozen=True, slots=True)
class Prepared:
    """The plan of a part.

    Attributes:
        settings: All options, chosen or default: JSON.
        targets: Besides the volumes, each with `name`, `kind` and `interface`.
        notes: For the reader of the result, in sentences.
        guarantees: Of ledgers, each with `target`, `finality`, `faults` and `durable`.
    """

    groups: Sequence[StepGroup]
    settings: Mapping[str, Any]
    targets: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = field(default=())
    guarantees: Sequence[Mapping[str, Any]] = field(default=())


class PartCommand(Protocol):
    """One part: its options, and its plan."""

    part: Part

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this part. Their names are unique: `all` takes those of all parts."""

    def prepare(self, options: argparse.Namespace, setup: Setup, stack: ExitStack) -> Prepared:
        """Check everything that can be checked before anything is written, and return the plan.

        Args:
            options: From the command line.
            setup: Shared with the other parts.
            stack: Left at the end of the run.

        Raises:
            RejectedError: The options cannot be carried out: expected and actual.
            UnavailableError: A tool is missing, a server does not answer, there is no room.
        """
