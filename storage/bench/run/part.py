"""What each part of the benchmark is to its command."""

import argparse
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from storage.bench.run.plan import Part, Stage
from storage.bench.run.volumetarget import VolumeTarget


@dataclass(frozen=True, slots=True)
class Setup:
    """What all parts share in one run.

    Attributes:
        volumes: At least one.
        quick: Small sizes and few repetitions: a look.
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
    """What a part is going to do.

    Attributes:
        settings: Everything that was chosen or left at its default: JSON.
        targets: Besides the volumes, each with `name`, `kind` and `interface`.
        notes: What a reader must know, in sentences.
    """

    stages: Sequence[Stage]
    settings: Mapping[str, Any]
    targets: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = field(default=())


class PartCommand(Protocol):
    """One part: its options, and its plan."""

    part: Part

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add what is asked of this part; no name may be another part's: `all` takes them all."""

    def prepare(self, options: argparse.Namespace, setup: Setup, stack: ExitStack) -> Prepared:
        """Check everything that can be checked before anything is written, and return the plan.

        Args:
            options: From the command line.
            setup: Shared with the other parts.
            stack: Left at the end of the run.

        Raises:
            RejectedError: What was asked for can't be done: what was expected, what came.
            UnavailableError: A tool is missing, a server does not answer, there is no room.
        """
