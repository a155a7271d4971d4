"""Who takes part and what was agreed: parties, sites, devices, deliveries."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Generic, Literal, TypeVar, get_type_hints

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel

from contracts.proto import state_pb2
from contracts.records.clock import moment
from gateway.api import models, views
from gateway.api.paging import Cursor, Limit, page_of
from gateway.api.problems import NotFoundError
from gateway.index.entries import delivery_entry
from gateway.index.store import IndexStore

_ModelT = TypeVar("_ModelT", bound=BaseModel)
_LATEST = "rowid IN (SELECT max(rowid) FROM {table} GROUP BY {column})"


def catalogue_router(index: IndexStore, may_read: Callable[..., Any]) -> APIRouter:
    """Return the routes, for callers that `may_read` lets pass."""
    router = APIRouter(prefix="/v1", tags=["catalogue"], dependencies=[Depends(may_read)])

    _add_things(router, index, _Things("parties", "party_id", "entry", _party))
    _add_things(router, index, _Things("sites", "site_id", "site_id, party_id, name, gln", _site))
    columns = "device_id, party_id, public_keys, calibrated_until_ms"
    _add_things(router, index, _Things("devices", "device_id", columns, _device))

    @router.get("/deliveries")
    def deliveries(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Delivery]:
        """List the deliveries, as they stand."""
        sql = _latest("deliveries", "delivery_id", "entry")
        return page_of(
            index,
            sql,
            (),
            cursor=cursor,
            limit=limit,
            view=lambda row: delivery_view(index, state_pb2.Delivery.FromString(row[0])),
        )

    @router.get("/deliveries/{delivery_id}")
    def delivery(delivery_id: str) -> models.Delivery:
        """Return one delivery, as it stands."""
        return delivery_view(index, _known(index, delivery_id))

    @router.get("/deliveries/{delivery_id}/breaches")
    def breaches(
        delivery_id: str, cursor: Cursor = 0, limit: Limit = 100
    ) -> models.Page[models.Breach]:
        """List the breaches of a delivery's limits, on whatever trip."""
        _known(index, delivery_id)
        return breaches_of(index, "delivery_id", delivery_id, cursor=cursor, limit=limit)

    return router


@dataclass(frozen=True, slots=True)
class _Things(Generic[_ModelT]):
    """A table of registered things: its name, its key, what is shown, and how."""

    table: str
    key: str
    columns: str
    view: Callable[[IndexStore, tuple[Any, ...]], _ModelT]


def _add_things(router: APIRouter, index: IndexStore, things: _Things[_ModelT]) -> None:
    """Add the routes that list all things of a kind, and that return one."""
    model = get_type_hints(things.view)["return"]
    sql = _latest(things.table, things.key, things.columns)

    def every(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[_ModelT]:
        view = partial(things.view, index)
        return page_of(index, sql, (), cursor=cursor, limit=limit, view=view)

    def one(thing_id: Annotated[str, Path(alias=things.key)]) -> _ModelT:
        rows = index.query(f"{sql} AND {things.key} = ?", thing_id)
        if not rows:
            raise NotFoundError(f"{things.key} {thing_id[:80]!r} is not on the ledger")
        return things.view(index, rows[0][1:])

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


def _party(index: IndexStore, row: tuple[Any, ...]) -> models.Party:
    """Return a party; keys that it had once and has no more are revoked."""
    party = state_pb2.Party.FromString(row[0])
    every = index.query(
        "SELECT DISTINCT public_key FROM keys WHERE subject = ? ORDER BY rowid",
        f"party {party.party_id}",
    )
    current = set(party.public_keys)
    return views.party(party, [key for (key,) in every if key not in current])


def _site(_: IndexStore, row: tuple[Any, ...]) -> models.Site:
    return models.Site(site_id=row[0], party_id=row[1], name=row[2], gln=row[3])


def _device(_: IndexStore, row: tuple[Any, ...]) -> models.Device:
    return models.Device(
        device_id=row[0],
        party_id=row[1],
        public_keys=json.loads(row[2]),
        calibrated_until=moment(row[3]) if row[3] else None,
    )


def breaches_of(
    index: IndexStore,
    column: Literal["trip_id", "delivery_id"],
    name: str,
    *,
    cursor: int,
    limit: int,
) -> models.Page[models.Breach]:
    """Return a page of the breaches of a trip or of a delivery, the last word on each."""
    newest = f"SELECT max(rowid) FROM breaches WHERE {column} = ? GROUP BY address"  # noqa: S608
    sql = f"SELECT rowid AS at, entry FROM breaches WHERE rowid IN ({newest})"  # noqa: S608
    return page_of(index, sql, (name,), cursor=cursor, limit=limit, view=_breach)


def delivery_view(index: IndexStore, delivery: state_pb2.Delivery) -> models.Delivery:
    """Return a delivery as it stands, with the trips that it was on."""
    rows = index.query(
        "SELECT trip_id FROM trip_deliveries WHERE delivery_id = ? ORDER BY rowid",
        delivery.terms.delivery_id,
    )
    return views.delivery(delivery, [trip_id for (trip_id,) in rows])


def _known(index: IndexStore, delivery_id: str) -> state_pb2.Delivery:
    found = delivery_entry(index, delivery_id)
    if found is None:
        raise NotFoundError(f"no delivery {delivery_id[:80]!r} on the ledger")
    return found


def _breach(row: tuple[Any, ...]) -> models.Breach:
    return views.breach(state_pb2.Breach.FromString(row[0]))
