"""Runs: many readings in one transaction, each as if it came alone."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from contracts import address
from contracts.proto.payload_pb2 import RecordRun, RegisterDevice, RunReading
from contracts.proto.sawtooth_pb2 import Event
from contracts.proto.state_pb2 import Chain, Delivery
from contracts.records.placed import placed
from contracts.records.reading import (
    RUN_READINGS_MAX,
    ChainLink,
    DeviceChain,
    Position,
    Tamper,
    digest,
    record_of,
    run_of,
)
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import (
    Host,
    breaches,
    commit,
    findings,
    refused,
    rules_found,
    tampers,
    trip_begun,
)
from support.network.world import Trip, device, key, one, reading

VALUES = [reading(number) for number in range(8)]


def chain(host: Host) -> Chain:
    return Chain.FromString(host.state(address.chain(Trip().trip_id, "truck-1")) or b"")


def numbered(events: list[Event]) -> list[tuple[str, int]]:
    return [(each.rule, each.sequence) for each in findings(events)]


def test_a_run_hashes_to_what_its_readings_hash_to_alone() -> None:
    trip = Trip()
    for value in VALUES:
        trip.record(value)
    for first in (0, 3):
        run = run_of(trip.records[first:])
        assert [(each.sequence, each.previous_sha256, each.sha256) for each in placed(run)] == [
            (record.sequence, record.previous_sha256, digest(record))
            for record in trip.records[first:]
        ]


@pytest.mark.parametrize("first", [0, 126, 16_382, (1 << 21) - 2, (1 << 63) - 5])
def test_it_does_wherever_the_run_begins(first: int) -> None:
    link = ChainLink(DeviceChain(Trip().trip_id, "truck-1"), first, b"h" * 32 if first else b"")
    records = []
    for value in VALUES[:4]:
        records.append(record_of(value, link))
        link = link.after(records[-1])
    assert [each.sha256 for each in placed(run_of(records))] == [digest(each) for each in records]


def test_runs_and_single_readings_make_one_chain(host: Host) -> None:
    trip = trip_begun(host)
    events = commit(host, trip, trip.run(VALUES[:3]), trip.record(VALUES[3]), trip.run(VALUES[4:]))
    assert rules_found(events) == []
    assert (chain(host).count, chain(host).next_sequence) == (8, 8)
    assert chain(host).head_sha256 == digest(trip.records[-1])
    assert rules_found(commit(host, trip, trip.seal())) == []


def test_the_longest_run_is_taken(host: Host) -> None:
    trip = trip_begun(host)
    run = trip.run([reading(number) for number in range(RUN_READINGS_MAX)])
    assert rules_found(commit(host, trip, run)) == []
    assert chain(host).count == RUN_READINGS_MAX


def test_breaches_and_tampering_within_a_run(host: Host) -> None:
    trip = trip_begun(host)
    warm = [reading(0)] + [reading(number, 9000, Tamper.SHOCK) for number in range(1, 8)]
    events = commit(host, trip, trip.run([*warm, reading(8)]))
    assert [(each.since_sequence, each.until_sequence) for each in breaches(events)] == [
        (1, 6),
        (1, 7),
    ]
    assert breaches(events)[0].position == trip.records[6].position
    assert [each.sequence for each in tampers(events)] == [1]
    entry = Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")
    assert (entry.breaches, entry.tampers) == (1, 1)


def test_readings_that_were_there_are_not_taken_and_the_rest_is(host: Host) -> None:
    trip = trip_begun(host)
    commit(host, trip, trip.run(VALUES[:3]))
    again = Trip()
    events = commit(host, trip, again.run(VALUES[:5]))
    assert numbered(events) == [(Rule.SEQUENCE_REPEATED, number) for number in range(3)]
    assert chain(host).count == 5
    assert chain(host).head_sha256 == digest(again.records[-1])


def test_a_position_that_was_not_taken_is_not_the_last_one(host: Host) -> None:
    trip = trip_begun(host)
    commit(host, trip, trip.run(VALUES[:3]))
    moved = replace(VALUES[2], position=Position(10_000_000, 10_000_000, 300))
    nowhere = replace(VALUES[3], position=None)
    commit(host, trip, Trip().run([*VALUES[:2], moved, nowhere]))
    assert chain(host).count == 4
    assert chain(host).last_position == trip.records[2].position


def test_a_run_that_rewrites_what_was_there_does_not_follow(host: Host) -> None:
    trip = trip_begun(host)
    commit(host, trip, trip.run(VALUES[:3]))
    other = [reading(number, 4000) for number in range(4)]
    events = commit(host, trip, Trip().run(other))
    assert numbered(events) == [
        *((Rule.SEQUENCE_REPEATED, number) for number in range(3)),
        (Rule.CHAIN_BROKEN, 3),
    ]


def test_a_gap_before_a_run_is_found_at_its_first_reading(host: Host) -> None:
    trip = trip_begun(host)
    commit(host, trip, trip.record(VALUES[0]))
    trip.run(VALUES[1:3])
    assert numbered(commit(host, trip, trip.run(VALUES[3:]))) == [(Rule.SEQUENCE_GAP, 3)]
    assert chain(host).count == 6


def test_every_reading_of_a_run_that_does_not_count_is_found(host: Host) -> None:
    trip = trip_begun(host)
    host.apply(one(key("carrier"), RegisterDevice(device_id="truck-1", party_id="carrier")))
    commit(host, trip, trip.seal())
    events = commit(host, trip, trip.run(VALUES[:2]))
    assert numbered(events) == [
        (Rule.KEY_REVOKED, 0),
        (Rule.AFTER_SEAL, 0),
        (Rule.KEY_REVOKED, 1),
        (Rule.AFTER_SEAL, 1),
    ]
    assert chain(host).count == 0


def test_a_run_in_anothers_name_reaches_no_chain(host: Host) -> None:
    trip_begun(host)
    host.apply(device("truck-2", "seller"))
    forged = Trip(signer=key("truck-2"))
    events = commit(host, forged, forged.run(VALUES[:2]))
    assert numbered(events) == [(Rule.SIGNER_MISMATCH, 0), (Rule.SIGNER_MISMATCH, 1)]
    assert chain(host) == Chain()


def test_a_run_by_no_device_or_on_no_trip_is_refused(host: Host) -> None:
    trip_begun(host)
    forged = Trip(signer=key("carrier"))
    batch = build_batch(forged.signer, [forged.run(VALUES)])
    assert refused(host, batch) is Rule.UNKNOWN_DEVICE
    other = Trip(nonce=bytes(15) + b"9")
    assert refused(host, build_batch(other.signer, [other.run(VALUES)])) is Rule.UNKNOWN_TRIP


NOT_WELL_FORMED: dict[str, Callable[[RecordRun], object]] = {
    "no reading": lambda run: run.ClearField("readings"),
    "too many readings": lambda run: run.readings.extend([run.readings[0]] * RUN_READINGS_MAX),
    "no trip": lambda run: run.ClearField("trip_id"),
    "no device": lambda run: run.ClearField("device_id"),
    "a first that follows": lambda run: setattr(run, "previous_sha256", bytes(32)),
    "a second that follows nothing": lambda run: setattr(run, "first_sequence", 1),
    "a number out of range": lambda run: run.MergeFrom(
        RecordRun(first_sequence=(1 << 63) - len(VALUES) + 1, previous_sha256=bytes(32))
    ),
    "a reading without a clock": lambda run: run.readings[5].ClearField("clock"),
    "too hot": lambda run: setattr(run.readings[7], "temperature_mcel", 1_000_001),
    "an empty reading": lambda run: run.readings.append(RunReading()),
}


@pytest.mark.parametrize("name", NOT_WELL_FORMED)
def test_a_run_that_does_not_decode_is_refused(host: Host, name: str) -> None:
    trip = trip_begun(host)
    for value in VALUES:
        trip.record(value)
    run = run_of(trip.records)
    NOT_WELL_FORMED[name](run)
    assert refused(host, one(trip.signer, run)) is Rule.FORM


def test_the_last_number_there_is(host: Host) -> None:
    trip = trip_begun(host)
    for value in VALUES:
        trip.record(value)
    run = run_of(trip.records)
    run.first_sequence, run.previous_sha256 = (1 << 63) - len(VALUES), bytes(32)
    assert numbered(commit(host, trip, trip.sign(run))) == [(Rule.SEQUENCE_GAP, run.first_sequence)]
    assert chain(host).next_sequence == 1 << 63
