"""Handovers that are signed before the truck has offloaded its trip."""

from contracts import address
from contracts.proto.payload_pb2 import AcceptDelivery, HandOver
from contracts.proto.state_pb2 import Delivery, HandOverState
from contracts.rules.handovers import EARLY_MAX
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from support.ledgers.hosts import Host, apply_all, refused, rules_found
from support.network.chains import both_sign
from support.network.world import (
    START_MS,
    Trip,
    delivering,
    handovers,
    key,
    loading,
    one,
    reading,
    registrations,
)

TRIP = Trip()
ACCEPT = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS)


def delivery(host: Host) -> Delivery:
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


def test_under_1_0_the_parties_had_to_wait_for_the_truck(host: Host) -> None:
    old = RulesVersion.V1_0
    apply_all(host, registrations(old))
    action = loading(TRIP.trip_id)
    assert refused(host, one(key("seller"), action, version=old)) is Rule.UNKNOWN_TRIP


def test_a_handover_counts_before_its_trip_has_begun_on_the_ledger(host: Host) -> None:
    apply_all(host, [*registrations(), *handovers(TRIP.trip_id)])
    entry = delivery(host)
    assert (entry.status, entry.custodian_id) == (Delivery.DELIVERED, "buyer")
    assert list(entry.early) == [loading(TRIP.trip_id), delivering(TRIP.trip_id)]
    place = address.handover(TRIP.trip_id, "delivery-1", "site-buyer", "carrier", "buyer")
    kept = HandOverState.FromString(host.state(place) or b"")
    assert list(kept.signed_by) == ["carrier", "buyer"]
    host.apply(one(key("buyer"), ACCEPT))
    trip = Trip()
    assert rules_found(apply_all(host, trip.whole([reading(0)]))) == []
    entry = delivery(host)
    assert (entry.status, entry.custodian_id) == (Delivery.ACCEPTED, "buyer")
    assert list(entry.early) == []


def test_a_handover_that_one_side_signed_early_counts_after_the_start(host: Host) -> None:
    action = delivering(TRIP.trip_id)
    apply_all(host, [*registrations(), one(key("carrier"), action)])
    assert delivery(host).early == []
    host.apply(one(TRIP.signer, TRIP.start))
    host.apply(one(key("buyer"), action))
    assert (delivery(host).status, list(delivery(host).early)) == (Delivery.DELIVERED, [])


def test_a_site_off_the_trip_is_found_when_the_trip_begins(host: Host) -> None:
    apply_all(host, registrations())
    off = Trip()
    action = delivering(off.trip_id)
    assert rules_found(both_sign(host, action)) == [Rule.CUSTODY_GAP]
    start = off.start
    start.destination_site_id = "site-seller"
    assert rules_found(host.apply(one(off.signer, start))) == [Rule.SITE_NOT_ON_TRIP]


def test_a_handover_whose_trip_carries_something_else_keeps_waiting(host: Host) -> None:
    apply_all(host, registrations())
    both_sign(host, loading(TRIP.trip_id))
    empty = Trip(deliveries=[])
    assert rules_found(host.apply(one(empty.signer, empty.start))) == []
    assert list(delivery(host).early) == [loading(TRIP.trip_id)]
    assert refused(host, one(key("carrier"), delivering(TRIP.trip_id))) is Rule.NOT_ON_TRIP


def test_only_so_many_handovers_wait(host: Host) -> None:
    apply_all(host, registrations())
    for at in range(EARLY_MAX):
        both_sign(host, _nth(at))
    last = _nth(EARLY_MAX)
    host.apply(one(key("carrier"), last))
    assert refused(host, one(key("buyer"), last)) is Rule.UNKNOWN_TRIP
    trip = Trip(nonce=bytes([0]) * 16)
    host.apply(one(trip.signer, trip.start))
    host.apply(one(key("buyer"), last))
    assert len(delivery(host).early) == EARLY_MAX


def _nth(at: int) -> HandOver:
    return delivering(Trip(nonce=bytes([at]) * 16).trip_id)
