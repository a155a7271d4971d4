"""Carries out a plan: in random order, each execution kept at once, to its end or to a signal."""

import random
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol

from contracts.errors import WaysealError
from storage.bench.interrupting import Interrupted, signals_interrupt
from storage.bench.run.document import Document, Heading, document
from storage.bench.run.folder import Folder
from storage.bench.run.outcome import Outcome
from storage.bench.run.plan import Place, Stage, Step, order
from storage.bench.run.record import Execution, Failure, Record
from storage.bench.run.scratch import scratch

_SEEDS: Final = 1 << 32


class Progress(Protocol):
    """Tells people how far a run is."""

    def says(self, words: str) -> None:
        """Say what is done now."""

    def stands_at(self, share: float) -> None:
        """Say how much of the whole plan's time is behind us, 0 to 1."""


Carry = Callable[[Step, Place], Outcome]
"""Executes a step, and may add to its outcome what was seen meanwhile."""


class Runner:
    """One run.

    Args:
        folder: Where everything is kept.
        heading: What is known before.
        progress: Is told how far it is.
        carry: Executes each step.
    """

    def __init__(
        self,
        folder: Folder,
        heading: Heading,
        progress: Progress,
        carry: Carry = lambda step, place: step.execute(place),
    ) -> None:
        self._folder = folder
        self._heading = heading
        self._progress = progress
        self._carry = carry
        self._chance = random.Random(heading.seed)  # noqa: S311 - to be repeated, no secret
        self._record = Record()
        self.defect: Exception | None = None
        """What ended the run that nobody thought of: its result says so, and is valid."""

    def run(self, stages: Sequence[Stage]) -> Document:
        """Carry out the stages; return the result, which is in the folder too.

        A step that fails is a failure in the result, and the others go on. SIGINT, SIGTERM and
        SIGHUP end the run early, and so does an error that is none of ours (see `defect`): the
        result is valid and says so.

        Raises:
            UnavailableError: The folder cannot be written.
        """
        whole_s = sum(stage.expected_s for stage in stages) or 1.0
        done_s, ended = 0.0, None
        self._save("not ended")
        try:
            with signals_interrupt():
                for stage in stages:
                    self._carry_out(stage, done_s / whole_s, stage.expected_s / whole_s)
                    done_s += stage.expected_s
        except Interrupted as interrupted:
            ended = str(interrupted)
        except WaysealError:
            raise
        except Exception as error:  # noqa: BLE001 - hours of measuring are not lost for a defect
            self.defect, ended = error, f"{type(error).__name__}: {error}"
        return self._save(ended)

    def _carry_out(self, stage: Stage, before: float, share: float) -> None:
        self._progress.says(f"{stage.part}: {stage.name}")
        self._progress.stands_at(before)
        try:
            with stage.opened() as steps:
                count = len(steps) * stage.repetitions
                for number, (repetition, step) in enumerate(
                    order(steps, stage.repetitions, self._chance)
                ):
                    self._progress.says(f"{stage.part}: {step.workload} on {step.target}")
                    self._execute(stage, step, repetition)
                    self._progress.stands_at(before + share * (number + 1) / count)
        except WaysealError as error:
            self._record.failures.append(Failure(stage.part, stage.name, "", str(error)))
        self._save("not ended")

    def _execute(self, stage: Stage, step: Step, repetition: int) -> None:
        started_at_ms, start_s = time.time_ns() // 1_000_000, time.monotonic()
        try:
            with scratch() as directory:
                place = Place(directory, self._chance.randrange(_SEEDS))
                outcome = self._carry(step, place)
        except WaysealError as error:
            failure = Failure(stage.part, step.workload, step.target, str(error))
            self._record.failures.append(failure)
            return
        done = Execution(
            stage.part,
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


def now() -> str:
    """Return the time of day, RFC 3339, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
