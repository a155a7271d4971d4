"""What REST answers to who traces a lot: lots, transformations, deliveries and trips."""

from typing import Literal

from pydantic import BaseModel, Field

from gateway.api.models import Lot, Transformation


class TracedLot(BaseModel):
    """A lot that a trace reached; maker and quantities are null when nobody is on record."""

    gtin: str
    lot: str
    steps: int = Field(description="transformations away from the lot asked for, which has 0")
    party_id: str | None
    unit: str | None
    made: int | None
    used: int | None
    delivery_ids: list[str]


class TracedTrip(BaseModel):
    """A trip that a traced delivery was on."""

    trip_id: str
    breaches: int = Field(description="of this delivery's limits, on this trip")
    tampers: int


class TracedDelivery(BaseModel):
    """A delivery of traced lots."""

    delivery_id: str
    status: str
    breaches: int
    tampers: int
    trips: list[TracedTrip]


class TraceSide(BaseModel):
    """Everything that a trace reached in one direction, the lot asked for included."""

    lots: list[TracedLot]
    transformations: list[Transformation]
    deliveries: list[TracedDelivery]
    complete: bool = Field(description="false when something was left out at a limit")
    cut_at: list[Lot] = Field(description="trace these to go on where this trace stopped")
    left_out: list[Literal["transformations", "deliveries", "trips"]]


class Trace(BaseModel):
    """Where a lot came from, and everything that was made from it."""

    gtin: str
    lot: str
    backward: TraceSide | None
    forward: TraceSide | None
