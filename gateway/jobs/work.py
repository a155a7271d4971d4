"""The work of a job, and its state while the gateway runs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from gateway.access import Caller
from gateway.jobs.job import QUICK, JobKind
from gateway.jobs.progress import Following
from gateway.records.watch import Watch


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a job.

    Attributes:
        kind: Of the job.
        subjects: Its trips, recordings or lots; see `KeptJob`.
        run: Yields its result, piece by piece; told to stop, it raises StoppedError.
        media_type: Of the result.
        file_name: Of the result, for the reader's disk.
    """

    kind: JobKind
    subjects: Sequence[str]
    run: Callable[[Watch], Iterable[bytes]]
    media_type: str
    file_name: str


@dataclass(slots=True)
class Task:
    """A job that waits or runs."""

    owner: Caller
    work: Work
    watch: Following = field(default_factory=Following)
    is_running: bool = False
    written: int = 0

    @property
    def is_quick(self) -> bool:
        """Say whether it waits for quick jobs only."""
        return self.work.kind in QUICK
