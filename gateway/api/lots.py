"""Lots: their deliveries, their transformations, and traces back and forth."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query

from gateway.api import models, views
from gateway.api.paging import Paging, page_of
from gateway.api.parts import RecordsPart
from gateway.api.problems import ABSENT
from gateway.api.tracing import LotWithDeliveries, Trace, lot_with_deliveries, trace_side
from gateway.records.tracing import Direction, LotId

TRACE_MAX: Final = 1000
_WAYS: Final = {"backward": Direction.BACKWARD, "forward": Direction.FORWARD}
_Way = Annotated[
    Literal["both", "backward", "forward"],
    Query(description="to the lot's sources, to everything made from it, or both"),
]
_Reach = Annotated[
    int,
    Query(ge=1, le=TRACE_MAX, description="transformations, and about as many lots, each way"),
]

router = APIRouter(prefix="/v1", tags=["lots"])


@router.get("/lots")
def lots(records: RecordsPart, window: Paging) -> models.Page[models.Lot]:
    """List the lots that deliveries and transformations name, or that a status is of."""
    return page_of(records.lots.listed, views.lot, window)


# One lot is named by the path, or by the query: a lot may have any sign in it, and a path cannot
# hold every lot. Clients resolve `..` away, and `a/trace` asks for the trace of `a`.
# The trace comes before the lot, which may have a slash in it.
@router.get("/lots/{gtin}/{lot:path}/trace", responses=ABSENT)
@router.get("/trace", name="trace_by_query", responses=ABSENT)
def trace(
    records: RecordsPart, gtin: str, lot: str, direction: _Way = "both", limit: _Reach = 200
) -> Trace:
    """Trace a lot back to all its sources, and forward to everything made from it.

    The answer has the transformations, and the deliveries and trips of each lot. The trace goes
    by which lot was made from which, not by time or quantity. Where it stops at a limit it says so.
    """
    start = LotId(gtin, lot)
    records.lots.check_known(start)
    sides = {
        name: trace_side(records.lots.trace(start, way, limit))
        for name, way in _WAYS.items()
        if direction in ("both", name)
    }
    return Trace(gtin=gtin, lot=lot, backward=sides.get("backward"), forward=sides.get("forward"))


@router.get("/lots/{gtin}/{lot:path}", responses=ABSENT)
@router.get("/lot", name="lot_by_query", responses=ABSENT)
def lot(records: RecordsPart, gtin: str, lot: str) -> LotWithDeliveries:
    """Return a lot as it stands, such as recalled, and the deliveries that it was part of."""
    name = LotId(gtin, lot)
    records.lots.check_known(name)
    return lot_with_deliveries(name, records.lots.entry(name), records.deliveries.of_lot(gtin, lot))


@router.get("/units", name="list_units")
def units(records: RecordsPart, window: Paging) -> models.Page[models.LogisticUnit]:
    """List the logistic units: pallets, cases and the like."""
    return page_of(records.units.listed, views.unit, window)


@router.get("/units/{sscc}", name="get_unit", responses=ABSENT)
def unit(records: RecordsPart, sscc: str) -> models.LogisticUnit:
    """Return one logistic unit: what it holds, and in which unit it is."""
    return views.unit(records.units.get(sscc))


@router.get("/transformations")
def transformations(records: RecordsPart, window: Paging) -> models.Page[models.Transformation]:
    """List the transformations that parties put on record: lots made from lots."""
    return page_of(records.lots.transformations, views.transformation, window)


@router.get("/transformations/{transformation_id}", responses=ABSENT)
def transformation(records: RecordsPart, transformation_id: str) -> models.Transformation:
    """Return one transformation: what was made from what."""
    return views.transformation(records.lots.transformation(transformation_id))
