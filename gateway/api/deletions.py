"""What this gateway deleted, for auditors: each under its signature."""

import base64
from collections.abc import Callable
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from contracts.records.clock import moment
from gateway.api.models import Page
from gateway.api.paging import Cursor, Limit, page_of
from gateway.retention.deletions import COLUMNS, Deletions, DeletionState, Recorded


class Deletion(BaseModel):
    """A copy, or all copies, of a recording that this gateway deleted."""

    number: int
    recording_id: str
    size: int
    tree_root: str | None = Field(description="null for an upload that never became whole")
    copies: list[str] = Field(description="what went, PLACE:NAME:DURABILITY")
    remaining: list[str] = Field(description="what stayed at this site")
    rule: str
    reason: str
    decided_at: datetime
    trip_ids: list[str] = Field(description="trips that have it; none was under hold")
    block_num: int = Field(description="of the ledger's head when that was looked at")
    block_id: str
    state: DeletionState
    ended_at: datetime | None
    withdrawn_because: str
    site_id: str
    gateway_public_key: str
    signature: str
    signed: str = Field(description="the signed message, base64; see contracts/deletion.py")


def deletions_router(deletions: Deletions, may_read: Callable[..., Any]) -> APIRouter:
    """Return the routes, for callers that `may_read` lets pass."""
    router = APIRouter(
        prefix="/v1/deletions", tags=["recordings"], dependencies=[Depends(may_read)]
    )

    @router.get("")
    def every(cursor: Cursor = 0, limit: Limit = 100) -> Page[Deletion]:
        """List the deletions, oldest first; those that were begun and withdrawn too."""
        return page_of(
            deletions,
            f"SELECT number AS at, {COLUMNS} FROM deletions",  # noqa: S608 - our own words
            (),
            cursor=cursor,
            limit=limit,
            view=lambda row: deletion_view(Recorded.from_row(row)),
        )

    return router


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
