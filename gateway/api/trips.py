"""Trips with their readings, breaches, tamper events, findings, holds and recordings."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from gateway.access import Caller
from gateway.api import bucketviews, models, views
from gateway.api.accesses import note_access
from gateway.api.evidence import check_whole
from gateway.api.paging import LongPaging, Overlapping, Paging, Spanned, page_of
from gateway.api.parts import AccessLogPart, AllParts, AuditPart, RecordsPart
from gateway.api.problems import ABSENT
from gateway.api.recordings import ShelfPart
from gateway.api.security import may_read
from gateway.api.tripfilter import About
from gateway.api.verdicts import OwnVerdict
from gateway.people.accesslog import Taken
from gateway.records.buckets import BUCKETS_MAX

router = APIRouter(prefix="/v1/trips", tags=["trips"])


@router.get("", responses=ABSENT)
def trips(
    records: RecordsPart,
    window: Paging,
    span: Overlapping,
    about: About,
    device_id: Annotated[str | None, Query(description="only trips that name this device")] = None,
) -> models.Page[models.Trip]:
    """List the trips in the ledger's order.

    `from` and `to` find each trip that overlaps the time between them. A trip lasts from its start
    to the last seal of its devices; one that is still open overlaps everything after its start.
    """
    if device_id is not None:
        records.devices.get(device_id)
    ask = partial(records.trips.listed, device_id=device_id, span=span, about=about)
    return page_of(ask, views.trip, window)


@router.get("/{trip_id}", responses=ABSENT)
def trip(records: RecordsPart, trip_id: str) -> models.Trip:
    """Return one trip."""
    return views.trip(records.trips.get(trip_id))


@router.get("/{trip_id}/readings", responses=ABSENT)
def readings(
    records: RecordsPart, trip_id: str, window: LongPaging, span: Spanned
) -> models.Page[models.Reading]:
    """List a trip's readings, in the ledger's order."""
    return page_of(partial(records.trips.readings, trip_id, span=span), views.reading, window)


@router.get("/{trip_id}/readings/buckets", responses=ABSENT)
def bucketed(
    records: RecordsPart,
    trip_id: str,
    span: Spanned,
    count: Annotated[
        int, Query(alias="buckets", ge=1, le=BUCKETS_MAX, description="buckets, at most")
    ] = 600,
    device_id: Annotated[
        str | None, Query(description="only this device's; else of all that the trip's start names")
    ] = None,
) -> bucketviews.ReadingColumns:
    """Return a trip's readings summed up for a chart, columns side by side.

    Each bucket has the lowest, the mean and the highest value, and null where nothing was measured:
    break the line there. `order` has no effect.
    """
    return bucketviews.bucketed(records.trips.bucketed(trip_id, count, span, device_id or ""))


@router.post("/{trip_id}/verify", responses=ABSENT)
def verify(
    request: Request,
    log: AccessLogPart,
    audit: AuditPart,
    services: AllParts,
    records: RecordsPart,
    caller: Annotated[Caller, Depends(may_read)],
    trip_id: str,
) -> OwnVerdict:
    """Judge the evidence of a trip as `wayseal-verify` would, by the keys of this ledger.

    This is a quick check for the operator. A caller who does not trust this gateway exports the
    evidence and judges it elsewhere, with keys from another source.
    """
    check_whole(records, caller, trip_id)
    note_access(request, log, caller, Taken.VERDICT, trip_id)
    return OwnVerdict.of(audit.judge(trip_id), services.settings.site_id, trip_id)


@router.get("/{trip_id}/recordings", responses=ABSENT)
def recordings_of(
    records: RecordsPart, shelf: ShelfPart, trip_id: str, window: Paging, span: Overlapping
) -> models.Page[models.Recording]:
    """List the digests of a trip's recordings, and whether their bytes are here.

    `from` and `to` find each recording that was filmed between them, by its signed times.
    """
    ask = partial(records.trips.digests, trip_id, span=span)
    return page_of(ask, shelf.view, window)


@router.get("/{trip_id}/breaches", responses=ABSENT)
def breaches(
    records: RecordsPart, trip_id: str, window: Paging, span: Overlapping
) -> models.Page[models.Breach]:
    """List a trip's breaches of its deliveries' limits, by the time when each began.

    `from` and `to` find each breach that overlaps the time between them.
    """
    return page_of(partial(records.trips.breaches, trip_id, span=span), views.breach, window)


@router.get("/{trip_id}/tampers", responses=ABSENT)
def tampers(records: RecordsPart, trip_id: str, window: Paging) -> models.Page[models.TamperEvent]:
    """List a trip's tamper events."""
    return page_of(partial(records.trips.tampers, trip_id), views.tamper, window)


@router.get("/{trip_id}/remarks", responses=ABSENT)
def remarks(records: RecordsPart, trip_id: str, window: Paging) -> models.Page[models.Remark]:
    """List what a trip's devices said of themselves: faults, clocks, lost film, interruptions."""
    return page_of(partial(records.trips.remarks, trip_id), views.remark, window)


@router.get("/{trip_id}/findings", responses=ABSENT)
def findings(records: RecordsPart, trip_id: str, window: Paging) -> models.Page[models.Finding]:
    """List the findings of the rules about a trip's transactions."""
    return page_of(partial(records.trips.findings, trip_id), views.finding, window)


@router.get("/{trip_id}/holds", responses=ABSENT)
def holds(records: RecordsPart, trip_id: str, window: Paging) -> models.Page[models.Hold]:
    """List the legal holds on a trip's evidence, including released ones."""
    return page_of(partial(records.trips.holds, trip_id), views.hold, window)
