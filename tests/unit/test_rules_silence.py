"""Silence is a finding: nobody may keep a load's limits by not measuring."""

from dataclasses import replace
from typing import Final

import pytest

from contracts import address
from contracts.proto.payload_pb2 import (
    CARRIER,
    CloseTrip,
    HandOver,
    Limit,
    OpenDelivery,
)
from contracts.proto.state_pb2 import Chain, Delivery
from contracts.rules.attention import TOLD_MAX
from contracts.rules.ids import Rule
from contracts.rules.silence import GAPS_MAX
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import Host, apply_all, breaches, findings, refused, rules_found
from support.network.chains import both_sign
from support.network.driving import HOUR_MS, MINUTE_MS, at, drive, ready, seal
from support.network.world import (
    START_MS,
    TERMS,
    Trip,
    delivering,
    device,
    key,
    loading,
    one,
    party,
    registrations,
)

HUMID: Final = Limit(quantity=Limit.HUMIDITY_MPCT, maximum=80_000, longest_silence_s=3600)
OTHER_BOOT: Final = b"x" * 16


def delivery(host: Host) -> Delivery:
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


def chain(host: Host, trip: Trip) -> Chain:
    return Chain.FromString(host.state(address.chain(trip.trip_id, trip.device_id)) or b"")


def longest(host: Host, trip: Trip) -> dict[int, int]:
    return {each.quantity: each.longest_ms for each in chain(host, trip).silences}


def test_readings_that_come_in_time_leave_no_finding(host: Host) -> None:
    trip = ready(host, Trip(), HUMID)
    both_sign(host, loading(trip.trip_id))
    events = drive(host, trip, [at(each * MINUTE_MS, humidity_mpct=50_000) for each in range(5)])
    assert rules_found([*events, *seal(host, trip)]) == []
    assert rules_found(both_sign(host, delivering(trip.trip_id))) == []
    assert longest(host, trip) == {
        Limit.TEMPERATURE_MCEL: MINUTE_MS,
        Limit.HUMIDITY_MPCT: MINUTE_MS,
    }
    assert delivery(host).silences == 0


def test_five_hours_between_two_readings_are_found(host: Host) -> None:
    trip = ready(host, Trip())
    (found,) = findings(drive(host, trip, [at(0), at(1000), at(1000 + 5 * HOUR_MS)]))
    assert (found.rule, found.sequence) == (Rule.RECORDING_GAP, 2)
    assert found.detail == (
        "temperature was not measured for 18000000 ms after reading 1, 900 s are allowed"
    )
    assert delivery(host).silences == 1
    assert longest(host, trip) == {Limit.TEMPERATURE_MCEL: 5 * HOUR_MS}


@pytest.mark.parametrize(("silence_s", "rules"), [(60, []), (59, [Rule.RECORDING_GAP])])
def test_the_terms_say_how_long_a_quantity_may_be_silent(
    host: Host, silence_s: int, rules: list[Rule]
) -> None:
    agreed = Limit(quantity=Limit.HUMIDITY_MPCT, maximum=80_000, longest_silence_s=silence_s)
    trip = ready(host, Trip(), agreed)
    events = drive(host, trip, [at(0, humidity_mpct=1), at(MINUTE_MS, humidity_mpct=1)])
    assert rules_found(events) == rules


def test_a_sensor_that_is_absent_for_an_hour_is_found(host: Host) -> None:
    trip = ready(host, Trip(), HUMID)
    minutes = range(0, 72, 10)
    values = [
        at(each * MINUTE_MS, humidity_mpct=1 if each in (0, 70) else None) for each in minutes
    ]
    (found,) = findings(drive(host, trip, values))
    assert found.detail == (
        "humidity was not measured for 4200000 ms after reading 0, 3600 s are allowed"
    )
    assert longest(host, trip)[Limit.TEMPERATURE_MCEL] == 10 * MINUTE_MS


def test_a_late_first_measurement_is_found(host: Host) -> None:
    trip = ready(host, Trip())
    (found,) = findings(drive(host, trip, [at(HOUR_MS)]))
    assert found.detail.startswith("temperature was not measured for 3600000 ms after the trip's")


def test_the_time_to_the_seal_counts(host: Host) -> None:
    trip = ready(host, Trip())
    drive(host, trip, [at(0)])
    late = trip.sealing()
    late.clock.CopyFrom(at(HOUR_MS).clock.message())
    (found,) = findings(host.apply(build_batch(trip.signer, [trip.sign(late)])))
    assert (found.rule, found.sequence) == (Rule.RECORDING_GAP, 1)
    assert delivery(host).silences == 1


