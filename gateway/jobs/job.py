"""A job as it is kept: whose it is, what it does, how it stands, and what came of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.access import Caller

ENDED_WITHOUT_A_WORD: Final = (
    "the gateway ended while this was under way, or could not write its end down: begin it again"
)


class JobKind(StrEnum):
    """What a job does."""

    VERIFY_TRIP = "verify-trip"
    VERIFY_RECORDING = "verify-recording"
    VERIFY_LOT = "verify-lot"
    EVIDENCE = "evidence"
    READINGS_CSV = "readings-csv"
    READINGS_SENML = "readings-senml"
    TRIP_EVENTS = "trip-epcis"
    LOT_EVENTS = "lot-epcis"
    SPREADSHEET = "fsma204"
    TRIP_CERTIFICATE = "trip-certificate"
    LOT_CERTIFICATE = "lot-certificate"


QUICK: Final = frozenset(
    {
        JobKind.VERIFY_TRIP,
        JobKind.READINGS_CSV,
        JobKind.READINGS_SENML,
        JobKind.TRIP_EVENTS,
        JobKind.TRIP_CERTIFICATE,
    }
)
"""Jobs of seconds, about one trip. They wait for each other, not for jobs of hours."""


class JobState(StrEnum):
    """How a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """The gateway ended before the job did; it does not go on by itself."""

    @property
    def is_under_way(self) -> bool:
        """Say whether something may still come of it."""
        return self in (JobState.WAITING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Made:
    """The file that came of a job.

    Attributes:
        media_type: Of its content.
        file_name: For the reader's disk.
        size: Bytes.
        sha256: Of all of it.
    """

    media_type: str
    file_name: str
    size: int
    sha256: bytes


@dataclass(frozen=True, slots=True)
class KeptJob:
    """One job.

    Attributes:
        number: From 1 on, in the order of their beginnings.
        job_id: 32 hexadecimal digits that nobody guesses.
        owner: Who began it; nobody else sees it.
        kind: What it does.
        subjects: What it is about: trips, a recording, GTIN and lot joined by a slash, or in words
            what a spreadsheet was asked of.
        state: How it stands.
        asked_ms: When it was asked for, UTC.
        began_ms: When work began, UTC; None: it waited until its end, or waits.
        ended_ms: When it ended, UTC; None if it has not, or if the gateway was killed before.
        error: Why it failed, in words; empty otherwise.
        made: What came of it; None unless it is done.
    """

    number: int
    job_id: str
    owner: Caller
    kind: JobKind
    subjects: tuple[str, ...]
    state: JobState
    asked_ms: int
    began_ms: int | None = None
    ended_ms: int | None = None
    error: str = ""
    made: Made | None = None
