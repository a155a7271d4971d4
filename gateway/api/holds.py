"""Automatic holds: what keeps which film of a trip, and who let go of it."""

import base64
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from contracts.hold_end import WHY_MAX
from contracts.ids import parse_recording_id
from contracts.records.clock import moment, now_ms
from gateway.access import Caller
from gateway.api.models import Corrected, Page
from gateway.api.paging import Paging, page_of
from gateway.api.parts import AllParts, DeletionsPart, HoldsPart
from gateway.api.problems import ABSENT
from gateway.api.security import may_operate
from gateway.moments import Moment
from gateway.records.ground import GroundKind
from gateway.retention.autoholds import Ender, GroundOnTrip
from gateway.retention.holdends import Signed


class AutomaticHold(BaseModel):
    """Something that went wrong on a trip, and the recordings that it holds by itself."""

    kind: GroundKind
    says: str = Field(description="in plain words")
    device_id: str
    sequence: int = Field(description="the device's first reading with it")
    since: Moment = Field(description="as claimed")
    since_corrected: Corrected
    until: Moment | None = Field(description="as claimed; null: it has no end on record")
    until_corrected: Corrected
    recording_ids: list[str] = Field(
        description="recordings of the trip that no gateway with this hold deletes"
    )
    ended_recording_ids: list[str] = Field(
        description="recordings that this gateway holds no longer, see /v1/hold-ends"
    )


class HoldEnd(BaseModel):
    """Automatic holds that a person ended at this gateway; signed by it."""

    number: int
    trip_id: str
    recording_id: str | None = Field(description="null: every recording of the trip")
    who: str
    role: str
    why: str
    ended_at: Moment
    held_for: list[str] = Field(description="what held them then; the first hundred")
    held_for_count: int
    block_num: int = Field(
        description="the newest block that counted; what became known later holds all the same"
    )
    block_id: str
    site_id: str
    gateway_public_key: str
    signature: str
    signed: str = Field(description="the signed message, base64; see contracts/hold_end.py")


class HoldEnding(BaseModel):
    """A wish to end automatic holds; a field with a mistyped name must not end all of them."""

    model_config = ConfigDict(extra="forbid")

    why: str = Field(min_length=1, max_length=WHY_MAX, description="goes on record")
    recording_id: str | None = Field(None, description="null: every recording of the trip")
    block_num: int | None = Field(
        None,
        ge=0,
        description="the newest block that the person has seen, such as `index_block_num` of "
        "`/v1/status` before the holds were listed; what became known later holds on. null: the "
        "newest of now",
    )


router = APIRouter(prefix="/v1/trips", tags=["trips"])
operators_router = APIRouter(prefix="/v1/trips", tags=["trips"])
ends_router = APIRouter(prefix="/v1/hold-ends", tags=["recordings"])


@router.get("/{trip_id}/automatic-holds", responses=ABSENT)
def automatic_holds(holds: HoldsPart, trip_id: str, window: Paging) -> Page[AutomaticHold]:
    """List what holds film of a trip by itself: excursions, signs of tampering, faults.

    A recording is held if it was filmed within five minutes of one, by claimed or corrected times,
    or if the device names it. Legal holds, which parties place, are in `/v1/trips/{trip_id}/holds`.
    """
    return page_of(partial(holds.on_trip, trip_id), _view, window)


@operators_router.post("/{trip_id}/automatic-holds/end", responses=ABSENT)
def end(
    services: AllParts,
    holds: HoldsPart,
    caller: Annotated[Caller, Depends(may_operate)],
    trip_id: str,
    asked: HoldEnding,
) -> HoldEnd:
    """End the automatic holds on a trip's recordings, or on one of them, at this gateway.

    Then retention may delete them when they are due. What becomes known later holds again, and
    with `block_num` nothing ends that came after that block.
    """
    recording_id = None if asked.recording_id is None else parse_recording_id(asked.recording_id)
    by = Ender(caller.name, caller.role, asked.why)
    site_id = services.settings.site_id
    ends = services.deletions.hold_ends
    ended = holds.end(
        ends, trip_id, recording_id, by, site_id=site_id, at_ms=now_ms(), seen=asked.block_num
    )
    services.retention.worker.wake()
    return _end_view(ended)


@ends_router.get("")
def every(deletions: DeletionsPart, window: Paging) -> Page[HoldEnd]:
    """List who ended automatic holds at this gateway, when and why, oldest first."""
    return page_of(deletions.hold_ends.listed, _end_view, window)


def _view(found: GroundOnTrip) -> AutomaticHold:
    ground = found.ground
    corrected = ground.since_corrected_ms, ground.until_corrected_ms
    since, until = (None if each is None else moment(each) for each in corrected)
    return AutomaticHold(
        kind=ground.kind,
        says=ground.says,
        device_id=ground.device_id,
        sequence=ground.sequence,
        since=moment(ground.since_ms),
        since_corrected=since,
        until=None if ground.until_ms is None else moment(ground.until_ms),
        until_corrected=until,
        recording_ids=[each.hex() for each in found.held],
        ended_recording_ids=[each.hex() for each in found.ended],
    )


def _end_view(signed: Signed) -> HoldEnd:
    end_, body = signed
    wire = end_.SerializeToString(deterministic=True)
    return HoldEnd(
        number=body.number,
        trip_id=body.trip_id,
        recording_id=body.recording_sha256.hex() or None,
        who=body.who,
        role=body.role,
        why=body.why,
        ended_at=moment(body.ended_at_ms),
        held_for=list(body.held_for),
        held_for_count=body.held_for_count,
        block_num=body.block_num,
        block_id=body.block_id,
        site_id=body.site_id,
        gateway_public_key=end_.gateway_public_key,
        signature=end_.signature,
        signed=base64.b64encode(wire).decode("ascii"),
    )
