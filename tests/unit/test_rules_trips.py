"""Trips: only its own device can start one."""

from collections.abc import Callable

import pytest

from contracts import address
from contracts.ids import trip_id_of
from contracts.proto.payload_pb2 import (
    AUTHORITY,
    CARRIER,
    RELEASED,
    SELLER,
    AcceptDelivery,
    CloseDelivery,
    CloseTrip,
    Limit,
    OpenDelivery,
    RegisterParty,
    Source,
    StartTrip,
)
from contracts.proto.state_pb2 import Chain, Delivery
from contracts.proto.state_pb2 import Trip as TripState
from contracts.rules.ids import Rule
from contracts.rules.silence import LONGEST_SILENCE_S
from support.evidence.chain import digest_of
from support.ledgers.hosts import Host, apply_all, breaches, findings, refused, rules_found
from support.network.world import (
    START_MS,
    TERMS,
    Trip,
    device,
    handovers,
    key,
    one,
    reading,
    registrations,
)


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
    assert list(state.deliveries[0].limits) == [cold()]


@pytest.mark.parametrize("name", ["stranger", "carrier", "admin"])
def test_only_a_device_starts_a_trip(host: Host, name: str) -> None:
    apply_all(host, registrations())
    assert refused(host, one(key(name), start())) is Rule.UNKNOWN_DEVICE


def test_a_device_starts_its_own_trips_only(host: Host) -> None:
    apply_all(host, registrations())
    host.apply(device("truck-2", "carrier"))
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


def test_a_delivery_travels_until_it_is_delivered(host: Host) -> None:
    apply_all(host, registrations())
    host.apply(one(key("truck-1"), start()))
    second, third = (Trip(nonce=bytes(15) + each) for each in (b"2", b"3"))
    assert rules_found(host.apply(one(key("truck-1"), second.start))) == []
    apply_all(host, handovers(second.trip_id))
    assert rules_found(host.apply(one(key("truck-1"), third.start))) == [Rule.DELIVERY_NOT_OPEN]


@pytest.mark.parametrize(("closed_ms", "counted"), [(START_MS - 1, 0), (START_MS, 1)])
def test_a_trip_after_a_delivery_was_closed_does_not_mark_it(
    host: Host, closed_ms: int, counted: int
) -> None:
    """One that started before may be offloaded later, and still counts."""
    apply_all(host, registrations())
    delivered, late = Trip(), Trip(nonce=bytes(15) + b"4")
    host.apply(one(key("truck-1"), delivered.start))
    apply_all(host, handovers(delivered.trip_id))
    accept = AcceptDelivery(delivery_id="delivery-1", at_ms=closed_ms)
    close = CloseDelivery(delivery_id="delivery-1", payment=RELEASED, at_ms=closed_ms)
    apply_all(
        host, [one(key("buyer"), accept), *(one(key(each), close) for each in ("seller", "buyer"))]
    )
    assert status(host) == Delivery.CLOSED
    assert late.start.started_at_ms == START_MS
    events = apply_all(host, late.whole([reading(at, 9000) for at in range(12)]))
    entry = Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")
    assert (entry.breaches, len(breaches(events)) > 0) == (counted, bool(counted))
    assert Rule.DELIVERY_NOT_OPEN in rules_found(events)


def test_a_stranger_moves_no_delivery_along(host: Host) -> None:
    apply_all(host, registrations())
    both = RegisterParty(
        party_id="seller",
        name="Seller",
        public_keys=[key("seller").public_key],
        roles=[SELLER, CARRIER],
    )
    host.apply(one(key("admin"), both))
    theirs = OpenDelivery()
    theirs.CopyFrom(TERMS)
    theirs.delivery_id, theirs.carrier_id = "delivery-2", "seller"
    apply_all(host, [one(key("seller"), theirs), one(key("buyer"), theirs)])
    trip = Trip(deliveries=["delivery-2"])
    assert rules_found(host.apply(one(trip.signer, trip.start))) == [Rule.CARRIER_MISMATCH]
    assert status(host, "delivery-2") == Delivery.OPEN
    state = TripState.FromString(host.state(address.trip(trip.trip_id)) or b"")
    assert list(state.deliveries[0].limits) == [cold()]


def cold() -> Limit:
    """Return the limit of the terms, with the longest silence that it leaves open."""
    limit = Limit()
    limit.CopyFrom(TERMS.limits[0])
    limit.longest_silence_s = LONGEST_SILENCE_S
    return limit


def state_of(host: Host) -> TripState:
    return TripState.FromString(host.state(address.trip(Trip().trip_id)) or b"")


def test_a_trip_keeps_whose_business_it_is(host: Host) -> None:
    apply_all(host, registrations())
    trip = Trip(deliveries=["delivery-1", "delivery-2"])
    assert rules_found(host.apply(one(trip.signer, trip.start))) == [Rule.DELIVERY_UNKNOWN]
    assert list(state_of(host).party_ids) == ["buyer", "carrier", "seller"]


