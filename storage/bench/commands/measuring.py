"""Carries out one run: from its targets and its plan to its result and its page."""

import argparse
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import make_directory
from storage.bench.arguments import above_zero
from storage.bench.commands.report import written
from storage.bench.machine.power import Metered, WallMeter, metered
from storage.bench.machine.watch import Machine
from storage.bench.run.directories import remove_left_in, remove_left_scratch, scratch
from storage.bench.run.document import Document, Heading
from storage.bench.run.folder import Folder
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import REPETITIONS
from storage.bench.run.progress import progress, waiting
from storage.bench.run.runner import Runner, now
from storage.bench.run.savedrun import opened
from storage.bench.run.volumetarget import volume_targets
from storage.drives.kernel import Kernel

HERE: Final = "here"
"""Name of the target of a run without the option --target."""
_SEEDS: Final = 1 << 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a run is asked for.

    Attributes:
        title: End of the run's name.
        command: As typed.
        out: Directory with a folder for each run.
        power: What measures power.
        targets: Names and directories; without any, the run's own folder is the target.
        quick: Small sizes and few repetitions.
        repetitions: Of each step.
        seed: Of the order and of all data; None: drawn at random.
        settings: Kept in the result beside those of the parts.
    """

    title: str
    command: Sequence[str]
    out: Path
    power: Metered
    targets: Sequence[tuple[str, Path]] = ()
    quick: bool = False
    repetitions: int = REPETITIONS
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that ended.

    Attributes:
        folder: Has the result.
        defect: An unforeseen error that ended the run early; the result is valid and says so.
    """

    folder: Path
    result: Document
    defect: Exception | None

    def require_whole(self) -> None:
        """Check that everything planned was measured.

        Raises:
            UnavailableError: A step failed, or the run ended early.
        """
        if self.defect is not None:
            raise self.defect
        for each in self.result["failures"]:
            raise UnavailableError(f"{each['workload']}: {each['why']}")
        if not self.result["complete"]:
            raise UnavailableError(self.result["ended"])

    def reported(self) -> dict[str, str]:
        """Write the page; return where page and result are.

        Raises:
            UnavailableError: The folder cannot be written.
        """
        with waiting("writing the report"):
            return written(opened(self.folder))


def carry_out(
    request: Request, prepare: Callable[[Setup, ExitStack], Mapping[str, Prepared]]
) -> Finished:
    """Measure; what was measured is in the run's folder, however the run ends.

    Args:
        request: What is asked for.
        prepare: Checks what can be checked before anything is written, and returns the plans of
            the parts by name. The stack is closed at the end of the run.

    Raises:
        RejectedError: The request cannot be carried out as it is.
        UnavailableError: A tool is missing, a server does not answer, or a disk is full.
    """
    seed = random.SystemRandom().randrange(_SEEDS) if request.seed is None else request.seed
    started_at = now()
    name = f"{started_at.replace(':', '').replace('-', '')}-{request.title}"
    remove_left_scratch()
    remove_left_in(request.out.absolute())
    folder = Folder(request.out.absolute() / name)
    with ExitStack() as stack:
        make_directory(folder.path)
        stack.callback(_remove_if_empty, folder.path)
        volumes = stack.enter_context(volume_targets(request.targets or [(HERE, folder.path)]))
        work = stack.enter_context(scratch())
        setup = Setup(volumes, request.quick, request.repetitions, seed, work)
        prepared = prepare(setup, stack)
        machine = Machine(volumes, request.power)
        heading = Heading(
            run=name,
            version=version("wayseal"),
            command=request.command,
            seed=seed,
            quick=request.quick,
            started_at=started_at,
            settings={
                **{part: each.settings for part, each in prepared.items()},
                **request.settings,
            },
            machine=machine.fingerprint,
            targets=[
                *(volume.described for volume in volumes),
                *(target for each in prepared.values() for target in each.targets),
            ],
            notes=[note for each in prepared.values() for note in each.notes],
            guarantees=[row for each in prepared.values() for row in each.guarantees],
        )
        groups = [group for each in prepared.values() for group in each.groups]
        with progress(sum(group.expected_s for group in groups)) as shown:
            runner = Runner(folder, heading, shown, machine.carry)
            result = runner.run(groups)
    return Finished(folder.path, result, runner.defect)


def _remove_if_empty(folder: Path) -> None:
    """Remove the folder of a run that was refused before it began."""
    with suppress(OSError):
        folder.rmdir()


def add_power_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the power meter."""
    add = parser.add_argument
    add(
        "--wall-watts",
        type=above_zero,
        metavar="W",
        help="average of a meter at the plug during the run",
    )
    add("--idle-watts", type=above_zero, metavar="W", help="value of that meter at rest")
    add("--power-sensor", metavar="NAME", help="the power sensor of the machine, if it has several")


def chosen_meter(options: argparse.Namespace) -> Metered:
    """Return the power meter of the run.

    Raises:
        RejectedError: The options contradict each other, or the sensor is missing.
    """
    return metered(Kernel(), _wall_meter(options), options.power_sensor)


def _wall_meter(options: argparse.Namespace) -> WallMeter | None:
    if options.wall_watts is None:
        if options.idle_watts is not None:
            raise RejectedError("expected --wall-watts with --idle-watts, got only --idle-watts")
        return None
    if options.idle_watts is not None and options.idle_watts > options.wall_watts:
        raise RejectedError(
            f"expected at most {options.wall_watts:g} W at rest, got {options.idle_watts:g}"
        )
    return WallMeter(options.wall_watts, options.idle_watts)
