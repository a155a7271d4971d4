"""Jobs: long verifications and exports that their owner watches, cancels and fetches."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from http import HTTPStatus
from typing import Annotated, BinaryIO, Final

from fastapi import APIRouter, Depends, Header, HTTPException, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

from contracts.errors import WaysealError
from contracts.records.clock import moment
from contracts.runtime.files import disk_errors
from contracts.text import quoted
from gateway.access import Caller
from gateway.api.accesses import TakingPart
from gateway.api.conditions import KNOWN, Conditions
from gateway.api.models import Page
from gateway.api.paging import Paging, page_of
from gateway.api.partial import part_of
from gateway.api.parts import JobsPart
from gateway.api.preference import VARIES, Preferred
from gateway.api.problems import ABSENT, BINARY, Answers, NotFoundError, errors
from gateway.api.security import may_read
from gateway.jobs.job import JobKind, JobState, KeptJob, Made
from gateway.jobs.jobs import LASTS_MAX_S, DamagedResultError, Jobs, TooManyJobsError
from gateway.jobs.progress import Progress
from gateway.jobs.work import Work
from gateway.moments import Moment
from gateway.people.accesslog import Taken
from gateway.records.watch import Unit

EVIDENCE_TYPE: Final = "application/vnd.wayseal.evidence"
JSON_TYPE: Final = "application/json"
_PIECE_BYTES: Final = 1 << 16
_AGAIN_S: Final = {"Retry-After": "1"}
_Caller = Annotated[Caller, Depends(may_read)]


class JobProgress(BaseModel):
    """How far a job is. What is read may begin again at 0 when it needs more than was known."""

    step: int = Field(description="which trip or recording is looked at, from 1 on")
    steps: int = Field(description="how many there are, as far as is known")
    subject: str = Field(description="its name; empty at first")
    doing: str = Field(description="what is done with it, in words; empty at first")
    done: int = Field(description="so much of what is read now was read")
    total: int = Field(description="0: not known")
    unit: Unit = Field(description="of `done` and `total`")


class Job(BaseModel):
    """Long work of one caller, and what came of it."""

    job_id: str
    kind: JobKind
    subjects: list[str] = Field(
        description="trips, a recording, GTIN and lot with a slash between them, or in words what "
        "a spreadsheet was asked of"
    )
    state: JobState = Field(
        description="`interrupted`: the gateway ended before the job did; begin it again"
    )
    asked: Moment
    began: Moment | None = Field(description="null while it waits for others")
    ended: Moment | None = Field(
        description="null while it is under way, and if the gateway was killed before its end"
    )
    expires: Moment | None = Field(
        description="when it is forgotten with its result; null while it is under way"
    )
    progress: JobProgress | None = Field(description="null unless it runs")
    error: str | None = Field(description="why it failed or was interrupted; else null")
    result: str | None = Field(description="path of the result; null unless it is done")
    size: int | None = Field(description="bytes of the result")
    sha256: str | None = Field(description="of the result")


TAKEN: Final[Mapping[JobKind, Taken]] = {
    JobKind.VERIFY_TRIP: Taken.VERDICT,
    JobKind.VERIFY_RECORDING: Taken.VERDICT,
    JobKind.VERIFY_LOT: Taken.VERDICT,
    JobKind.EVIDENCE: Taken.EVIDENCE,
    JobKind.READINGS_CSV: Taken.READINGS,
    JobKind.READINGS_SENML: Taken.READINGS,
    JobKind.TRIP_EVENTS: Taken.EVENTS,
    JobKind.LOT_EVENTS: Taken.EVENTS,
    JobKind.SPREADSHEET: Taken.SPREADSHEET,
    JobKind.TRIP_CERTIFICATE: Taken.CERTIFICATE,
    JobKind.LOT_CERTIFICATE: Taken.CERTIFICATE,
}
"""The word on the record of accesses for a job's result, by the kind of job."""
STARTED: Final[Answers] = {
    202: {
        "model": Job,
        "description": "a job, to be watched at `Location`",
        "headers": {
            "Location": {"schema": {"type": "string"}},
            "Preference-Applied": {"schema": {"type": "string"}},
        },
    },
    **errors(429),
}
"""The description of a route that may begin a job."""
_RESULT: Final[Answers] = {
    200: {
        "description": "the result; of a verification as its own route answers",
        "content": {
            JSON_TYPE: {"schema": {"type": "object"}},
            EVIDENCE_TYPE: {"schema": BINARY},
        },
    },
    206: {
        "description": "the range",
        "content": {EVIDENCE_TYPE: {"schema": BINARY}},
        "headers": {"Content-Range": {"schema": {"type": "string"}}},
    },
}

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


