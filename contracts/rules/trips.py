"""Trips: one drive between two sites, started by the device that records it."""

from contracts import address
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.state_pb2 import (
    Delivery,
    Device,
    Site,
    Trip,
    TripLimits,
)
from contracts.rules.case import Case, Notes, invalid
from contracts.rules.ids import Rule


def start_trip(action: StartTrip, case: Case) -> None:
    """Start a trip, under an id that only its device could make."""
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
