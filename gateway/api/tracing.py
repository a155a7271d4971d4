"""A trace of a lot, as REST shows it: lots, transformations, deliveries, trips and breaches."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from contracts.rendered import lot_status
from contracts.rules.deliveries import status_name
from gateway.api import views, words
from gateway.api.models import Lot, Transformation
from gateway.records.lots import ReachedDelivery, ReachedLot, TraceRecord

_LeftOut = Literal["transformations", "deliveries", "trips"]


class LotStatus(BaseModel):
    """Whether a lot may be used and sold, and who says so."""

    status: words.LotStatusName
    party_id: str
    reason: str
    at: datetime


class TracedLot(BaseModel):
    """A lot that a trace reached; maker and quantities are null when they are not on record."""

    gtin: str
    lot: str
    steps: int = Field(description="number of transformations from the requested lot, which has 0")
    party_id: str | None
    unit: str | None
    made: int | None
    used: int | None
    status: LotStatus | None = Field(description="null when nobody cleared or withheld the lot")
    delivery_ids: list[str]


class TracedTrip(BaseModel):
    """A trip that a traced delivery was on."""

    trip_id: str
    breaches: int = Field(description="of this delivery's limits, on this trip")
    tampers: int


class TracedDelivery(BaseModel):
    """A delivery of traced lots."""

    delivery_id: str
    status: words.DeliveryStatus
    breaches: int
    tampers: int
    trips: list[TracedTrip]


class TraceSide(BaseModel):
    """Everything that a trace reached in one direction, including the requested lot."""

    lots: list[TracedLot]
    transformations: list[Transformation]
    deliveries: list[TracedDelivery]
    complete: bool = Field(description="false when something was left out at a limit")
    cut_at: list[Lot] = Field(description="trace these lots to continue where this trace stopped")
    left_out: list[_LeftOut]


class Trace(BaseModel):
    """The sources of a lot, and everything that was made from it."""

    gtin: str
    lot: str
    backward: TraceSide | None
    forward: TraceSide | None


def trace_side(found: TraceRecord) -> TraceSide:
    """Return everything that a trace reached in one direction."""
    marks: dict[_LeftOut, bool] = {
        "transformations": bool(found.cut_at),
        "deliveries": found.deliveries_cut,
        "trips": found.trips_cut,
    }
    return TraceSide(
        lots=[_lot(each) for each in found.lots],
        transformations=[views.transformation(each) for each in found.transformations],
        deliveries=[_delivery(each) for each in found.deliveries],
        complete=not any(marks.values()),
        cut_at=[views.lot(each) for each in found.cut_at],
        left_out=[name for name, left_out in marks.items() if left_out],
    )


def _lot(reached: ReachedLot) -> TracedLot:
    entry = reached.entry
    return TracedLot(
        gtin=reached.lot.gtin,
        lot=reached.lot.lot,
        steps=reached.steps,
        party_id=entry.party_id or None if entry else None,
        unit=entry.unit if entry else None,
        made=entry.made if entry else None,
        used=entry.used if entry else None,
        status=LotStatus.model_validate(said) if entry and (said := lot_status(entry)) else None,
        delivery_ids=list(reached.delivery_ids),
    )


def _delivery(reached: ReachedDelivery) -> TracedDelivery:
    entry = reached.entry
    return TracedDelivery(
        delivery_id=entry.terms.delivery_id,
        status=status_name(entry.status),
        breaches=entry.breaches,
        tampers=entry.tampers,
        trips=[TracedTrip.model_validate(trip, from_attributes=True) for trip in reached.trips],
    )
