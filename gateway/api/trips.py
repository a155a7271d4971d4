"""Trips with their readings, breaches, tamper events, findings, holds and recordings."""

from functools import partial
from typing import Any

from fastapi import APIRouter

from contracts.evidence.report import as_json
from gateway.api import models, views
from gateway.api.paging import Cursor, Limit, Paging, Window, page_of
from gateway.api.parts import AuditPart, RecordsPart, StorePart
from gateway.api.recordings import recording_view

router = APIRouter(prefix="/v1/trips", tags=["trips"])


@router.get("")
def trips(records: RecordsPart, window: Paging) -> models.Page[models.Trip]:
    """List the trips, oldest first."""
    return page_of(records.trips.listed, views.trip, window)


@router.get("/{trip_id}")
def trip(records: RecordsPart, trip_id: str) -> models.Trip:
    """Return one trip."""
    return views.trip(records.trips.get(trip_id))


@router.get("/{trip_id}/readings")
def readings(
    records: RecordsPart, trip_id: str, cursor: Cursor = 0, limit: Limit = 500
) -> models.Page[models.Reading]:
    """List a trip's readings, in the ledger's order."""
    return page_of(partial(records.trips.readings, trip_id), views.reading, Window(cursor, limit))


@router.post("/{trip_id}/verify")
def verify(audit: AuditPart, trip_id: str) -> dict[str, Any]:
    """Judge the evidence of a trip as `wayseal-verify` would, by the keys of this ledger.

    This is a quick check for the operator. A caller who does not trust this gateway exports the
    evidence and judges it elsewhere, with keys from another source.
    """
    return as_json(audit.judge(trip_id))


@router.get("/{trip_id}/recordings")
def recordings_of(
    records: RecordsPart, store: StorePart, trip_id: str, window: Paging
) -> models.Page[models.Recording]:
    """List the digests of a trip's recordings, and whether their bytes are here."""
    ask = partial(records.trips.digests, trip_id)
    return page_of(ask, partial(recording_view, store), window)


@router.get("/{trip_id}/breaches")
def breaches(records: RecordsPart, trip_id: str, window: Paging) -> models.Page[models.Breach]:
    """List a trip's breaches of its deliveries' limits."""
    return page_of(partial(records.trips.breaches, trip_id), views.breach, window)


@router.get("/{trip_id}/tampers")
def tampers(records: RecordsPart, trip_id: str, window: Paging) -> models.Page[models.TamperEvent]:
    """List a trip's tamper events."""
    return page_of(partial(records.trips.tampers, trip_id), views.tamper, window)


@router.get("/{trip_id}/findings")
def findings(records: RecordsPart, trip_id: str, window: Paging) -> models.Page[models.Finding]:
    """List the findings of the rules about a trip's transactions."""
    return page_of(partial(records.trips.findings, trip_id), views.finding, window)


@router.get("/{trip_id}/holds")
def holds(records: RecordsPart, trip_id: str, window: Paging) -> models.Page[models.Hold]:
    """List the legal holds on a trip's evidence, including released ones."""
    return page_of(partial(records.trips.holds, trip_id), views.hold, window)
