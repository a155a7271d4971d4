"""This gateway's deletions, for auditors: each one is signed."""

import base64

from fastapi import APIRouter
from pydantic import BaseModel, Field

from contracts.records.clock import moment
from gateway.api.models import Page
from gateway.api.paging import Paging, page_of
from gateway.api.parts import DeletionsPart
from gateway.moments import Moment
from gateway.retention.deletions import DeletionState, Recorded


class Deletion(BaseModel):
    """A copy, or all copies, of a recording that this gateway deleted."""

    number: int
    recording_id: str
    size: int
    tree_root: str | None = Field(description="null for an upload that never became whole")
    copies: list[str] = Field(description="deleted copies, PLACE:NAME:DURABILITY")
    remaining: list[str] = Field(description="copies that stayed at this site")
    rule: str
    reason: str
    decided_at: Moment
    trip_ids: list[str] = Field(
        description="trips that have the recording; none was under legal hold"
    )
    hold_ends: list[int] = Field(
        description="ends of automatic holds without which it would be held, see /v1/hold-ends"
    )
    block_num: int = Field(description="of the ledger's head at the check for holds")
    block_id: str
    state: DeletionState
    ended_at: Moment | None
    withdrawn_because: str
    site_id: str
    gateway_public_key: str
    signature: str
    signed: str = Field(description="the signed message, base64; see contracts/deletion.py")


router = APIRouter(prefix="/v1/deletions", tags=["recordings"])


@router.get("")
def every(deletions: DeletionsPart, window: Paging) -> Page[Deletion]:
    """List the deletions, oldest first, including those under way and those withdrawn."""
    return page_of(deletions.listed, deletion_view, window)


def deletion_view(recorded: Recorded) -> Deletion:
    """Return one deletion."""
    body, signed = recorded.body, recorded.deletion
    return Deletion(
        number=body.number,
        recording_id=body.recording_sha256.hex(),
        size=body.size,
        tree_root=body.tree_root.hex() or None,
        copies=list(body.copies),
        remaining=list(body.remaining),
        rule=body.rule,
        reason=body.reason,
        decided_at=moment(body.decided_at_ms),
        trip_ids=list(body.trip_ids),
        hold_ends=list(body.hold_ends),
        block_num=body.block_num,
        block_id=body.block_id,
        state=recorded.state,
        ended_at=None if recorded.ended_ms is None else moment(recorded.ended_ms),
        withdrawn_because=recorded.why,
        site_id=body.site_id,
        gateway_public_key=signed.gateway_public_key,
        signature=signed.signature,
        signed=base64.b64encode(signed.SerializeToString(deterministic=True)).decode("ascii"),
    )
