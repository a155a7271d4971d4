"""The scrub, for operators: its state, its findings, and a way to begin a round now."""

from functools import partial
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel, Field

from contracts.records.clock import moment
from gateway.api.models import Page
from gateway.api.paging import Paging, page_of
from gateway.api.parts import ScrubbingPart
from gateway.moments import Moment
from storage.recordings.blobcopies import NO_BLOB
from storage.scrub import report as scrub_report

LAST_ROUNDS_MAX: Final = 20


class Round(BaseModel):
    """One pass over everything that is stored."""

    number: int
    begun: Moment
    ended: Moment | None = Field(description="null while the round goes on")
    stage: scrub_report.RoundStage
    recordings: int = Field(description="read to their end")
    blobs: int
    bytes: int = Field(description="read, of all copies and replicas")
    not_read: int = Field(
        description="copies of blobs that did not answer; the next round asks again"
    )
    found: int
    mended: int
    not_mended: int


class ScrubState(BaseModel):
    """The state of the scrub."""

    current: Round | None = Field(description="null while no round is under way")
    recording_id: str | None = Field(description="the recording that is being read")
    last: list[Round] = Field(description="the last rounds that have ended, newest first")


class ScrubFinding(BaseModel):
    """Damage, or anything else that differs from the expected state."""

    round: int
    found_at: Moment
    recording_id: str | None = Field(description="null if the finding is about a copy as a whole")
    blob: int | None = Field(description="index of the blob; null for the recording as a whole")
    copy_name: str = Field(description="which copy or replica, or `manifest`")
    kind: str = Field(description="rotten, missing, unread, undeleted, orphan, not-looked-at")
    outcome: scrub_report.FindingOutcome
    detail: str


router = APIRouter(prefix="/v1/scrub", tags=["operations"])


@router.get("")
def state(scrubbing: ScrubbingPart) -> ScrubState:
    """Return the round under way and the last ones."""
    current = scrubbing.journal.current()
    rounds = scrubbing.journal.rounds(LAST_ROUNDS_MAX + 1)
    return ScrubState(
        current=_round(current) if current else None,
        recording_id=current.recording_id[:32].hex() or None if current else None,
        last=[_round(each) for each in rounds if each.ended_ms is not None][:LAST_ROUNDS_MAX],
    )


@router.post("", status_code=HTTPStatus.ACCEPTED)
def begin(scrubbing: ScrubbingPart) -> Round:
    """Begin a round now, unless one is under way; return the current round."""
    return _round(scrubbing.begin())


@router.get("/findings")
def findings(
    scrubbing: ScrubbingPart,
    window: Paging,
    *,
    round: int | None = None,  # noqa: A002 - the word of the API
    outcome: scrub_report.FindingOutcome | None = None,
) -> Page[ScrubFinding]:
    """List the findings, oldest first: all, or those of one round or one outcome."""
    ask = partial(scrubbing.journal.listed, number=round, outcome=outcome)
    return page_of(ask, _finding, window)


def _round(each: scrub_report.Round) -> Round:
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


def _finding(kept: scrub_report.KeptFinding) -> ScrubFinding:
    found = kept.found
    return ScrubFinding(
        round=kept.number,
        found_at=moment(kept.at_ms),
        recording_id=found.recording_id.hex() or None,
        blob=None if found.index == NO_BLOB else found.index,
        copy_name=found.copy,
        kind=found.kind,
        outcome=kept.outcome,
        detail=found.detail,
    )
