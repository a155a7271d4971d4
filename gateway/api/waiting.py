"""For operators: what waits in the inbox, whose it is, and how to drop it."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from contracts.records.clock import moment, now_ms
from contracts.text import quoted
from gateway.api.models import Page
from gateway.api.paging import Paging, page_of
from gateway.api.parts import AllParts, InboxPart, UploadsPart
from gateway.api.placed import LINKED, InParts, since
from gateway.api.problems import ABSENT, NotFoundError
from gateway.intake.held import State
from gateway.intake.waiting import WaitingBatch
from gateway.moments import Moment

BY_OPERATOR = "the gateway's operator dropped it; send it again"


class WaitingItem(BaseModel):
    """A batch that is held or quarantined."""

    batch_id: str
    device_id: str
    trip_id: str = Field(description="empty if no rule would accept the batch")
    state: State
    bytes: int
    since: Moment
    expires: Moment | None = Field(
        description="when it is dropped if the gateway runs until then; null if never"
    )
    waits_for: str = Field(
        description="a transaction, the bytes of a recording, or the reason of the quarantine"
    )


class Usage(BaseModel):
    """What a device's batches take in one state."""

    device_id: str
    state: State
    batches: int
    bytes: int


class PartialUpload(BaseModel):
    """A recording of which a device has sent a part."""

    recording_id: str
    device_id: str
    size: int
    received: int
    since: Moment


class Dropped(BaseModel):
    """What was dropped."""

    batches: int


router = APIRouter(prefix="/v1/waiting", tags=["operations"])


@router.get("")
def waiting(
    parts: AllParts,
    window: Paging,
    device_id: Annotated[str | None, Query(description="only this device's")] = None,
) -> Page[WaitingItem]:
    """Return the batches that are held or quarantined, oldest first."""
    days = parts.settings.limits.waiting_days

    def view(batch: WaitingBatch) -> WaitingItem:
        left = timedelta(days=days, seconds=-batch.age_s)
        return WaitingItem(
            batch_id=batch.batch_id,
            device_id=batch.device_id,
            trip_id=batch.trip_id,
            state=batch.state,
            bytes=batch.bytes,
            since=moment(batch.since_ms),
            expires=moment(now_ms()) + left if days else None,
            waits_for=_waits_for(batch),
        )

    return page_of(
        lambda after, limit: parts.inbox.waiting.batches(after, limit, device_id), view, window
    )


@router.get("/devices", responses=LINKED)
def usage(inbox: InboxPart, parts: InParts) -> list[Usage]:
    """Return what the batches of each device take, by state; its quotas count these."""
    return [
        Usage(device_id=each.device_id, state=each.state, batches=each.batches, bytes=each.bytes)
        for each in parts.of(inbox.waiting.usage(), lambda each: f"{each.device_id} {each.state}")
    ]


@router.get("/uploads", responses=LINKED)
def partial_uploads(uploads: UploadsPart, parts: InParts) -> list[PartialUpload]:
    """Return the partial uploads, oldest first; each one is its device's."""
    listed = parts.of(
        uploads.claims.all(),
        lambda each: since(each.since_ms, each.recording.hex(), each.device_id),
    )
    return [
        PartialUpload(
            recording_id=each.recording.hex(),
            device_id=each.device_id,
            size=each.size,
            received=uploads.known.standing(each).offset,
            since=moment(each.since_ms),
        )
        for each in listed
    ]


@router.delete("/uploads/{device_id}/{recording_id}", status_code=204, responses=ABSENT)
async def drop_upload(uploads: UploadsPart, device_id: str, recording_id: str) -> None:
    """Delete a partial upload, even one under way. Its truck still has the recording."""
    for claim in uploads.claims.all():
        if (claim.device_id, claim.recording.hex()) == (device_id, recording_id):
            await uploads.drop(claim)
            return
    raise NotFoundError(
        f"no partial upload of {quoted(recording_id, 64)} by {quoted(device_id, 64)}"
    )


@router.delete("/batches/{batch_id}", status_code=204, responses=ABSENT)
def drop(inbox: InboxPart, batch_id: str) -> None:
    """Drop a held or quarantined batch. Its truck still has it, is told, and may send it again."""
    if not inbox.waiting.drop(batch_id, BY_OPERATOR):
        raise NotFoundError(f"no held or quarantined batch {quoted(batch_id, 140)}")


@router.delete("/devices/{device_id}")
def drop_of(inbox: InboxPart, device_id: str) -> Dropped:
    """Drop everything of a device that is held or quarantined."""
    return Dropped(batches=inbox.waiting.drop_of(device_id, BY_OPERATOR))


def _waits_for(batch: WaitingBatch) -> str:
    if batch.state is State.QUARANTINED:
        return batch.reason
    if batch.recording is not None:
        return f"the bytes of recording {batch.recording.hex()}"
    return f"transaction {batch.dependency}" if batch.dependency else "the ledger"
