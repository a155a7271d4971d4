"""What REST answers to the operator: offloads, backlog, quarantine, and how the gateway is."""

from datetime import datetime

from pydantic import BaseModel, Field


class OffloadRecording(BaseModel):
    """How far a recording's upload is."""

    recording_id: str
    size: int
    received: int
    copies: list[str] = Field(description="whole copies, as in receipts; none while it is partial")
    damaged: bool = Field(
        description="what another site stored of it does not hold: the truck has to bring it"
    )
    digest: str


class Offload(BaseModel):
    """One device's visit: what is held, committed, stored, and still missing."""

    trip_id: str
    device_id: str
    since: datetime
    batches: dict[str, int]
    readings: dict[str, int]
    blocked_by: dict[str, str]
    recordings: list[OffloadRecording]
    receipted: bool = Field(description="a final receipt was given: the truck keeps nothing")
    provisional: bool = Field(
        description="a receipt was given that is not final: all is committed, the truck keeps it"
    )
    lacking: list[str] = Field(description="what a final receipt waits for, as far as is known")


class BacklogItem(BaseModel):
    """A recording that is whole here and lacks a copy."""

    recording_id: str
    size: int
    lacks: list[str] = Field(description="`volume`, `blobs`")
    since: datetime
    problem: str | None = Field(description="why the last try failed; null before one did")


class QuarantinedBatch(BaseModel):
    """A signed batch that the ledger would not take, or did not."""

    batch_id: str
    device_id: str
    trip_id: str
    reason: str
    bytes: int


class BacklogSum(BaseModel):
    """How much is whole here and lacks a copy."""

    recordings: int
    bytes: int
    oldest: datetime | None = Field(description="since when the first of them waits")


class Status(BaseModel):
    """How the gateway itself is."""

    site_id: str
    gateway_public_key: str
    broker_connected: bool
    index_block_num: int | None
    index_block_id: str | None
    backlog: BacklogSum
