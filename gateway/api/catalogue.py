"""Who takes part and what was agreed: parties, sites, devices, deliveries, lots."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel

from contracts.proto import state_pb2
from contracts.records.clock import moment
from gateway.api import models, views
from gateway.api.paging import Cursor, Limit, page_of
from gateway.api.problems import NotFoundError
from gateway.index.store import IndexStore

_ModelT = TypeVar("_ModelT", bound=BaseModel)
_LATEST = "rowid IN (SELECT max(rowid) FROM {table} GROUP BY {column})"


def catalogue_router(index: IndexStore, may_read: Callable[..., Any]) -> APIRouter:
    """Return the routes, for callers that `may_read` lets pass."""
    router = APIRouter(prefix="/v1", tags=["catalogue"], dependencies=[Depends(may_read)])

    _add_things(
        router, index, _Things("parties", "party_id", "party_id, name, public_keys", _party)
    )
    _add_things(router, index, _Things("sites", "site_id", "site_id, party_id, name, gln", _site))
    columns = "device_id, party_id, public_keys, calibrated_until_ms"
    _add_things(router, index, _Things("devices", "device_id", columns, _device))

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

    @router.get("/lots")
    def lots(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Lot]:
        """List the lots that deliveries name."""
        sql = "SELECT min(rowid) AS at, gtin, lot FROM lots GROUP BY gtin, lot"
        return page_of(
            index,
            sql,
            (),
            cursor=cursor,
            limit=limit,
            view=lambda row: models.Lot(gtin=row[0], lot=row[1]),
        )

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


@dataclass(frozen=True, slots=True)
class _Things(Generic[_ModelT]):
    """A table of registered things: its name, its key, what is shown, and how."""

    table: str
    key: str
    columns: str
    view: Callable[[tuple[Any, ...]], _ModelT]


def _add_things(router: APIRouter, index: IndexStore, things: _Things[_ModelT]) -> None:
    """Add the routes that list all things of a kind, and that return one."""
    model = get_type_hints(things.view)["return"]
    sql = _latest(things.table, things.key, things.columns)

    def every(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[_ModelT]:
        return page_of(index, sql, (), cursor=cursor, limit=limit, view=things.view)

    def one(thing_id: Annotated[str, Path(alias=things.key)]) -> _ModelT:
        rows = index.query(f"{sql} AND {things.key} = ?", thing_id)
        if not rows:
            raise NotFoundError(f"{things.key} {thing_id[:80]!r} is not on the ledger")
        return things.view(rows[0][1:])

    router.add_api_route(
        f"/{things.table}",
        every,
        name=f"list_{things.table}",
        description=f"List the registered {things.table}.",
        response_model=models.Page[model],  # type: ignore[valid-type]  # known at run time only
    )
    router.add_api_route(
        f"/{things.table}/{{{things.key}}}",
        one,
        name=f"get_{things.key.removesuffix('_id')}",
        description=f"Return one {things.key.removesuffix('_id')}, as registered last.",
        response_model=model,
    )


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
        calibrated_until=moment(row[3]) if row[3] else None,
    )


def _delivery(index: IndexStore, entry: bytes) -> models.Delivery:
    delivery = state_pb2.Delivery.FromString(entry)
    rows = index.query(
        "SELECT trip_id FROM trip_deliveries WHERE delivery_id = ? ORDER BY rowid",
        delivery.terms.delivery_id,
    )
    return views.delivery(delivery, [trip_id for (trip_id,) in rows])
