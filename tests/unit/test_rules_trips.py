"""Trips: only its own device can start one."""

from collections.abc import Callable

import pytest

from contracts import address
from contracts.payload import trip_id_of
from contracts.proto.payload_pb2 import OpenDelivery, RegisterDevice, Source, StartTrip
from contracts.proto.state_pb2 import Delivery
from contracts.proto.state_pb2 import Trip as TripState
from contracts.rules.ids import Rule
from support.hosts import Host, apply_all, refused, rules_found
from support.world import TERMS, Trip, key, one, registrations


def start(change: Callable[[StartTrip], object] = lambda _: None) -> StartTrip:
    action = Trip().start
    change(action)
    return action


def status(host: Host, delivery_id: str = "delivery-1") -> Delivery.Status:
    value = host.state(address.delivery(delivery_id))
    assert value is not None
    return Delivery.FromString(value).status


def test_a_trip_keeps_the_limits_as_they_stood(host: Host) -> None:
    apply_all(host, registrations())
    assert rules_found(host.apply(one(key("truck-1"), start()))) == []
    state = TripState.FromString(host.state(address.trip(Trip().trip_id)) or b"")
    assert state.start == start()
    assert list(state.deliveries[0].limits) == list(TERMS.limits)


@pytest.mark.parametrize("name", ["stranger", "carrier", "admin"])
def test_only_a_device_starts_a_trip(host: Host, name: str) -> None:
    apply_all(host, registrations())
    assert refused(host, one(key(name), start())) is Rule.UNKNOWN_DEVICE


def test_a_device_starts_its_own_trips_only(host: Host) -> None:
    apply_all(host, registrations())
    other = RegisterDevice(
        device_id="truck-2", party_id="carrier", public_keys=[key("truck-2").public_key]
    )
    host.apply(one(key("carrier"), other))
    assert refused(host, one(key("truck-2"), start())) is Rule.UNKNOWN_DEVICE


def test_a_trip_starts_once(host: Host) -> None:
    apply_all(host, registrations())
    host.apply(one(key("truck-1"), start()))
    again = start(lambda each: setattr(each, "started_at_ms", each.started_at_ms + 1))
    assert refused(host, one(key("truck-1"), again)) is Rule.TRIP_EXISTS


@pytest.mark.parametrize(
    "change",
    [
        lambda each: setattr(each, "trip_id", "0" * 32),
        lambda each: setattr(each, "nonce", bytes(15)),
        lambda each: setattr(each, "nonce", bytes(15) + b"1"),
        lambda each: setattr(each, "trip_id", trip_id_of("truck-2", each.nonce)),
    ],
)
def test_nobody_takes_an_id_that_another_device_could_draw(
    host: Host, change: Callable[[StartTrip], object]
) -> None:
    apply_all(host, registrations())
    assert refused(host, one(key("truck-1"), start(change))) is Rule.TRIP_ID


def test_what_is_odd_about_a_start_is_found(host: Host) -> None:
    apply_all(host, registrations()[:-1])  # the buyer has not signed
    odd = start(lambda each: setattr(each, "destination_site_id", "nowhere"))
    odd.delivery_ids.append("delivery-2")
    assert rules_found(host.apply(one(key("truck-1"), odd))) == [
        Rule.SITE_UNKNOWN,
        Rule.DELIVERY_NOT_OPEN,
        Rule.DELIVERY_UNKNOWN,
    ]
    assert status(host) == Delivery.OFFERED


def test_a_delivery_travels_once(host: Host) -> None:
    apply_all(host, registrations())
    host.apply(one(key("truck-1"), start()))
    second = Trip(nonce=bytes(15) + b"2")
    assert rules_found(host.apply(one(key("truck-1"), second.start))) == [Rule.DELIVERY_NOT_OPEN]


def test_a_stranger_moves_no_delivery_along(host: Host) -> None:
    apply_all(host, registrations())
    theirs = OpenDelivery()
    theirs.CopyFrom(TERMS)
    theirs.delivery_id, theirs.carrier_id = "delivery-2", "seller"
    apply_all(host, [one(key("seller"), theirs), one(key("buyer"), theirs)])
    trip = Trip(deliveries=["delivery-2"])
    assert rules_found(host.apply(one(trip.signer, trip.start))) == [Rule.CARRIER_MISMATCH]
    assert status(host, "delivery-2") == Delivery.OPEN
    state = TripState.FromString(host.state(address.trip(trip.trip_id)) or b"")
    assert list(state.deliveries[0].limits) == list(TERMS.limits)


@pytest.mark.parametrize(
    "change",
    [
        lambda each: each.ClearField("origin_site_id"),
        lambda each: setattr(each, "destination_site_id", "a/b"),
        lambda each: setattr(each, "started_at_ms", (1 << 64) - 1),
        lambda each: each.delivery_ids.append("delivery-1"),
        lambda each: each.delivery_ids.append("#"),
        lambda each: each.delivery_ids.extend(f"d{number}" for number in range(32)),
        lambda each: each.derived_from.append(Source(role="track", name="x", sha256=bytes(31))),
        lambda each: each.derived_from.extend([Source(sha256=bytes(32))] * 17),
    ],
)
def test_a_start_that_is_not_well_formed_is_refused(
    host: Host, change: Callable[[StartTrip], object]
) -> None:
    apply_all(host, registrations())
    assert refused(host, one(key("truck-1"), start(change))) is Rule.FORM
