"""Trips: from site to site, started by a device."""

from collections.abc import Sequence

from contracts import address
from contracts.proto.payload_pb2 import HandOver, OpenDelivery, StartTrip
from contracts.proto.state_pb2 import Delivery, Device, Site, Trip, TripLimits
from contracts.rules.agreements import keep_facts, refresh
from contracts.rules.blocktimes import BlockTimes
from contracts.rules.case import Case, Notes, invalid
from contracts.rules.certificates import note_expired
from contracts.rules.custody import carriers_of, parties_of, quantity_of, whole_of
from contracts.rules.deliveries import move, status_name
from contracts.rules.ids import Rule
from contracts.rules.life import FLOWING
from contracts.rules.parties import is_site_registered
from contracts.rules.series import number_trip
from contracts.rules.silence import longest_silence_s
from contracts.rules.version import RulesVersion


def start_trip(action: StartTrip, case: Case) -> None:
    """Start a trip, under an id that only its device can make."""
    key = case.device_key()
    if key.owner_id != action.device_id:
        raise invalid(
            Rule.UNKNOWN_DEVICE, f"signed by {key.owner_id}, the trip names {action.device_id}"
        )
    place = address.trip(action.trip_id)
    if case.context.get(place) is not None:
        raise invalid(Rule.TRIP_EXISTS, f"trip {action.trip_id} was started before")
    notes = Notes(case, action.trip_id, action.device_id)
    notes.add_if_revoked(key)
    for site_id in sites_of(action):
        if not is_site_registered(case, site_id):
            notes.add(Rule.SITE_UNKNOWN, f"site {site_id!r} is not registered")
    device = case.load(address.device(action.device_id), Device) or Device()
    trip = Trip(start=action, party_ids=[device.party_id])
    if case.version:
        destination = case.load(address.site(action.destination_site_id), Site)
        if destination is not None and destination.site.radius_m:
            site = destination.site
            trip.destination.site_id, trip.destination.radius_m = site.site_id, site.radius_m
            trip.destination.position.CopyFrom(site.position)
    for delivery_id in action.delivery_ids:
        _carry(trip, delivery_id, device.party_id, notes, moves=not key.revoked)
    trip.party_ids[:] = sorted(set(trip.party_ids))
    if case.version >= RulesVersion.V1_1:
        _watch(trip, device.party_id, notes)
    case.store(place, trip)
    notes.record()
    if case.version >= RulesVersion.V1_1:
        number_trip(action, case)


def route_of(start: StartTrip) -> list[str]:
    """Return the sites of a trip in the order of travel; a truck may visit a site again."""
    return [start.origin_site_id, *start.via_site_ids, start.destination_site_id]


def sites_of(start: StartTrip) -> list[str]:
    """Return the sites of a trip in the order of travel, each once."""
    return list(dict.fromkeys(route_of(start)))


def devices_of(start: StartTrip) -> list[str]:
    """Return the devices that a trip names; other devices have no chain on it."""
    return [start.device_id, *start.other_device_ids]


def _watch(trip: Trip, carrier_id: str, notes: Notes) -> None:
    """Keep who carries the goods, and compare the start's time with the blocks around it."""
    trip.carrier_id = carrier_id
    start = trip.start
    if start.derived_from:
        return
    utc_ms = start.clock.utc_ms if start.HasField("clock") else start.started_at_ms
    times = BlockTimes.around(notes.case, trip)
    trip.begun_at_s = times.latest_ms // 1000 if times.has_latest else 0
    implausible = times.finding(utc_ms)
    if implausible is not None:
        notes.add(*implausible)


def note_site(site_id: str, start: StartTrip, notes: Notes) -> None:
    """Add a finding if a handover's site is not on its trip."""
    if site_id not in sites_of(start):
        notes.add(Rule.SITE_NOT_ON_TRIP, f"the trip does not name site {site_id}")


def note_hands(action: HandOver, carried: TripLimits, carrier_id: str, terms: OpenDelivery) -> None:
    """Keep when a trip first got and last gave the goods; silence is judged by it."""
    if is_received(action, carrier_id, terms):
        before_ms = carried.received_at_ms or action.at_ms
        carried.received_at_ms = min(before_ms, action.at_ms)
    if is_given(action, carrier_id, terms):
        carried.given_at_ms = max(carried.given_at_ms, action.at_ms)


