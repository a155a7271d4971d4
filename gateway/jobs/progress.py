"""A job at work: how far it is, and whether it has to stop."""

from dataclasses import dataclass, replace
from typing import Final

from gateway.records.watch import StoppedError, Unit, Watch


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is.

    Attributes:
        step: Which trip or recording is looked at, from 1 on.
        steps: How many there are, as far as is known.
        subject: Its name, such as `trip …`; empty before the first.
        doing: What is done with it, in words; empty before the first word.
        done: So much of what is read now was read.
        total: Of so much; 0 if that is not known.
        unit: Of both.
    """

    step: int = 1
    steps: int = 1
    subject: str = ""
    doing: str = ""
    done: int = 0
    total: int = 0
    unit: Unit = Unit.BATCHES


class Following(Watch):
    """Keeps the last word of a job's work, for other threads to read, and stops the work.

    Attributes:
        progress: The last word.
        is_cancelled: Its owner wants it no more.
    """

    def __init__(self) -> None:
        self.progress: Progress = Progress()
        self.is_cancelled = False
        self._must_stop = False

    def begin(self, subject: str, step: int, steps: int) -> None:
        """See `Watch.begin`."""
        self.check()
        self.progress = Progress(step + 1, steps, subject)

    def tell(self, doing: str, done: int, total: int, unit: Unit) -> None:
        """See `Watch.tell`."""
        self.check()
        self.progress = replace(self.progress, doing=doing, done=done, total=total, unit=unit)

    def check(self) -> None:
        """Raise StoppedError if the work has to stop."""
        if self._must_stop:
            raise StoppedError(STOPPED)

    def stop(self) -> None:
        """Let the work stop before its next step."""
        self._must_stop = True

    def cancel(self) -> None:
        """Let it stop, because its owner wants it no more."""
        self.is_cancelled = True
        self.stop()


STOPPED: Final = "the job was told to stop"