@pytest.mark.parametrize("readings", [0, 3])
def test_a_quantity_that_nobody_measured_is_found(host: Host, readings: int) -> None:
    trip = ready(host, Trip(), HUMID)
    drive(host, trip, [at(each * 1000) for each in range(readings)])
    found = findings(seal(host, trip))
    assert {each.rule for each in found} == {Rule.QUANTITY_MISSING}
    assert found[-1].detail == "humidity is limited, and no device of the trip measured it"
    assert len(found) == delivery(host).silences == (1 if readings else 2)


def test_a_closed_trip_tells_what_was_not_measured_once(host: Host) -> None:
    trip = ready(host, Trip(), HUMID)
    drive(host, trip, [at(0)])
    close = CloseTrip(trip_id=trip.trip_id, party_id="buyer")
    assert rules_found(host.apply(one(key("buyer"), close))) == [
        Rule.SEAL_MISSING,
        Rule.QUANTITY_MISSING,
    ]
    assert rules_found(seal(host, trip)) == [Rule.AFTER_CLOSE]
    assert delivery(host).silences == 1


def test_a_wall_clock_that_stands_still_over_reboots_hides_no_time(host: Host) -> None:
    trip = ready(host, Trip())
    values = [at(0), at(1, 2 * HOUR_MS, boot=OTHER_BOOT), at(2, 3 * HOUR_MS, boot=b"y" * 16)]
    found = findings(drive(host, trip, values))
    assert [each.rule for each in found] == [Rule.REBOOTED, Rule.RECORDING_GAP] * 2
    assert found[0].detail == "the device was started 7200000 ms before"
    assert longest(host, trip) == {Limit.TEMPERATURE_MCEL: 3 * HOUR_MS}


def test_reboots_do_not_hide_an_excursion(host: Host) -> None:
    trip = ready(host, Trip())
    hot = [at(each, 15_000, 9000, boot=bytes([each]) * 16) for each in range(1, 5)]
    begun = breaches(drive(host, trip, hot))
    assert [(each.since_sequence, each.until_sequence) for each in begun] == [(0, 2)]


def test_under_version_1_0_silence_says_nothing(host: Host) -> None:
    trip = Trip()
    old = RulesVersion.V1_0
    apply_all(host, [*registrations(old), one(trip.signer, trip.start, version=old)])
    for value in (at(0), at(5 * HOUR_MS), at(5 * HOUR_MS, 9 * HOUR_MS, boot=OTHER_BOOT)):
        trip.record(value)
    events = [
        event
        for record in trip.records
        for event in host.apply(one(trip.signer, record, version=old))
    ]
    events += host.apply(one(trip.signer, trip.sealing(), version=old))
    assert events == []
    assert not chain(host, trip).silences
    longer = OpenDelivery()
    longer.CopyFrom(TERMS)
    longer.delivery_id, longer.limits[0].longest_silence_s = "delivery-2", 60
    assert refused(host, one(key("seller"), longer, version=old)) is Rule.FORM


def test_gaps_are_told_one_by_one_up_to_a_bound_and_counted_beyond(host: Host) -> None:
    trip = ready(host, Trip())
    values = [at(each * HOUR_MS) for each in range(GAPS_MAX + 3)]
    found = findings(host.apply(build_batch(trip.signer, [trip.run(values)])))
    assert [each.rule for each in found] == [Rule.RECORDING_GAP] * (GAPS_MAX + 1)
    assert found[-1].detail.endswith("from here on they are counted only")
    assert delivery(host).silences == chain(host, trip).silences[0].gaps == GAPS_MAX + 2


def test_reboots_are_told_one_by_one_up_to_a_bound(host: Host) -> None:
    trip = ready(host, Trip())
    values = [at(each, each, boot=bytes([each % 2]) * 16) for each in range(TOLD_MAX + 3)]
    found = findings(host.apply(build_batch(trip.signer, [trip.run(values)])))
    assert [each.rule for each in found] == [Rule.REBOOTED] * TOLD_MAX
    assert chain(host, trip).reboots == TOLD_MAX + 2


# Around the trip: the carrier got the goods before the first measurement, and gave them away after
# the last one.


def late(trip: Trip, offset_ms: int) -> HandOver:
    action = delivering(trip.trip_id)
    action.at_ms = START_MS + offset_ms
    return action


def test_silence_before_the_last_handover_is_found(host: Host) -> None:
    trip = ready(host, Trip())
    both_sign(host, loading(trip.trip_id))
    drive(host, trip, [at(0), at(MINUTE_MS)])
    assert rules_found(seal(host, trip)) == []
    (found,) = findings(both_sign(host, late(trip, 5 * HOUR_MS)))
    assert found.detail == (
        "temperature was not measured for 17940000 ms before the carrier gave delivery-1 away, "
        "900 s are allowed"
    )
    assert (delivery(host).silences, delivery(host).status) == (1, Delivery.DELIVERED)


