"""What happened on the way: trips, readings, breaches, tamper events, findings, recordings."""

from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import APIRouter, Depends

from contracts.evidence.report import as_json
from contracts.proto import payload_pb2, state_pb2
from gateway.api import models, views
from gateway.api.catalogue import breaches_of
from gateway.api.paging import Cursor, Limit, page_of
from gateway.api.problems import NotFoundError
from gateway.audit import Audit
from gateway.index.entries import trip_entry
from gateway.index.holds import NEWEST, holds_in_force
from gateway.index.store import IndexStore
from storage.recordings.store import RecordingStore

_EventT = TypeVar("_EventT", models.TamperEvent, models.Finding)


def trips_router(
    index: IndexStore, recordings: RecordingStore, audit: Audit, may_read: Callable[..., Any]
) -> APIRouter:
    """Return the routes, for callers that `may_read` lets pass."""
    router = APIRouter(prefix="/v1/trips", tags=["trips"], dependencies=[Depends(may_read)])

    @router.get("")
    def trips(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Trip]:
        """List the trips, oldest first."""
        sql = "SELECT rowid AS at, start, transaction_id FROM trips"
        return page_of(
            index, sql, (), cursor=cursor, limit=limit, view=lambda row: _trip(index, *row)
        )

    @router.get("/{trip_id}")
    def trip(trip_id: str) -> models.Trip:
        """Return one trip."""
        rows = index.query("SELECT start, transaction_id FROM trips WHERE trip_id = ?", trip_id)
        if not rows:
            raise NotFoundError(f"no trip {trip_id[:80]!r} on the ledger")
        return _trip(index, *rows[0])

    @router.get("/{trip_id}/readings")
    def readings(
        trip_id: str, cursor: Cursor = 0, limit: Limit = 500
    ) -> models.Page[models.Reading]:
        """List a trip's readings, in the ledger's order."""
        sql = (
            "SELECT position AS at, record, device_id, sequence, transaction_id, block_num"
            " FROM readings WHERE trip_id = ?"
        )
        return page_of(
            index, sql, _known(index, trip_id), cursor=cursor, limit=limit, view=_reading
        )

    @router.post("/{trip_id}/verify")
    def verify(trip_id: str) -> dict[str, Any]:
        """Judge the evidence of a trip as `wayseal-verify` would, by the keys of this ledger.

        A quick check for the operator; who does not trust this gateway exports the
        evidence and judges it elsewhere, with keys of another origin.
        """
        return as_json(audit.judge(*_known(index, trip_id)))

    @router.get("/{trip_id}/recordings")
    def recordings_of(
        trip_id: str, cursor: Cursor = 0, limit: Limit = 100
    ) -> models.Page[models.Recording]:
        """List the digests of a trip's recordings, and whether their bytes are here."""
        sql = "SELECT rowid AS at, action, transaction_id, block_num FROM videos WHERE trip_id = ?"
        return page_of(
            index,
            sql,
            _known(index, trip_id),
            cursor=cursor,
            limit=limit,
            view=lambda row: recording_view(recordings, *row),
        )

    _add_lists(router, index)
    return router


def _add_lists(router: APIRouter, index: IndexStore) -> None:
    """Add the routes that list what happened on a trip, page by page."""

    @router.get("/{trip_id}/breaches")
    def breaches(
        trip_id: str, cursor: Cursor = 0, limit: Limit = 100
    ) -> models.Page[models.Breach]:
        """List a trip's breaches of its deliveries' limits."""
        _known(index, trip_id)
        return breaches_of(index, "trip_id", trip_id, cursor=cursor, limit=limit)

    @router.get("/{trip_id}/tampers")
    def tampers(
        trip_id: str, cursor: Cursor = 0, limit: Limit = 100
    ) -> models.Page[models.TamperEvent]:
        """List a trip's tamper events."""
        return _events(index, "tampers", trip_id, (cursor, limit), _tamper)

    @router.get("/{trip_id}/findings")
    def findings(
        trip_id: str, cursor: Cursor = 0, limit: Limit = 100
    ) -> models.Page[models.Finding]:
        """List what the rules found about a trip's transactions."""
        return _events(index, "findings", trip_id, (cursor, limit), _finding)

    @router.get("/{trip_id}/holds")
    def holds(trip_id: str, cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Hold]:
        """List the legal holds on a trip's evidence, the released ones too."""
        sql = f"SELECT rowid AS at, entry FROM holds WHERE {NEWEST}"  # noqa: S608
        return page_of(index, sql, _known(index, trip_id), cursor=cursor, limit=limit, view=_hold)


def recording_view(
    recordings: RecordingStore, action: bytes, transaction_id: str, block_num: int
) -> models.Recording:
    """Return one committed digest, and whether the bytes that it tells of are here."""
    digest = payload_pb2.RecordVideo.FromString(action)
    manifest = recordings.manifest(digest.sha256)
    fits = manifest is not None and manifest.fits(digest.size, digest.tree_root)
    return views.recording(digest, transaction_id, block_num, manifest if fits else None)


def _trip(index: IndexStore, start: bytes, transaction_id: str) -> models.Trip:
    action = payload_pb2.StartTrip.FromString(start)
    ((count,),) = index.query("SELECT count(*) FROM readings WHERE trip_id = ?", action.trip_id)
    rows = index.query("SELECT action, transaction_id FROM seals WHERE trip_id = ?", action.trip_id)
    seals = [(payload_pb2.SealTrip.FromString(seal), seal_id) for seal, seal_id in rows]
    return views.trip(
        action,
        trip_entry(index, action.trip_id) or state_pb2.Trip(),
        transaction_id,
        count,
        len(holds_in_force(index, action.trip_id)),
        seals,
    )


def _known(index: IndexStore, trip_id: str) -> tuple[str]:
    """Return the trip's id as values for a question, once the trip is known."""
    if not index.query("SELECT 1 FROM trips WHERE trip_id = ?", trip_id):
        raise NotFoundError(f"no trip {trip_id[:80]!r} on the ledger")
    return (trip_id,)


def _reading(row: tuple[Any, ...]) -> models.Reading:
    record, device_id, sequence, transaction_id, block_num = row
    # The fields of a run's reading have the same numbers.
    fields = payload_pb2.RecordReading.FromString(record)
    return views.reading(fields, (device_id, sequence), transaction_id, block_num)


def _hold(row: tuple[Any, ...]) -> models.Hold:
    return views.hold(state_pb2.Hold.FromString(row[0]))


def _tamper(row: tuple[Any, ...]) -> models.TamperEvent:
    return views.tamper(state_pb2.TamperEvent.FromString(row[0]))


def _finding(row: tuple[Any, ...]) -> models.Finding:
    return views.finding(state_pb2.Finding.FromString(row[0]))


def _events(
    index: IndexStore,
    table: str,
    trip_id: str,
    place: tuple[int, int],
    view: Callable[[tuple[Any, ...]], _EventT],
) -> models.Page[_EventT]:
    """Return a page, from cursor and limit in `place`, of a table of events."""
    sql = f"SELECT rowid AS at, entry FROM {table} WHERE trip_id = ?"  # noqa: S608
    cursor, limit = place
    return page_of(index, sql, _known(index, trip_id), cursor=cursor, limit=limit, view=view)