def is_received(action: HandOver, carrier_id: str, terms: OpenDelivery) -> bool:
    """Say whether a handover brings goods onto a trip.

    To its carrier, or from seller or buyer to another carrier: else goods would go unwatched in
    the hands of a carrier whose device is not on the trip.
    """
    carriers = carriers_of(terms)
    taken = action.to_party_id in carriers and action.from_party_id not in carriers
    return taken or action.to_party_id == carrier_id


def is_given(action: HandOver, carrier_id: str, terms: OpenDelivery) -> bool:
    """Say whether a handover takes goods off a trip, likewise."""
    carriers = carriers_of(terms)
    given = action.from_party_id in carriers and action.to_party_id not in carriers
    return given or action.from_party_id == carrier_id


def _carry(trip: Trip, delivery_id: str, carrier_id: str, notes: Notes, *, moves: bool) -> None:
    """Take a delivery onto a trip, with its limits as they are now."""
    case = notes.case
    delivery = case.load(address.delivery(delivery_id), Delivery)
    if delivery is None:
        notes.add(Rule.DELIVERY_UNKNOWN, f"delivery {delivery_id} does not exist")
        return
    terms, later = delivery.terms, case.version >= RulesVersion.V1_1
    carried = _limits_of(delivery, later=later)
    trip.party_ids.extend(parties_of(terms))
    joined = _join(delivery, trip.start, notes)
    for each in joined:
        note_hands(each, carried, carrier_id, terms)
    over = later and _was_over(delivery, trip.start.started_at_ms)
    if not over:  # the trip could not have changed what its parties ended before
        trip.deliveries.append(carried)
    carriers = ", ".join(carriers_of(terms))
    if carrier_id not in carriers_of(terms):
        notes.add(
            Rule.CARRIER_MISMATCH,
            f"{delivery_id} is to be carried by {carriers}, not by {carrier_id}",
        )
        if joined:
            case.store(address.delivery(delivery_id), delivery)
        return  # its limits are watched, but a stranger must not change its status
    if over or not (_is_under_way(delivery, joined) if later else delivery.status == Delivery.OPEN):
        notes.add(
            Rule.DELIVERY_NOT_OPEN, f"delivery {delivery_id} is {status_name(delivery.status)}"
        )
    elif moves and not later:  # the holder of a revoked key may be a thief
        move(case, delivery, Delivery.IN_TRANSIT)
    note_expired(delivery, trip.start.started_at_ms, notes)
    counts = moves and not over
    if later and (joined or counts):
        delivery.carried = delivery.carried or counts
        delivery.trips += counts
        keep_facts(delivery, case)


def _limits_of(delivery: Delivery, *, later: bool) -> TripLimits:
    """Return the limits that a trip keeps of a delivery."""
    terms = delivery.terms
    carried = TripLimits(delivery_id=terms.delivery_id, limits=terms.limits)
    if later:
        carried.agreed_at_s = delivery.agreed_at_s
        for limit in carried.limits:
            limit.longest_silence_s = longest_silence_s(limit)
    return carried


def _was_over(delivery: Delivery, started_at_ms: int) -> bool:
    """Say whether a delivery had ended, by the word of those who ended it, before a trip started.

    A trip that started earlier and that a truck offloads later still counts.
    """
    ended_at_ms = {
        Delivery.CLOSED: delivery.closing.at_ms,
        Delivery.CANCELLED: delivery.cancelling.at_ms,
        Delivery.SETTLED: delivery.settlement.at_ms,
    }
    return delivery.status in ended_at_ms and started_at_ms > ended_at_ms[delivery.status]


def _join(delivery: Delivery, start: StartTrip, notes: Notes) -> list[HandOver]:
    """Take the handovers that came before their trip's start; return them."""
    joined = [each for each in delivery.early if each.trip_id == start.trip_id]
    waiting = [each for each in delivery.early if each.trip_id != start.trip_id]
    del delivery.early[:]
    delivery.early.extend(waiting)
    for each in joined:
        note_site(each.site_id, start, notes)
    return joined


def _is_under_way(delivery: Delivery, joined: Sequence[HandOver]) -> bool:
    """Say whether a delivery was not delivered before this trip; version 1.1.

    Handovers on this trip that were committed before its start do not count: what is found must
    not depend on which came first.
    """
    refresh(delivery)
    if delivery.status == Delivery.OFFERED or not joined:
        return delivery.status in FLOWING
    terms = delivery.terms
    here = sum(quantity_of(each, terms) for each in joined if each.to_party_id == terms.buyer_id)
    return delivery.received_quantity - here < whole_of(terms)
