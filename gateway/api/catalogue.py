"""Parties, sites, devices and deliveries, as they stand."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query

from gateway.api import deliverymodels, models, views
from gateway.api.paging import Order, Ordered, Overlapping, Paging, page_of
from gateway.api.parts import RecordsPart
from gateway.api.problems import ABSENT

router = APIRouter(prefix="/v1", tags=["catalogue"])


@router.get("/parties", name="list_parties")
def parties(records: RecordsPart, window: Paging) -> models.Page[models.Party]:
    """List the registered parties."""
    return page_of(records.parties.listed, views.party, window)


@router.get("/parties/{party_id}", name="get_party", responses=ABSENT)
def party(records: RecordsPart, party_id: str) -> models.Party:
    """Return one party, as registered last."""
    return views.party(records.parties.get(party_id))


@router.get("/sites", name="list_sites")
def sites(records: RecordsPart, window: Paging) -> models.Page[models.Site]:
    """List the registered sites."""
    return page_of(records.sites.listed, views.site, window)


@router.get("/sites/{site_id}", name="get_site", responses=ABSENT)
def site(records: RecordsPart, site_id: str) -> models.Site:
    """Return one site, as registered last."""
    return views.site(records.sites.get(site_id))


@router.get("/devices", name="list_devices")
def devices(records: RecordsPart, window: Paging) -> models.Page[models.Device]:
    """List the registered devices."""
    return page_of(records.devices.listed, views.device, window)


@router.get("/devices/{device_id}", name="get_device", responses=ABSENT)
def device(records: RecordsPart, device_id: str) -> models.Device:
    """Return one device, as registered last."""
    return views.device(records.devices.get(device_id))


@router.get("/deliveries")
def deliveries(
    records: RecordsPart, window: Paging, order: Ordered = Order.OLDEST
) -> models.Page[deliverymodels.Delivery]:
    """List the deliveries, as they stand, by their last change."""
    ask = partial(records.deliveries.listed, newest_first=order is Order.NEWEST)
    return page_of(ask, views.delivery, window)


@router.get("/deliveries/{delivery_id}", responses=ABSENT)
def delivery(records: RecordsPart, delivery_id: str) -> deliverymodels.Delivery:
    """Return one delivery, as it stands."""
    return views.delivery(records.deliveries.get(delivery_id))


@router.get("/deliveries/{delivery_id}/handovers", responses=ABSENT)
def handovers(
    records: RecordsPart, delivery_id: str, window: Paging
) -> models.Page[deliverymodels.HandOver]:
    """List the handovers of a delivery, on all its trips, as they stand."""
    ask = partial(records.deliveries.handovers, delivery_id)
    return page_of(ask, views.handover, window)


@router.get("/deliveries/{delivery_id}/breaches", responses=ABSENT)
def breaches(
    records: RecordsPart, delivery_id: str, window: Paging, span: Overlapping
) -> models.Page[models.Breach]:
    """List the breaches of a delivery's limits, on all its trips, by the time when each began.

    `from` and `to` find each breach that overlaps the time between them.
    """
    ask = partial(records.deliveries.breaches, delivery_id, span=span)
    return page_of(ask, views.breach, window)


@router.get("/breaches", name="list_breaches", responses=ABSENT)
def every_breach(
    records: RecordsPart,
    window: Paging,
    span: Overlapping,
    delivery_id: Annotated[str | None, Query(description="only breaches of its limits")] = None,
    trip_id: Annotated[str | None, Query(description="only breaches on this trip")] = None,
) -> models.Page[models.Breach]:
    """List the breaches of all deliveries on all trips, by the time when each began.

    `from` and `to` find each breach that overlaps the time between them.
    """
    if delivery_id is not None:
        records.deliveries.get(delivery_id)
    if trip_id is not None:
        records.trips.check_known(trip_id)
    ask = partial(records.trips.all_breaches, span=span, trip_id=trip_id, delivery_id=delivery_id)
    return page_of(ask, views.breach, window)