def test_a_trip_without_deliveries_is_its_carriers_business(host: Host) -> None:
    apply_all(host, registrations())
    trip = Trip(deliveries=[])
    host.apply(one(trip.signer, trip.start))
    assert list(state_of(host).party_ids) == ["carrier"]


def test_sites_on_the_way_are_looked_up_once_each(host: Host) -> None:
    apply_all(host, registrations())
    trip = Trip(via=["site-buyer", "nowhere", "nowhere", "elsewhere"])
    found = rules_found(host.apply(one(trip.signer, trip.start)))
    assert found == [Rule.SITE_UNKNOWN, Rule.SITE_UNKNOWN]


CLOSE = CloseTrip(trip_id=Trip().trip_id, party_id="carrier", at_ms=START_MS)


def test_a_whole_trip_is_closed_without_findings_and_once(host: Host) -> None:
    made = digest_of(b"video")
    apply_all(host, [*registrations(), *Trip().whole([reading(0)], [made])])
    assert rules_found(host.apply(one(key("carrier"), CLOSE))) == []
    assert state_of(host).close == CLOSE
    assert refused(host, one(key("carrier"), CLOSE)) is Rule.TRIP_CLOSED
    theirs = CloseTrip(trip_id=CLOSE.trip_id, party_id="buyer")
    assert refused(host, one(key("buyer"), theirs)) is Rule.TRIP_CLOSED


def test_closing_shows_what_was_announced_and_is_missing(host: Host) -> None:
    trip, made, other = Trip(others=["cam-1"]), digest_of(b"video"), digest_of(b"other")
    driven = [*registrations(), *trip.whole([reading(0)], [made, other])[:-1]]
    apply_all(host, driven)
    missing, seal = findings(host.apply(one(key("carrier"), CLOSE)))
    assert (missing.rule, missing.device_id) == (Rule.RECORDING_MISSING, "truck-1")
    assert other.sha256.hex() in missing.detail
    assert (seal.rule, seal.device_id) == (Rule.SEAL_MISSING, "cam-1")


def test_what_comes_after_the_end_is_kept_and_found(host: Host) -> None:
    trip, made = Trip(), digest_of(b"video")
    start, seal, video = trip.whole([reading(0)], [made], size=2)
    apply_all(host, [*registrations(), start])
    found = rules_found(host.apply(one(key("buyer"), closing_by("buyer"))))
    assert found == [Rule.SEAL_MISSING]
    assert rules_found(host.apply(seal)) == [Rule.AFTER_CLOSE]
    assert rules_found(host.apply(video)) == [Rule.AFTER_CLOSE]
    chain = Chain.FromString(host.state(address.chain(trip.trip_id, "truck-1")) or b"")
    assert list(chain.recorded_videos) == [made.sha256]


def closing_by(party_id: str) -> CloseTrip:
    return CloseTrip(trip_id=CLOSE.trip_id, party_id=party_id, at_ms=START_MS)


def test_only_a_party_of_the_trip_closes_it_and_in_its_own_name(host: Host) -> None:
    other = RegisterParty(
        party_id="other", name="Other", public_keys=[key("other").public_key], roles=[AUTHORITY]
    )
    apply_all(host, [*registrations(), one(key("admin"), other)])
    assert refused(host, one(key("carrier"), CLOSE)) is Rule.UNKNOWN_TRIP
    host.apply(one(key("truck-1"), start()))
    assert refused(host, one(key("seller"), CLOSE)) is Rule.NOT_THE_PARTY
    assert refused(host, one(key("truck-1"), CLOSE)) is Rule.NOT_THE_PARTY
    assert refused(host, one(key("other"), closing_by("other"))) is Rule.NOT_THE_PARTY


@pytest.mark.parametrize("changes", [{"trip_id": "no trip"}, {"at_ms": (1 << 64) - 1}])
def test_an_end_that_is_not_well_formed_is_refused(host: Host, changes: dict[str, object]) -> None:
    apply_all(host, [*registrations(), one(key("truck-1"), start())])
    action = closing_by("carrier")
    for name, value in changes.items():
        setattr(action, name, value)
    assert refused(host, one(key("carrier"), action)) is Rule.FORM


@pytest.mark.parametrize(
    "change",
    [
        lambda each: each.via_site_ids.append("a/b"),
        lambda each: each.via_site_ids.extend(["site-buyer"] * 33),
        lambda each: each.other_device_ids.append("a/b"),
        lambda each: each.other_device_ids.append("truck-1"),
        lambda each: each.other_device_ids.extend(["cam-1"] * 2),
        lambda each: each.other_device_ids.extend(f"cam-{number}" for number in range(17)),
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