def test_a_handover_before_the_seal_is_judged_at_the_seal(host: Host) -> None:
    trip = ready(host, Trip())
    both_sign(host, loading(trip.trip_id))
    assert rules_found(both_sign(host, late(trip, 5 * HOUR_MS))) == []
    drive(host, trip, [at(0), at(MINUTE_MS)])
    assert rules_found(seal(host, trip)) == [Rule.RECORDING_GAP]
    assert delivery(host).silences == 1


def test_goods_that_wait_for_the_trip_are_silent_too(host: Host) -> None:
    trip = ready(host, Trip())
    early = loading(trip.trip_id)
    early.at_ms = START_MS - HOUR_MS
    both_sign(host, early)
    drive(host, trip, [at(0)])
    (found,) = findings(seal(host, trip))
    assert found.detail == (
        "temperature was not measured for 3600000 ms after the carrier got delivery-1, "
        "900 s are allowed"
    )


def test_a_replayed_trip_is_not_compared_with_handovers(host: Host) -> None:
    trip = ready(host, Trip())
    both_sign(host, loading(trip.trip_id))
    values = [replace(at(each * MINUTE_MS), derived=True) for each in range(3)]
    assert rules_found([*drive(host, trip, values), *seal(host, trip)]) == []
    assert rules_found(both_sign(host, late(trip, 5 * HOUR_MS))) == []


def test_one_derived_reading_does_not_hide_the_wait_for_the_handover(host: Host) -> None:
    trip = ready(host, Trip())
    both_sign(host, loading(trip.trip_id))
    drive(host, trip, [at(0), replace(at(MINUTE_MS), derived=True)])
    seal(host, trip)
    assert rules_found(both_sign(host, late(trip, 5 * HOUR_MS))) == [Rule.RECORDING_GAP]


def test_goods_with_a_carrier_whose_truck_is_not_on_the_trip_are_silent_too(host: Host) -> None:
    trip, terms = Trip(), OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.other_carrier_ids.append("carrier-2")
    signed = [one(key(name), terms) for name in ("seller", "buyer")]
    known = [*registrations()[:-2], party("carrier-2", CARRIER), *signed]
    apply_all(host, [*known, one(trip.signer, trip.start)])
    gave, took = loading(trip.trip_id), late(trip, 5 * HOUR_MS)
    gave.to_party_id = took.from_party_id = "carrier-2"
    both_sign(host, gave)
    drive(host, trip, [at(0), at(MINUTE_MS)])
    seal(host, trip)
    assert rules_found(both_sign(host, took)) == [Rule.RECORDING_GAP]
    assert delivery(host).silences == 1


# Several devices.


def pair(host: Host, *limits: Limit) -> tuple[Trip, Trip]:
    """Start a trip of two devices."""
    first = ready(host, Trip(others=["truck-2"]), *limits)
    host.apply(device("truck-2", "carrier"))
    second = Trip("truck-2", signer=key("truck-2"), of=first.trip_id)
    return first, second


def test_each_device_answers_for_what_it_measures(host: Host) -> None:
    first, second = pair(host, HUMID)
    events = drive(host, first, [at(0), at(MINUTE_MS)])
    humid = [at(each * MINUTE_MS, temperature_mcel=None, humidity_mpct=1) for each in (20, 40)]
    events += drive(host, second, humid)
    assert rules_found([*events, *seal(host, first), *seal(host, second)]) == []
    assert longest(host, second) == {Limit.HUMIDITY_MPCT: 20 * MINUTE_MS}


def test_what_another_device_measures_too_late_is_found_at_the_end(host: Host) -> None:
    first, second = pair(host, HUMID)
    drive(host, first, [at(0)])
    drive(host, second, [at(2 * HOUR_MS, temperature_mcel=None, humidity_mpct=1)])
    assert rules_found(seal(host, second)) == []
    (found,) = findings(seal(host, first))
    assert found.detail == (
        "no device measured humidity for 7200000 ms after the trip's start, 3600 s are allowed"
    )


def test_what_is_missing_is_found_when_the_last_device_has_sealed(host: Host) -> None:
    first, second = pair(host, HUMID)
    drive(host, first, [at(0)])
    assert rules_found(seal(host, first)) == []
    assert rules_found(seal(host, second)) == [Rule.QUANTITY_MISSING]


def test_a_device_of_another_party_finds_and_does_not_mark(host: Host) -> None:
    spied = Trip("spy", signer=key("spy"))
    apply_all(host, [*registrations(), device("spy", "buyer"), one(spied.signer, spied.start)])
    found = rules_found(drive(host, spied, [at(0), at(HOUR_MS)]))
    assert found == [Rule.RECORDING_GAP, Rule.CARRIER_MISMATCH]
    assert delivery(host).silences == 0


def test_nothing_is_limited_and_nothing_is_silent(host: Host) -> None:
    trip = Trip(deliveries=[])
    apply_all(host, [*registrations(), one(trip.signer, trip.start)])
    assert drive(host, trip, [at(0), at(9 * HOUR_MS)]) == []
    assert seal(host, trip) == []
