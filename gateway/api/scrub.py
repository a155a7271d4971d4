"""The scrub, for operators: how it stands, what it found, and a round now."""

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from contracts.records.clock import moment
from gateway.api.models import Page
from gateway.api.paging import Cursor, Limit, page_of
from gateway.scrubbing import Scrubbing
from storage.recordings.examining import NO_BLOB
from storage.scrub import journal

LAST_ROUNDS_MAX: Final = 20


class Round(BaseModel):
    """One walk through everything that is stored."""

    number: int
    begun: datetime
    ended: datetime | None = Field(description="null while it goes on")
    stage: journal.Stage
    recordings: int = Field(description="looked at to their end")
    blobs: int
    bytes: int = Field(description="read, of all copies and replicas")
    not_read: int = Field(description="blobs' copies that gave nothing; the next round asks again")
    found: int
    mended: int
    not_mended: int


class ScrubState(BaseModel):
    """How the scrub stands."""

    current: Round | None = Field(description="null while none is under way")
    recording_id: str | None = Field(description="the recording that it is at")
    last: list[Round] = Field(description="the last rounds that ended, newest first")


class ScrubFinding(BaseModel):
    """Something that is not as it should be."""

    round: int
    found_at: datetime
    recording_id: str | None = Field(description="null where it is about a copy as a whole")
    blob: int | None = Field(description="its index; null for the recording as a whole")
    copy_name: str = Field(description="which copy or replica, or `manifest`")
    kind: str = Field(description="rotten, missing, unread, orphan, not-looked-at")
    outcome: journal.Outcome
    detail: str


def scrub_router(scrubbing: Scrubbing, may_operate: Callable[..., Any]) -> APIRouter:
    """Return the routes, for callers that `may_operate` lets pass."""
    router = APIRouter(prefix="/v1/scrub", tags=["operations"], dependencies=[Depends(may_operate)])
    report = scrubbing.journal

    @router.get("")
    def state() -> ScrubState:
        """Return the round under way and the last ones."""
        current = report.current()
        rounds = report.rounds(LAST_ROUNDS_MAX + 1)
        return ScrubState(
            current=_round(current) if current else None,
            recording_id=current.recording_id[:32].hex() or None if current else None,
            last=[_round(each) for each in rounds if each.ended_ms is not None][:LAST_ROUNDS_MAX],
        )

    @router.post("", status_code=HTTPStatus.ACCEPTED)
    def begin() -> Round:
        """Begin a round now, unless one is under way; return it."""
        return _round(scrubbing.begin())

    @router.get("/findings")
    def findings(
        cursor: Cursor = 0,
        limit: Limit = 100,
        *,
        round: int | None = None,  # noqa: A002 - the word of the API
        outcome: journal.Outcome | None = None,
    ) -> Page[ScrubFinding]:
        """List what was found, oldest first: all, those of one round, or those of one outcome."""
        sql = (
            "SELECT finding AS at, round, at_ms, recording, blob, copy, kind, outcome, detail"
            " FROM findings WHERE round = ifnull(?, round) AND outcome = ifnull(?, outcome)"
        )
        return page_of(report, sql, (round, outcome), cursor=cursor, limit=limit, view=_finding)

    return router


def _round(each: journal.Round) -> Round:
    return Round(
        number=each.number,
        begun=moment(each.begun_ms),
        ended=None if each.ended_ms is None else moment(each.ended_ms),
        stage=each.stage,
        recordings=each.recordings,
        blobs=each.blobs,
        bytes=each.bytes_read,
        not_read=each.not_read,
        found=each.found,
        mended=each.mended,
        not_mended=each.not_mended,
    )


def _finding(row: tuple[Any, ...]) -> ScrubFinding:
    number, at_ms, recording, blob, copy, kind, outcome, detail = row
    return ScrubFinding(
        round=number,
        found_at=moment(at_ms),
        recording_id=recording.hex() or None,
        blob=None if blob == NO_BLOB else blob,
        copy_name=copy,
        kind=kind,
        outcome=outcome,
        detail=detail,
    )
