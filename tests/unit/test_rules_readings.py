"""Readings: never invalid, never silently odd."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from contracts import address
from contracts.actions.payload import build
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import RecordReading, RegisterDevice
from contracts.proto.state_pb2 import Breach, Chain, Delivery
from contracts.records.reading import Clock, ClockOrigin, Reading, Tamper
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import digest_of
from support.evidence.forgery import SpyTrip
from support.ledgers.hosts import (
    Host,
    apply_all,
    breaches,
    commit,
    refused,
    rules_found,
    tampers,
    trip_begun,
)
from support.network.driving import drive
from support.network.world import (
    BOOT,
    START_MS,
    STEP_MS,
    Trip,
    device,
    key,
    one,
    reading,
    registrations,
)

if TYPE_CHECKING:
    from contracts.actions.table import Action


def at(offset_ms: int, counted_ms: int, value: int = 5000, boot: bytes = BOOT) -> Reading:
    return Reading(Clock(START_MS + offset_ms, counted_ms, boot, ClockOrigin.NTP), value)


def chain(host: Host, trip: Trip) -> Chain:
    return Chain.FromString(host.state(address.chain(trip.trip_id, trip.device_id)) or b"")


def delivery(host: Host) -> Delivery:
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


def test_an_unbroken_chain_has_no_findings(host: Host) -> None:
    trip = trip_begun(host)
    assert drive(host, trip, [reading(number) for number in range(5)]) == []
    assert chain(host, trip).count == 5
    assert chain(host, trip).next_sequence == 5


@pytest.mark.parametrize("name", ["stranger", "carrier", "gateway-seller"])
def test_a_reading_by_no_device_is_refused(host: Host, name: str) -> None:
    trip = trip_begun(host)
    forged = Trip(signer=key(name))
    assert refused(host, build_batch(key(name), [forged.record(reading(0))])) is Rule.UNKNOWN_DEVICE
    assert chain(host, trip).count == 0


def test_a_reading_of_no_trip_is_refused(host: Host) -> None:
    trip_begun(host)
    other = Trip(nonce=bytes(15) + b"9")
    assert refused(host, build_batch(other.signer, [other.record(reading(0))])) is Rule.UNKNOWN_TRIP


def test_a_foreign_device_does_not_reach_the_chain(host: Host) -> None:
    trip = trip_begun(host)
    host.apply(device("truck-2", "seller"))
    forged = Trip(signer=key("truck-2"))
    events = host.apply(build_batch(forged.signer, [forged.record(reading(0)), forged.seal()]))
    assert rules_found(events) == [Rule.SIGNER_MISMATCH, Rule.SIGNER_MISMATCH]
    assert chain(host, trip) == Chain()


def test_gaps_repeats_and_wrong_links_are_found(host: Host) -> None:
    trip = trip_begun(host)
    zero, one_, two = (trip.record(reading(number)) for number in range(3))
    assert rules_found(commit(host, trip, zero)) == []
    assert rules_found(commit(host, trip, two)) == [Rule.SEQUENCE_GAP]
    assert rules_found(commit(host, trip, one_)) == [Rule.SEQUENCE_REPEATED]
    assert chain(host, trip).count == 2
    trip.records[-1].previous_sha256 = b"x" * 32
    broken = trip.record(reading(3))
    assert rules_found(commit(host, trip, broken)) == [Rule.CHAIN_BROKEN]
    assert chain(host, trip).count == 3


def test_a_reading_after_the_seal_does_not_count(host: Host) -> None:
    trip = trip_begun(host)
    commit(host, trip, trip.record(reading(0)), trip.seal())
    assert rules_found(commit(host, trip, trip.record(reading(1)))) == [Rule.AFTER_SEAL]
    assert chain(host, trip).count == 1


@pytest.mark.parametrize(
    ("second", "rules"),
    [
        (at(5000, 5000), []),
        (at(65_000, 5000), []),
        (at(65_001, 5000), [Rule.CLOCK_JUMP]),
        (at(0, 60_001), [Rule.CLOCK_JUMP]),
        (at(-1, 5000), [Rule.CLOCK_BACK]),
        (at(5000, -1 + 0x7FFF_FFFF), [Rule.CLOCK_JUMP, Rule.RECORDING_GAP]),
        (at(600_000, 0, boot=b"x" * 16), [Rule.REBOOTED]),
        (at(-1, 0, boot=b"x" * 16), [Rule.CLOCK_BACK, Rule.REBOOTED]),
    ],
)
def test_what_the_clock_does_is_found(host: Host, second: Reading, rules: list[Rule]) -> None:
    trip = trip_begun(host)
    assert rules_found(drive(host, trip, [at(0, 0), second])) == rules


def test_a_counter_that_goes_back_is_found(host: Host) -> None:
    trip = trip_begun(host)
    assert rules_found(drive(host, trip, [at(0, 5000), at(1, 4999)])) == [Rule.CLOCK_BACK]


def test_the_end_of_calibration_is_found_once(host: Host) -> None:
    apply_all(host, registrations())
    until = RegisterDevice(
        device_id="truck-1",
        party_id="carrier",
        public_keys=[key("truck-1").public_key],
        calibrated_until_ms=START_MS + STEP_MS,
    )
    trip = Trip()
    apply_all(host, [one(key("carrier"), until), one(trip.signer, trip.start)])
    events = drive(host, trip, [reading(number) for number in range(5)])
    assert rules_found(events) == [Rule.OUT_OF_CALIBRATION]


# Excursions. The terms tolerate 20 s outside 2..8 Cel; readings come every 5 s.


def temperatures(host: Host, trip: Trip, values: Sequence[int]) -> list[Breach]:
    first = len(trip.records)
    return breaches(
        drive(host, trip, [reading(first + each, value) for each, value in enumerate(values)])
    )


def test_what_is_tolerated_is_no_breach(host: Host) -> None:
    trip = trip_begun(host)
    assert temperatures(host, trip, [5000, 9000, 9000, 9000, 9000, 9000, 8000, 2000]) == []
    assert not chain(host, trip).excursions
    assert delivery(host).breaches == 0


def test_a_breach_has_a_start_a_place_an_extreme_and_an_end(host: Host) -> None:
    trip = trip_begun(host)
    begun, ended = temperatures(host, trip, [5000, 8001, 9000, 9500, 9000, 9000, 9000, 9900, 8000])
    assert (begun.since_sequence, begun.since_ms) == (1, START_MS + STEP_MS)
    assert (begun.until_sequence, begun.ended, begun.extreme) == (6, False, 9500)
    assert begun.position == trip.records[6].position
    assert (ended.until_sequence, ended.until_ms) == (7, START_MS + 7 * STEP_MS)
    assert (ended.ended, ended.extreme) == (True, 9900)
    assert ended.position == begun.position
    assert delivery(host).breaches == 1
    place = address.breach(trip.trip_id, trip.device_id, "delivery-1", ended.limit.quantity, 1)
    assert Breach.FromString(host.state(place) or b"") == ended


def test_a_breach_below_the_minimum_keeps_the_lowest(host: Host) -> None:
    trip = trip_begun(host)
    _, ended = temperatures(host, trip, [1000, -4000, 1999, 1000, 1000, 1000, 2000])
    assert ended.extreme == -4000


def test_the_extreme_is_what_lay_farthest_outside_on_either_side(host: Host) -> None:
    trip = trip_begun(host)
    values = [12_000, 1000, 8500, 8500, 8500, 8500, 5000]
    assert temperatures(host, trip, values)[-1].extreme == 12_000


def test_two_breaches_are_two(host: Host) -> None:
    trip = trip_begun(host)
    found = temperatures(host, trip, [9000] * 6 + [5000] + [1000] * 6 + [5000])
    assert [(each.since_sequence, each.ended) for each in found] == [
        (0, False),
        (0, True),
        (7, False),
        (7, True),
    ]
    assert delivery(host).breaches == 2


def test_readings_without_the_quantity_neither_end_nor_stop_an_excursion(host: Host) -> None:
    trip = trip_begun(host)
    silent = [
        Reading(Clock(START_MS + n * STEP_MS, n * STEP_MS, BOOT, ClockOrigin.RTC))
        for n in range(1, 5)
    ]
    drive(host, trip, [reading(0, 9000), *silent])
    (begun,) = temperatures(host, trip, [9000])
    assert begun.since_sequence == 0


def test_the_seal_ends_a_breach_at_the_last_reading(host: Host) -> None:
    trip = trip_begun(host)
    temperatures(host, trip, [9000] * 7)
    (ended,) = breaches(commit(host, trip, trip.seal()))
    assert (ended.ended, ended.until_sequence) == (True, 6)


def test_setting_the_clock_back_does_not_hide_a_breach(host: Host) -> None:
    trip = trip_begun(host)
    values = [at(-each * 60_000, each * STEP_MS, 9000) for each in range(6)]
    assert len(breaches(drive(host, trip, values))) == 1


def test_setting_the_clock_forward_makes_no_breach(host: Host) -> None:
    trip = trip_begun(host)
    values = [at(0, 0, 9000), at(3_600_000, STEP_MS, 9000), at(3_605_000, 2 * STEP_MS)]
    assert breaches(drive(host, trip, values)) == []


def test_time_goes_on_through_a_reboot(host: Host) -> None:
    trip = trip_begun(host)
    values = [at(0, 90_000, 9000), at(20_001, 0, 9000, b"x" * 16)]
    assert len(breaches(drive(host, trip, values))) == 1


def test_signs_of_tampering_are_announced_when_they_appear(host: Host) -> None:
    trip = trip_begun(host)
    signs = [
        Tamper.NONE,
        Tamper.DOOR_OPEN,
        Tamper.DOOR_OPEN | Tamper.LIGHT,
        Tamper.LIGHT,
        Tamper.DOOR_OPEN,
    ]
    events = drive(host, trip, [reading(each, 5000, sign) for each, sign in enumerate(signs)])
    assert [(each.sequence, each.flags) for each in tampers(events)] == [
        (1, Tamper.DOOR_OPEN),
        (2, Tamper.LIGHT),
        (4, Tamper.DOOR_OPEN),
    ]
    assert tampers(events)[0].position == trip.records[1].position
    assert delivery(host).tampers == 3


def test_a_delivery_that_the_reading_does_not_declare_is_not_marked(host: Host) -> None:
    trip = trip_begun(host)
    trip.deliveries = []
    events = drive(host, trip, [reading(0, 5000, Tamper.SHOCK)])
    assert rules_found(events) == [Rule.DELIVERY_NOT_DECLARED]
    assert len(tampers(events)) == 1
    assert delivery(host).tampers == 0


def test_a_revoked_key_moves_and_marks_no_delivery(host: Host) -> None:
    apply_all(host, registrations())
    host.apply(one(key("carrier"), RegisterDevice(device_id="truck-1", party_id="carrier")))
    trip = Trip()
    assert rules_found(host.apply(one(trip.signer, trip.start))) == [Rule.KEY_REVOKED]
    assert delivery(host).status == Delivery.OPEN
    values = [reading(number, 9000, Tamper.SHOCK) for number in range(7)]
    events = drive(host, trip, values)
    assert rules_found(events) == [Rule.KEY_REVOKED] * len(values)
    assert (len(breaches(events)), len(tampers(events))) == (1, 1)
    assert (delivery(host).breaches, delivery(host).tampers) == (0, 0)


def spying(host: Host, trip: Trip) -> Trip:
    """Register a device of another party; return its part in the trip."""
    theirs = RegisterDevice(device_id="spy", party_id="seller", public_keys=[key("spy").public_key])
    host.apply(one(key("seller"), theirs))
    assert trip.trip_id == Trip().trip_id
    return SpyTrip(device_id="spy", signer=key("spy"))


def test_a_competitor_whom_the_trip_names_marks_no_delivery(host: Host) -> None:
    trip = Trip(others=["spy"])
    apply_all(host, [*registrations(), one(trip.signer, trip.start)])
    spy = spying(host, trip)
    events = drive(host, spy, [reading(number, 9000, Tamper.SHOCK) for number in range(7)])
    assert rules_found(events) == [Rule.CARRIER_MISMATCH]  # once, whatever it would mark
    assert (len(breaches(events)), len(tampers(events))) == (1, 1)
    assert (delivery(host).breaches, delivery(host).tampers) == (0, 0)


def test_a_device_that_the_trip_does_not_name_is_in_no_chain(host: Host) -> None:
    trip = trip_begun(host)
    spy = spying(host, trip)
    values = [reading(number, 9000, Tamper.SHOCK) for number in range(7)]
    events = drive(host, spy, values)
    run = SpyTrip(device_id="spy", signer=key("spy")).run(values)
    events += host.apply(build_batch(spy.signer, [run, spy.seal()]))
    assert rules_found(events) == [Rule.DEVICE_NOT_ON_TRIP] * 15
    assert not breaches(events) + tampers(events)
    assert chain(host, spy) == Chain()
    assert (delivery(host).breaches, delivery(host).tampers) == (0, 0)
    no_seal = registrations()[0].transactions[0].header_signature
    video = spy.video(digest_of(b"x"), no_seal)
    assert refused(host, video) is Rule.NOT_SEALED


def test_devices_of_a_trip_have_each_their_own_chain(host: Host) -> None:
    trip = Trip(others=["truck-2"])
    second = RegisterDevice(
        device_id="truck-2", party_id="carrier", public_keys=[key("truck-2").public_key]
    )
    apply_all(host, [*registrations(), one(key("carrier"), second), one(trip.signer, trip.start)])
    other = SpyTrip(device_id="truck-2", signer=key("truck-2"))
    values = [reading(number, 9000) for number in range(7)]
    found = drive(host, trip, values[:6]) + drive(host, other, values)
    assert rules_found(found) == []
    assert (chain(host, trip).count, chain(host, other).count) == (6, 7)
    assert delivery(host).breaches == 2
    assert rules_found(commit(host, other, other.seal())) == []
    assert rules_found(drive(host, trip, values[6:])) == []


def damaged(**changes: object) -> RecordReading:
    trip = Trip()
    trip.record(reading(0))
    record = trip.records[0]
    for name, value in changes.items():
        setattr(record, name, value)
    return record


@pytest.mark.parametrize(
    "record",
    [
        damaged(trip_id="no trip"),
        damaged(device_id="a\nb"),
        damaged(sequence=1 << 63),
        damaged(sequence=1),
        damaged(previous_sha256=bytes(32)),
        damaged(temperature_mcel=-273_151),
        damaged(humidity_mpct=100_001),
        damaged(pressure_pa=-1),
        damaged(tamper_flags=64),
        RecordReading(trip_id=Trip().trip_id, device_id="truck-1"),
    ],
)
def test_what_does_not_decode_is_refused(host: Host, record: RecordReading) -> None:
    trip_begun(host)
    assert refused(host, one(key("truck-1"), record)) is Rule.FORM


def test_a_reading_writes_to_its_trip_and_deliveries_only(host: Host) -> None:
    trip = trip_begun(host)
    trip.record(reading(0))
    action: Action = trip.records[0]
    for place in (address.party("carrier"), address.DELIVERY_PREFIX):
        reaching = build(trip.signer, action, deliveries=[place])
        assert refused(host, build_batch(trip.signer, [reaching])) is Rule.FORM
    for place in ("", address.SETTINGS_NAMESPACE):  # a node refuses these before any rule
        reaching = build(trip.signer, action, deliveries=[place])
        with pytest.raises(RejectedError, match=r"form|reaches into"):
            host.apply(build_batch(trip.signer, [reaching]))
