"""Verification on request: what holds of a recording or a lot, and what was not looked at.

The trip's own verification is in trips.py.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from contracts.errors import UnavailableError
from contracts.evidence.report import summary
from contracts.evidence.verify import Verdict
from gateway.access import Caller
from gateway.api import words
from gateway.api.accesses import TakingPart
from gateway.api.evidence import may_see_whole
from gateway.api.jobs import JSON_TYPE, STARTED, BackgroundPart
from gateway.api.models import CopyReport
from gateway.api.parts import (
    AllParts,
    AuditPart,
    DeletionsPart,
    RecordsPart,
    StorePart,
)
from gateway.api.problems import ABSENT, errors
from gateway.api.recordings import absent, digest_of_bytes
from gateway.api.security import may_read
from gateway.jobs.job import JobKind
from gateway.jobs.work import Work
from gateway.people.accesslog import Taken
from gateway.records.tracing import LotId
from gateway.records.verification import (
    AS_JOB,
    AT_ONCE,
    Bounds,
    LeftOutKind,
    Outcome,
    Verification,
    beyond,
)
from gateway.records.watch import UNWATCHED, Watch
from storage.recordings.verification import VerifyReport

AT_ONCE_MAX: Final = 2
"""Verifications of recordings and lots that run at once; each one reads what may be much."""
NAMED_MAX: Final = 100
"""Names of one kind and reason that an answer lists; the count is always that of all."""


class VerificationPlaces(BoundedSemaphore):
    """The places for verifications that run at once."""

    def __init__(self) -> None:
        super().__init__(AT_ONCE_MAX)


class VerifiedTrip(BaseModel):
    """A trip whose batches were read from the ledger again and judged."""

    trip_id: str
    verdict: words.VerdictWord
    breaches: int = Field(description="a genuine record may show goods that went bad")
    tampers: int
    findings: int


class CopiesRead(BaseModel):
    """The outcome of reading every byte of every copy of a recording."""

    recording_id: str
    intact: bool = Field(description="there is a copy, and every copy is complete and intact")
    copies: list[CopyReport]


class LeftOut(BaseModel):
    """What was not looked at, and why; it says nothing of whether that holds."""

    what: LeftOutKind
    reason: str = Field(description="in words; a limit that cut something is named first")
    count: int
    ids: list[str] = Field(description="the first hundred; a lot by its number")


class Verified(BaseModel):
    """What a verification found."""

    outcome: Outcome = Field(
        description="`fails`: something does not hold, see `problems`. `holds`: everything was "
        "checked, and everything holds. `incomplete`: nothing that was checked fails, but the "
        "items of `left_out` were not checked"
    )
    problems: list[str] = Field(description="what does not hold, in words")
    left_out: list[LeftOut]
    beyond: list[str] = Field(description="what no verification at one gateway can check")
    judged_by: str = Field(description="the gateway that says so")
    trips: list[VerifiedTrip]


class RecordingReport(Verified, CopiesRead):
    """What holds of a recording: its copies here, and the digests on the ledger."""


class LotReport(Verified):
    """What holds of the trips of a lot's deliveries, and of the recordings on them."""

    gtin: str
    lot: str
    recordings: list[CopiesRead]


class Verifier:
    """Begins a verification for a caller, while there is a place for one."""

    def __init__(
        self,
        request: Request,
        services: AllParts,
        records: RecordsPart,
        audit: AuditPart,
        store: StorePart,
        deletions: DeletionsPart,
        caller: Annotated[Caller, Depends(may_read)],
    ) -> None:
        self._places: VerificationPlaces = request.app.state.verifications
        self.judged_by = (
            f"the gateway of site {services.settings.site_id}, by the ledger's own keys"
        )

        def begun(bounds: Bounds, watch: Watch) -> Verification:
            return Verification(
                records,
                audit,
                store,
                may_judge=lambda trip_id: may_see_whole(records, caller, trip_id),
                absent=lambda sha256: str(absent(deletions, sha256)),
                bounds=bounds,
                watch=watch,
            )

        self._begun = begun

    def in_job(self, watch: Watch) -> Verification:
        """Return a verification with the wide bounds of a job."""
        return self._begun(AS_JOB, watch)

    @contextmanager
    def place(self) -> Iterator[Verification]:
        """Yield the verification.

        Raises:
            UnavailableError: As many as may run at once are under way.
        """
        if not self._places.acquire(blocking=False):
            raise UnavailableError(
                f"expected at most {AT_ONCE_MAX} verifications at once: ask again later"
            )
        try:
            yield self._begun(AT_ONCE, UNWATCHED)
        finally:
            self._places.release()


VerifierPart = Annotated[Verifier, Depends()]
router = APIRouter(prefix="/v1", tags=["evidence"])


