"""Who takes part and what was agreed: parties, sites, devices, deliveries, lots."""

import json
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends

from contracts.proto import state_pb2
from gateway.api import models, views
from gateway.api.paging import Cursor, Limit, page_of
from gateway.api.problems import NotFoundError
from gateway.index.store import IndexStore

_LATEST = "rowid IN (SELECT max(rowid) FROM {table} GROUP BY {column})"


def catalogue_router(index: IndexStore, may_read: Callable[..., Any]) -> APIRouter:
    """Return the routes, for callers that `may_read` lets pass."""
    router = APIRouter(prefix="/v1", tags=["catalogue"], dependencies=[Depends(may_read)])

    @router.get("/parties")
    def parties(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Party]:
        """List the registered parties."""
        sql = _latest("parties", "party_id", "party_id, name, public_keys")
        return page_of(index, sql, (), cursor=cursor, limit=limit, view=_party)

    @router.get("/sites")
    def sites(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Site]:
        """List the registered sites."""
        sql = _latest("sites", "site_id", "site_id, party_id, name, gln")
        return page_of(index, sql, (), cursor=cursor, limit=limit, view=_site)

    @router.get("/devices")
    def devices(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Device]:
        """List the registered devices."""
        columns = "device_id, party_id, public_keys, calibrated_until_ms"
        sql = _latest("devices", "device_id", columns)
        return page_of(index, sql, (), cursor=cursor, limit=limit, view=_device)

    @router.get("/deliveries")
    def deliveries(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Delivery]:
        """List the deliveries, as they stand."""
        sql = _latest("deliveries", "delivery_id", "entry")
        return page_of(
            index, sql, (), cursor=cursor, limit=limit, view=lambda row: _delivery(index, row[0])
        )

    @router.get("/deliveries/{delivery_id}")
    def delivery(delivery_id: str) -> models.Delivery:
        """Return one delivery, as it stands."""
        rows = index.query(
            "SELECT entry FROM deliveries WHERE delivery_id = ? ORDER BY rowid DESC LIMIT 1",
            delivery_id,
        )
        if not rows:
            raise NotFoundError(f"no delivery {delivery_id[:80]!r} on the ledger")
        return _delivery(index, rows[0][0])

    @router.get("/lots/{gtin}/{lot}")
    def lot(gtin: str, lot: str) -> list[models.Delivery]:
        """Return the deliveries that a lot was part of."""
        rows = index.query(
            "SELECT entry FROM deliveries WHERE rowid IN (SELECT max(rowid) FROM deliveries"
            " WHERE delivery_id IN (SELECT delivery_id FROM lots WHERE gtin = ? AND lot = ?)"
            " GROUP BY delivery_id) ORDER BY rowid",
            gtin,
            lot,
        )
        if not rows:
            raise NotFoundError(f"no delivery of lot {lot[:40]!r} of GTIN {gtin[:20]!r}")
        return [_delivery(index, row[0]) for row in rows]

    return router


def _latest(table: str, column: str, columns: str) -> str:
    """Return the question for the newest row of each thing in `table`."""
    newest = _LATEST.format(table=table, column=column)
    return f"SELECT rowid AS at, {columns} FROM {table} WHERE {newest}"  # noqa: S608


def _party(row: tuple[Any, ...]) -> models.Party:
    return models.Party(party_id=row[0], name=row[1], public_keys=json.loads(row[2]))


def _site(row: tuple[Any, ...]) -> models.Site:
    return models.Site(site_id=row[0], party_id=row[1], name=row[2], gln=row[3])


def _device(row: tuple[Any, ...]) -> models.Device:
    return models.Device(
        device_id=row[0],
        party_id=row[1],
        public_keys=json.loads(row[2]),
        calibrated_until=views.moment(row[3]) if row[3] else None,
    )


def _delivery(index: IndexStore, entry: bytes) -> models.Delivery:
    delivery = state_pb2.Delivery.FromString(entry)
    rows = index.query(
        "SELECT trip_id FROM trip_deliveries WHERE delivery_id = ? ORDER BY rowid",
        delivery.terms.delivery_id,
    )
    return views.delivery(delivery, [trip_id for (trip_id,) in rows])
