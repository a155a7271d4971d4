"""Trips with their readings, breaches, tamper events, findings, holds and recordings."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response

from gateway.api import bucketviews, models, views
from gateway.api.accesses import TakingPart
from gateway.api.evidence import check_whole
from gateway.api.jobs import STARTED, BackgroundPart
from gateway.api.paging import LongPaging, Overlapping, Paging, Spanned, page_of
from gateway.api.parts import AllParts, AuditPart, RecordsPart
from gateway.api.problems import ABSENT
from gateway.api.recordings import ShelfPart
from gateway.api.tripfilter import About
from gateway.api.verdicts import OwnVerdict
from gateway.api.verification import as_job
from gateway.jobs.job import JobKind
from gateway.people.accesslog import Taken
from gateway.records.buckets import BUCKETS_MAX
from gateway.records.watch import Watch

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


@router.post("/{trip_id}/verify", response_model=OwnVerdict, responses=ABSENT | STARTED)
def verify(
    taking: TakingPart,
    audit: AuditPart,
    services: AllParts,
    records: RecordsPart,
    background: BackgroundPart,
    trip_id: str,
    *,
    kept: Annotated[
        bool,
        Query(
            description="accept an earlier verdict, up to an hour old, if nothing that it depends "
            "on has changed; `judged_at` then says when the batches were read"
        ),
    ] = False,
) -> OwnVerdict | Response:
    """Judge the evidence of a trip as `wayseal-verify` would, by the keys of this ledger.

    This is a quick check for the operator. A caller who does not trust this gateway exports the
    evidence and judges it elsewhere, with keys from another source.
    """
    check_whole(records, taking.caller, trip_id)
    site_id, judge = services.settings.site_id, audit.judged_once if kept else audit.judge
    found = audit.judged(trip_id) if kept else None
    if found is None and background.is_wanted:

        def look(watch: Watch) -> OwnVerdict:
            watch.begin(f"trip {trip_id}", 0, 1)
            return OwnVerdict.of(judge(trip_id, watch), site_id, trip_id)

        work = as_job(JobKind.VERIFY_TRIP, trip_id, look)
        return background.begin(work, lambda: taking.note(Taken.VERDICT, trip_id))
    taking.note(Taken.VERDICT, trip_id)
    return OwnVerdict.of(found or judge(trip_id), site_id, trip_id)


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