@router.post(
    "/recordings/{recording_id}/verify",
    response_model=RecordingReport,
    responses=errors(404, 410) | STARTED,
)
def verify_recording(
    taking: TakingPart,
    records: RecordsPart,
    store: StorePart,
    deletions: DeletionsPart,
    verifier: VerifierPart,
    background: BackgroundPart,
    recording_id: str,
) -> RecordingReport | Response:
    """Read every byte of every copy, and judge the trips whose digests count, by the ledger.

    20 trips are judged at most, 500 by a job. A recording whose bytes are not here is 404, or 410
    if they were deleted here.
    """
    sha256 = digest_of_bytes(records, store, deletions, recording_id).sha256

    def look(found: Verification) -> RecordingReport:
        found.recording(sha256)
        return RecordingReport(
            **_copies_read(sha256, found.copies.get(sha256)).model_dump(),
            **_verified(found, verifier.judged_by, lot=False).model_dump(),
        )

    if background.is_wanted:
        work = as_job(
            JobKind.VERIFY_RECORDING, recording_id, lambda watch: look(verifier.in_job(watch))
        )
        return background.begin(work, lambda: taking.note(Taken.VERDICT, recording_id))
    with verifier.place() as found:
        taking.note(Taken.VERDICT, recording_id)
        return look(found)


# A lot is named by the path, or by the query: see lots.py.
@router.post("/lots/{gtin}/{lot:path}/verify", response_model=LotReport, responses=ABSENT | STARTED)
@router.post(
    "/lot/verify",
    name="verify_lot_by_query",
    response_model=LotReport,
    responses=ABSENT | STARTED,
)
def verify_lot(
    taking: TakingPart,
    records: RecordsPart,
    verifier: VerifierPart,
    background: BackgroundPart,
    gtin: str,
    lot: str,
    *,
    video: Annotated[bool, Query(description="read the recordings on its trips too")] = True,
) -> LotReport | Response:
    """Judge the trips of a lot's deliveries by the ledger, and read the recordings on them.

    At most 20 trips are judged and 4 GiB of video are read, and nothing is begun after a minute; a
    job judges 500, reads 1 TiB, and begins nothing after six hours. What is left out is named with
    the limit, and then the outcome is never `holds`.
    """
    name, subject = LotId(gtin, lot), f"{gtin}/{lot}"

    def look(found: Verification) -> LotReport:
        found.lot(name, video=video)
        return LotReport(
            gtin=gtin,
            lot=lot,
            recordings=[_copies_read(*each) for each in found.copies.items()],
            **_verified(found, verifier.judged_by, lot=True).model_dump(),
        )

    if background.is_wanted:
        records.lots.check_known(name)
        work = as_job(JobKind.VERIFY_LOT, subject, lambda watch: look(verifier.in_job(watch)))
        return background.begin(work, lambda: taking.note(Taken.VERDICT, subject))
    with verifier.place() as found:
        taking.note(Taken.VERDICT, subject)
        return look(found)


def as_job(kind: JobKind, subject: str, look: Callable[[Watch], BaseModel]) -> Work:
    """Return a job's work: look at something, and keep the answer as JSON."""

    def run(watch: Watch) -> Iterator[bytes]:
        yield look(watch).model_dump_json().encode()

    return Work(kind, (subject,), run, JSON_TYPE, f"{kind}.json")


def _verified(found: Verification, judged_by: str, *, lot: bool) -> Verified:
    return Verified(
        outcome=found.outcome,
        problems=found.problems,
        left_out=[
            LeftOut(what=kind, reason=reason, count=len(names), ids=names[:NAMED_MAX])
            for (kind, reason), names in found.left_out.items()
        ],
        beyond=beyond(lot=lot),
        judged_by=judged_by,
        trips=[_trip(*each) for each in found.verdicts.items()],
    )


def _trip(trip_id: str, verdict: Verdict) -> VerifiedTrip:
    story = verdict.trips.get(trip_id)
    return VerifiedTrip(
        trip_id=trip_id,
        verdict=summary(verdict),
        breaches=len(story.breaches) if story else 0,
        tampers=len(story.tampers) if story else 0,
        findings=len(story.findings) if story else 0,
    )


def _copies_read(sha256: bytes, report: VerifyReport | None) -> CopiesRead:
    return CopiesRead(
        recording_id=sha256.hex(),
        intact=report is not None and report.holds,
        copies=[
            CopyReport(
                copy_name=copy.copy,
                intact=copy.holds,
                rotten_blobs=list(copy.rotten),
                missing_blobs=list(copy.missing),
                unread_blobs=list(copy.unread),
            )
            for copy in (report.copies if report else ())
        ],
    )
