"""Lots: the deliveries that one was part of, how it was made, and what it reached."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query

from contracts.proto.state_pb2 import Delivery, Transformation
from gateway.api import models, tracingmodels, views
from gateway.api.catalogue import delivery_view
from gateway.api.paging import Cursor, Limit, page_of
from gateway.api.problems import NotFoundError
from gateway.api.tracing import trace_side
from gateway.index.entries import transformation_entry
from gateway.index.store import IndexStore
from gateway.index.tracing import Direction, LotId

TRACE_MAX: Final = 1000
_Way = Annotated[
    Literal["both", "backward", "forward"],
    Query(description="to its sources, to all that was made from it, or both"),
]
_Reach = Annotated[
    int,
    Query(ge=1, le=TRACE_MAX, description="transformations, and about as many lots, each way"),
]


def lots_router(index: IndexStore, may_read: Callable[..., Any]) -> APIRouter:
    """Return the routes, for callers that `may_read` lets pass."""
    router = APIRouter(prefix="/v1", tags=["lots"], dependencies=[Depends(may_read)])

    @router.get("/lots")
    def lots(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Lot]:
        """List the lots that deliveries and transformations name."""
        sql = "SELECT min(rowid) AS at, gtin, lot FROM lots GROUP BY gtin, lot"
        return page_of(index, sql, (), cursor=cursor, limit=limit, view=_lot)

    _add_lot(router, index)

    @router.get("/transformations")
    def transformations(
        cursor: Cursor = 0, limit: Limit = 100
    ) -> models.Page[models.Transformation]:
        """List what parties put on record about lots made from lots."""
        sql = "SELECT rowid AS at, entry, transaction_id FROM transformations"
        return page_of(index, sql, (), cursor=cursor, limit=limit, view=_transformation)

    @router.get("/transformations/{transformation_id}")
    def transformation(transformation_id: str) -> models.Transformation:
        """Return what was made from what, once."""
        found = transformation_entry(index, transformation_id)
        if found is None:
            raise NotFoundError(f"no transformation {transformation_id[:80]!r} on the ledger")
        return views.transformation(*found)

    return router


def _add_lot(router: APIRouter, index: IndexStore) -> None:
    """Add the routes about one lot, which is named by the path, or else by the query.

    A lot may have any sign in it, and a path cannot hold every lot: clients resolve `..` away, and
    `a/trace` asks for the trace of `a`.
    """

    # Before the route below: a lot may have a slash in it.
    @router.get("/lots/{gtin}/{lot:path}/trace")
    @router.get("/trace", name="trace_by_query")
    def trace(
        gtin: str, lot: str, direction: _Way = "both", limit: _Reach = 200
    ) -> tracingmodels.Trace:
        """Trace a lot back to all its sources, and forward to everything made from it.

        With the transformations, and the deliveries and trips that each lot was on. It goes by
        who was made from whom, not by time or quantity. Where it stops at a limit it says so.
        """
        start = _known(index, LotId(gtin, lot))
        ways = {name: way for name, way in _WAYS.items() if direction in ("both", name)}
        sides = {name: trace_side(index, start, way, limit) for name, way in ways.items()}
        return tracingmodels.Trace(
            gtin=gtin, lot=lot, backward=sides.get("backward"), forward=sides.get("forward")
        )

    @router.get("/lots/{gtin}/{lot:path}")
    @router.get("/lot", name="lot_by_query")
    def lot(gtin: str, lot: str) -> list[models.Delivery]:
        """Return the deliveries that a lot was part of."""
        _known(index, LotId(gtin, lot))
        rows = index.query(
            "SELECT entry FROM deliveries WHERE rowid IN (SELECT max(rowid) FROM deliveries"
            " WHERE delivery_id IN (SELECT id FROM lots WHERE gtin = ? AND lot = ?"
            " AND role = 'delivery') GROUP BY delivery_id) ORDER BY rowid",
            gtin,
            lot,
        )
        return [delivery_view(index, Delivery.FromString(entry)) for (entry,) in rows]


_WAYS: Final = {"backward": Direction.BACKWARD, "forward": Direction.FORWARD}


def _known(index: IndexStore, lot: LotId) -> LotId:
    """Return a lot, once it is known."""
    if not index.query("SELECT 1 FROM lots WHERE gtin = ? AND lot = ? LIMIT 1", *lot):
        raise NotFoundError(
            f"no delivery or transformation of lot {lot.lot[:40]!r} of GTIN {lot.gtin[:20]!r}"
        )
    return lot


def _lot(row: tuple[Any, ...]) -> models.Lot:
    return models.Lot(gtin=row[0], lot=row[1])


def _transformation(row: tuple[Any, ...]) -> models.Transformation:
    return views.transformation(Transformation.FromString(row[0]), row[1])
