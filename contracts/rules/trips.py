"""Trips: a drive from site to site, started by a device, closed by a party it concerns."""

from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import CloseTrip, StartTrip
from contracts.proto.state_pb2 import Delivery, Device, Trip, TripLimits
from contracts.rules.case import Case, Notes, invalid
from contracts.rules.deliveries import move, status_name
from contracts.rules.ids import Rule
from contracts.rules.sites import is_registered, sites_of

MISSING_NAMED_MAX: Final = 8
"""Recordings that were announced and not recorded, as the finding on a device names them."""


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
    notes = Notes(case, action.trip_id, action.device_id)
    if key.revoked:
        notes.add(Rule.KEY_REVOKED, f"key {case.signer} was revoked")
    for site_id in sites_of(action):
        if not is_registered(case, site_id):
            notes.add(Rule.SITE_UNKNOWN, f"site {site_id!r} is not registered")
    device = case.load(address.device(action.device_id), Device) or Device()
    trip = Trip(start=action, party_ids=[device.party_id])
    for delivery_id in action.delivery_ids:
        _carry(trip, delivery_id, device.party_id, notes, moves=not key.revoked)
    trip.party_ids[:] = sorted(set(trip.party_ids))
    case.store(place, trip)
    notes.record()


def devices_of(start: StartTrip) -> list[str]:
    """Return the devices that a trip names; readings of any other belong to no chain of it."""
    return [start.device_id, *start.other_device_ids]


def close_trip(action: CloseTrip, case: Case) -> None:
    """Say that nothing more is to come, which shows what was announced and is missing."""
    case.require_party(action.party_id)
    trip = case.trip(action.trip_id)
    if action.party_id not in trip.party_ids:
        raise invalid(
            Rule.NOT_THE_PARTY, f"{action.party_id} is none of {', '.join(trip.party_ids)}"
        )
    if trip.HasField("close"):
        raise invalid(Rule.TRIP_CLOSED, f"trip {action.trip_id} was closed before")
    notes = Notes(case, action.trip_id)
    for device_id in devices_of(trip.start):
        _miss(device_id, notes)
    trip.close.CopyFrom(action)
    case.store(address.trip(action.trip_id), trip)
    notes.record()


def _miss(device_id: str, notes: Notes) -> None:
    """Note what a device has not delivered: its seal, or recordings that the seal announces."""
    chain = notes.case.chain(notes.trip_id, device_id)
    if not chain.HasField("seal"):
        notes.add(Rule.SEAL_MISSING, f"{device_id} has not sealed the trip", device_id=device_id)
    recorded = set(chain.recorded_videos)
    missing = [each.sha256 for each in chain.seal.recordings if each.sha256 not in recorded]
    if missing:
        some = [sha256.hex() for sha256 in missing[:MISSING_NAMED_MAX]]
        notes.add(
            Rule.RECORDING_MISSING,
            f"{len(missing)} of {len(chain.seal.recordings)} sealed recordings were not recorded: "
            + ", ".join([*some, *(["…"] if len(some) < len(missing) else [])]),
            device_id=device_id,
        )


def _carry(trip: Trip, delivery_id: str, carrier_id: str, notes: Notes, *, moves: bool) -> None:
    """Take a delivery onto a trip: its limits are kept as they stand now."""
    case = notes.case
    delivery = case.load(address.delivery(delivery_id), Delivery)
    if delivery is None:
        notes.add(Rule.DELIVERY_UNKNOWN, f"delivery {delivery_id} does not exist")
        return
    terms = delivery.terms
    trip.deliveries.append(TripLimits(delivery_id=delivery_id, limits=terms.limits))
    trip.party_ids.extend([terms.seller_id, terms.carrier_id, terms.buyer_id])
    if carrier_id != terms.carrier_id:
        notes.add(
            Rule.CARRIER_MISMATCH,
            f"{delivery_id} is to be carried by {terms.carrier_id}, not by {carrier_id}",
        )
        return  # its limits are watched, but a stranger moves no delivery along
    if delivery.status != Delivery.OPEN:
        notes.add(
            Rule.DELIVERY_NOT_OPEN, f"delivery {delivery_id} is {status_name(delivery.status)}"
        )
    elif moves:  # who holds a key that was revoked may be a thief
        move(case, delivery, Delivery.IN_TRANSIT)
