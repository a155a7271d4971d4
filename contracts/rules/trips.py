"""Trips: one drive between two sites, started by the device that records it."""

from typing import Final

from contracts import address
from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError
from contracts.ids import check_id
from contracts.payload import trip_id_of
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.state_pb2 import (
    Delivery,
    Device,
    Site,
    Trip,
    TripLimits,
)
from contracts.records.clock import check_utc_ms
from contracts.rules.case import Case, Notes, invalid
from contracts.rules.ids import Rule

NONCE_BYTES: Final = 16
DELIVERIES_MAX: Final = 32
SOURCES_MAX: Final = 16


def start_trip(action: StartTrip, case: Case) -> None:
    """Start a trip, under an id that only its device could make."""
    _check_start(action)
    key = case.device_key()
    if key.owner_id != action.device_id:
        raise invalid(
            Rule.UNKNOWN_DEVICE, f"signed by {key.owner_id}, the trip names {action.device_id}"
        )
    place = address.trip(action.trip_id)
    if case.context.get(place) is not None:
        raise invalid(Rule.TRIP_EXISTS, f"trip {action.trip_id} was started before")
    notes = Notes(case, action.trip_id, action.device_id, [])
    if key.revoked:
        notes.add(Rule.KEY_REVOKED, f"key {case.signer} was revoked")
    for site_id in (action.origin_site_id, action.destination_site_id):
        if case.load(address.site(site_id), Site) is None:
            notes.add(Rule.SITE_UNKNOWN, f"site {site_id!r} is not registered")
    trip = Trip(start=action)
    for delivery_id in action.delivery_ids:
        _carry(trip, delivery_id, notes)
    case.store(place, trip)
    notes.record()


def _check_start(action: StartTrip) -> None:
    check_id("device", action.device_id)
    check_id("site", action.origin_site_id)
    check_id("site", action.destination_site_id)
    expected = trip_id_of(action.device_id, action.nonce)
    if len(action.nonce) != NONCE_BYTES or action.trip_id != expected:
        raise invalid(Rule.TRIP_ID, f"trip id must be {expected} for its nonce: {action.trip_id}")
    for delivery_id in action.delivery_ids:
        check_id("delivery", delivery_id)
    if len(set(action.delivery_ids)) != len(action.delivery_ids) or (
        len(action.delivery_ids) > DELIVERIES_MAX
    ):
        raise RejectedError(f"a trip carries up to {DELIVERIES_MAX} different deliveries")
    check_utc_ms("started_at_ms", action.started_at_ms)
    if len(action.derived_from) > SOURCES_MAX or any(
        len(source.sha256) != HASH_BYTES for source in action.derived_from
    ):
        raise RejectedError(f"up to {SOURCES_MAX} sources, each with a SHA-256 of 32 bytes")


def _carry(trip: Trip, delivery_id: str, notes: Notes) -> None:
    """Take a delivery onto a trip: its limits are kept as they stand now."""
    case = notes.case
    delivery = case.load(address.delivery(delivery_id), Delivery)
    if delivery is None:
        notes.add(Rule.DELIVERY_UNKNOWN, f"delivery {delivery_id} does not exist")
        return
    trip.deliveries.append(TripLimits(delivery_id=delivery_id, limits=delivery.terms.limits))
    device = case.load(address.device(trip.start.device_id), Device)
    if device is None or device.party_id != delivery.terms.carrier_id:
        notes.add(
            Rule.CARRIER_MISMATCH,
            f"{delivery_id} is to be carried by {delivery.terms.carrier_id}, "
            f"not by {device.party_id if device else 'nobody'}",
        )
        return  # its limits are watched, but a stranger moves no delivery along
    if delivery.status != Delivery.OPEN:
        status = Delivery.Status.Name(delivery.status).lower()
        notes.add(Rule.DELIVERY_NOT_OPEN, f"delivery {delivery_id} is {status}")
        return
    delivery.status = Delivery.IN_TRANSIT
    case.store(address.delivery(delivery_id), delivery)
