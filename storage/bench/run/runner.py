"""Carries out a plan in random order; keeps each execution at once; ends early at a signal."""

import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import FrameType
from typing import Final, NoReturn, Protocol

from contracts.errors import WaysealError
from storage.bench.run.directories import scratch
from storage.bench.run.document import Document, Heading, document
from storage.bench.run.folder import Folder
from storage.bench.run.outcome import Outcome
from storage.bench.run.plan import Place, Step, StepGroup, order
from storage.bench.run.record import Execution, Failure, Record

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""End a run early: everything that it made is removed on the way out."""
_SEEDS: Final = 1 << 32


class RunProgress(Protocol):
    """Shows people how far a run is."""

    def says(self, words: str) -> None:
        """Show the current activity."""

    def stands_at(self, share: float) -> None:
        """Show the share of the plan's time that has passed, 0 to 1."""


Carry = Callable[[Step, Place], Outcome]
"""Executes a step, and may add figures to its outcome."""


class Runner:
    """One run.

    Args:
        folder: Keeps the result and the tables.
        heading: Of the result.
        progress: Shown to people.
        carry: Executes each step.
    """

    def __init__(
        self,
        folder: Folder,
        heading: Heading,
        progress: RunProgress,
        carry: Carry = lambda step, place: step.execute(place),
    ) -> None:
        self._folder = folder
        self._heading = heading
        self._progress = progress
        self._carry = carry
        self._chance = random.Random(heading.seed)  # noqa: S311 - to be repeated, no secret
        self._record = Record()
        self.defect: Exception | None = None
        """An unforeseen error that ended the run early; the result is valid and says so."""

    def run(self, groups: Sequence[StepGroup]) -> Document:
        """Carry out the groups; return the result, which is in the folder too.

        A step that fails is a failure in the result, and the other steps go on. SIGINT, SIGTERM,
        SIGHUP and unforeseen errors (see `defect`) end the run early; the result is valid and
        says so.

        Raises:
            UnavailableError: The folder cannot be written.
        """
        whole_s = sum(group.expected_s for group in groups) or 1.0
        done_s, ended = 0.0, None
        self._save("not ended")
        try:
            with signals_interrupt():
                for group in groups:
                    self._carry_out(group, done_s / whole_s, group.expected_s / whole_s)
                    done_s += group.expected_s
        except Interrupted as interrupted:
            ended = str(interrupted)
        except WaysealError:
            raise
        except Exception as error:  # noqa: BLE001 - a defect must not lose hours of measurements
            self.defect, ended = error, f"{type(error).__name__}: {error}"
        return self._save(ended)

    def _carry_out(self, group: StepGroup, before: float, share: float) -> None:
        self._progress.says(f"{group.part}: {group.name}")
        self._progress.stands_at(before)
        try:
            with group.opened() as steps:
                count = len(steps) * group.repetitions
                for number, (repetition, step) in enumerate(
                    order(steps, group.repetitions, self._chance)
                ):
                    self._progress.says(f"{group.part}: {step.workload} on {step.target}")
                    self._execute(group, step, repetition)
                    self._progress.stands_at(before + share * (number + 1) / count)
        except WaysealError as error:
            self._record.failures.append(Failure(group.part, group.name, "", str(error)))
        self._save("not ended")

    def _execute(self, group: StepGroup, step: Step, repetition: int) -> None:
        started_at_ms, start_s = time.time_ns() // 1_000_000, time.monotonic()
        try:
            with scratch() as directory:
                seed, says = self._chance.randrange(_SEEDS), self._progress.says
                place = Place(directory, seed, says=says)
                outcome = self._carry(step, place)
        except WaysealError as error:
            failure = Failure(group.part, step.workload, step.target, str(error))
            self._record.failures.append(failure)
            return
        done = Execution(
            group.part,
            step.workload,
            step.target,
            repetition,
            len(self._record.executions),
            started_at_ms,
            time.monotonic() - start_s,
            outcome,
        )
        self._record.executions.append(done)
        self._folder.keep(done)
        self._save("not ended")

    def _save(self, ended: str | None) -> Document:
        result = document(self._heading, self._record, ended, now())
        self._folder.save(result)
        return result


class Interrupted(BaseException):
    """A signal asks the benchmark to end."""


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Raise `Interrupted` at the first of SIGNALS, and ignore all later ones."""
    before = [(number, signal.signal(number, _interrupt)) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)  # a second Ctrl-C must not stop the removal
    raise Interrupted(f"interrupted by {signal.Signals(number).name}")


def now() -> str:
    """Return the time of day, RFC 3339, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