class Background:
    """Begins a job for a caller who prefers one."""

    def __init__(self, jobs: JobsPart, caller: _Caller, preference: Preferred) -> None:
        self._jobs = jobs
        self._caller = caller
        self._preference = preference

    @property
    def is_wanted(self) -> bool:
        """Say whether the caller prefers a job."""
        return self._preference.is_async

    def begin(self, work: Work, note: Callable[[], None]) -> Response:
        """Begin a job; return its result if it comes as soon as the caller said, or the job.

        Args:
            work: What it does.
            note: Writes the access down once the job is taken on, before anything leaves.

        Raises:
            HTTPException: 429: as many as may be are under way.
            UnavailableError: It cannot be written down.
        """
        try:
            job_id = self._jobs.add(self._caller, work)
        except TooManyJobsError as error:
            raise HTTPException(
                HTTPStatus.TOO_MANY_REQUESTS, str(error), {"Retry-After": "10"}
            ) from error
        try:
            note()
        except WaysealError:
            self._jobs.cancel(self._caller, job_id)
            raise
        applied = {"Preference-Applied": "respond-async"} if self.is_wanted else {}
        # A verdict is small. A file would have to be read into memory to be the answer.
        is_small = work.media_type == JSON_TYPE
        wait_s = self._preference.wait_s if self.is_wanted and is_small else 0
        if wait_s:
            self._jobs.wait(job_id, wait_s)
            applied["Preference-Applied"] += f", wait={wait_s}"
        found = _known(self._jobs, self._caller, job_id)
        if wait_s and found.made is not None:
            content = _whole(self._jobs, found, found.made)
            self._jobs.cancel(self._caller, job_id)
            return Response(content, headers=applied, media_type=found.made.media_type)
        headers = {"Location": f"{router.prefix}/{job_id}", **VARIES, **_AGAIN_S, **applied}
        shown = _view(self._jobs, found).model_dump(mode="json")
        return JSONResponse(shown, HTTPStatus.ACCEPTED, headers)


BackgroundPart = Annotated[Background, Depends()]


@router.get(
    "/{job_id}/result",
    response_class=Response,
    responses=errors(404, 409, 416, 500) | KNOWN | _RESULT,
)
def job_result(
    taking: TakingPart, jobs: JobsPart, job_id: str, asked: Annotated[Conditions, Header()]
) -> Response:
    """Return the result of a job that is done: a verdict as JSON, an evidence file, or an export.

    The ETag of a file is its SHA-256. One that broke off is fetched on with a range. An export has
    the media type of its own route.
    """
    found = _known(jobs, taking.caller, job_id)
    if found.made is None:
        because = f": {found.error}" if found.error else ""
        raise HTTPException(HTTPStatus.CONFLICT, f"job {job_id} is {found.state}{because}")
    made, etag = found.made, f'"{found.made.sha256.hex()}"'
    if made.media_type == JSON_TYPE:
        taking.note(TAKEN[found.kind], *found.subjects)
        return Response(_whole(jobs, found, made), media_type=JSON_TYPE)
    part = part_of(asked, etag, made.size)
    if isinstance(part, Response):
        return part
    taking.note(TAKEN[found.kind], *found.subjects)
    path = jobs.path(job_id)
    with disk_errors("read", path):
        file = path.open("rb")
        file.seek(part.start)
    headers = part.headers | {
        "Content-Disposition": f'attachment; filename="{made.file_name}"',
    }
    pieces = _pieces(file, part.stop - part.start)
    return StreamingResponse(pieces, part.status, headers, made.media_type)


@router.get("", name="list_jobs")
def every(jobs: JobsPart, caller: _Caller, window: Paging) -> Page[Job]:
    """List the caller's jobs, oldest first; those of others are not shown."""
    return page_of(partial(jobs.listed, caller), partial(_view, jobs), window)


@router.get("/{job_id}", responses=ABSENT)
def job(jobs: JobsPart, caller: _Caller, job_id: str) -> Job:
    """Return how a job of the caller stands, and how far it is."""
    return _view(jobs, _known(jobs, caller, job_id))


@router.delete("/{job_id}", status_code=204, response_class=Response, responses=ABSENT)
def cancel_job(jobs: JobsPart, caller: _Caller, job_id: str) -> None:
    """Cancel a job that is under way; forget one that has ended, and delete its result."""
    if not jobs.cancel(caller, job_id):
        raise _absent(job_id)


def _known(jobs: Jobs, caller: Caller, job_id: str) -> KeptJob:
    found = jobs.find(caller, job_id)
    if found is None:
        raise _absent(job_id)
    return found


def _absent(job_id: str) -> NotFoundError:
    return NotFoundError(
        f"no job {quoted(job_id, 64)} of yours: a job is forgotten {LASTS_MAX_S / 3600:g} h after "
        "its end"
    )


def _view(jobs: Jobs, found: KeptJob) -> Job:
    progress = jobs.progress(found.job_id) if found.state is JobState.RUNNING else None
    last_ms = found.asked_ms if found.ended_ms is None else found.ended_ms
    expires_ms = None if found.state.is_under_way else last_ms + int(LASTS_MAX_S * 1000)
    made = found.made
    return Job(
        job_id=found.job_id,
        kind=found.kind,
        subjects=list(found.subjects),
        state=found.state,
        asked=moment(found.asked_ms),
        began=_moment(found.began_ms),
        ended=_moment(found.ended_ms),
        expires=_moment(expires_ms),
        progress=None if progress is None else _shown(progress),
        error=found.error or None,
        result=None if made is None else f"{router.prefix}/{found.job_id}/result",
        size=None if made is None else made.size,
        sha256=None if made is None else made.sha256.hex(),
    )


def _moment(ms: int | None) -> Moment | None:
    return None if ms is None else moment(ms)


def _shown(progress: Progress) -> JobProgress:
    return JobProgress(
        step=progress.step,
        steps=progress.steps,
        subject=progress.subject,
        doing=progress.doing,
        done=progress.done,
        total=progress.total,
        unit=progress.unit,
    )


def _whole(jobs: Jobs, found: KeptJob, made: Made) -> bytes:
    """Return a verdict, which its hash alone proves; raises HTTPException, 500, if damaged."""
    try:
        return jobs.content(found, made)
    except DamagedResultError as error:
        raise HTTPException(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from error


def _pieces(file: BinaryIO, count: int) -> Iterator[bytes]:
    with closing(file):
        while count and (piece := file.read(min(count, _PIECE_BYTES))):
            count -= len(piece)
            yield piece
