"""A lot and its trace, as REST shows them: transformations, deliveries, trips and breaches."""

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, Field

from contracts.proto import state_pb2
from contracts.rendered import Words, lot_status
from contracts.rules.deliveries import status_name
from gateway.api import views, words
from gateway.api.deliverymodels import Delivery
from gateway.api.models import Lot, Transformation
from gateway.moments import Moment
from gateway.records.deliveries import DeliveryRecord
from gateway.records.lots import ReachedDelivery, ReachedLot, TraceRecord
from gateway.records.tracing import LotId

_LeftOut = Literal["transformations", "deliveries", "trips"]


class LotStatus(BaseModel):
    """Whether a lot may be used and sold, and who says so."""

    status: words.LotStatusName
    party_id: str
    reason: str
    at: Moment


class KnownLot(Lot):
    """A lot as it stands; maker and quantities are null when they are not on record."""

    party_id: str | None
    unit: str | None
    made: int | None
    used: int | None
    status: LotStatus | None = Field(description="null when nobody cleared or withheld the lot")


class TracedLot(KnownLot):
    """A lot that a trace reached."""

    steps: int = Field(description="number of transformations from the requested lot, which has 0")
    delivery_ids: list[str]


class LotWithDeliveries(KnownLot):
    """A lot as it stands, and the deliveries that it was part of, as they stand."""

    deliveries: list[Delivery]


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


def lot_with_deliveries(
    name: LotId, entry: state_pb2.Lot | None, deliveries: Iterable[DeliveryRecord]
) -> LotWithDeliveries:
    """Return a lot as it stands, with its deliveries; without `entry`, nothing is on record."""
    told = [views.delivery(each) for each in deliveries]
    return LotWithDeliveries.model_validate({**_on_record(name, entry), "deliveries": told})


def _lot(reached: ReachedLot) -> TracedLot:
    return TracedLot.model_validate(
        {
            **_on_record(reached.lot, reached.entry),
            "steps": reached.steps,
            "delivery_ids": reached.delivery_ids,
        }
    )


def _on_record(name: LotId, entry: state_pb2.Lot | None) -> Words:
    """Return the members of `KnownLot`."""
    return {
        "gtin": name.gtin,
        "lot": name.lot,
        "party_id": entry.party_id or None if entry else None,
        "unit": entry.unit if entry else None,
        "made": entry.made if entry else None,
        "used": entry.used if entry else None,
        "status": lot_status(entry) if entry else None,
    }


def _delivery(reached: ReachedDelivery) -> TracedDelivery:
    entry = reached.entry
    return TracedDelivery(
        delivery_id=entry.terms.delivery_id,
        status=status_name(entry.status),
        breaches=entry.breaches,
        tampers=entry.tampers,
        trips=[TracedTrip.model_validate(trip, from_attributes=True) for trip in reached.trips],
    )
