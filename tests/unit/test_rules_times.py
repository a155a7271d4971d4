"""Claimed times against the times of blocks, where a chain has them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from contracts import address
from contracts.proto.payload_pb2 import Source
from contracts.proto.sawtooth_pb2 import Event
from contracts.proto.state_pb2 import Chain, Delivery
from contracts.records.reading import Clock, ClockOrigin, Reading
from contracts.rules.attention import TOLD_MAX
from contracts.rules.blocktimes import TOLERANCE_MS
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import DirectHost, apply_all, findings, rules_found
from support.network.world import BOOT, START_MS, Trip, one, reading, registrations

START_S = START_MS // 1000
HOUR_S = 3600


def ready(agreed_s: int = START_S, now_s: int = START_S + HOUR_S) -> tuple[DirectHost, Trip]:
    """Return a trip under way; both sides had signed at `agreed_s`, and now it is `now_s`."""
    host, trip = DirectHost(), Trip()
    host.tell_time(agreed_s)
    apply_all(host, [*registrations(), one(trip.signer, trip.start)])
    host.tell_time(now_s, block_num=7)
    return host, trip


def at(utc_ms: int, count: int = 0) -> Reading:
    return Reading(Clock(utc_ms, count, BOOT, ClockOrigin.GNSS), 5000)


def drive(host: DirectHost, trip: Trip, values: Sequence[Reading]) -> list[Event]:
    return host.apply(build_batch(trip.signer, [trip.run(values)]))


def test_a_delivery_keeps_when_both_sides_had_signed() -> None:
    host, _ = ready()
    entry = Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")
    assert entry.agreed_at_s == START_S


@pytest.mark.parametrize(
    ("utc_ms", "detail"),
    [
        (START_MS - TOLERANCE_MS, ""),
        (START_MS - TOLERANCE_MS - 1, "UTC is 300001 ms before both sides had signed the delivery"),
        (START_MS + HOUR_S * 1000 + TOLERANCE_MS, ""),
        (
            START_MS + HOUR_S * 1000 + TOLERANCE_MS + 1,
            "UTC is 300001 ms after the time of the latest block",
        ),
    ],
)
def test_a_reading_lies_between_the_blocks_around_it(utc_ms: int, detail: str) -> None:
    host, trip = ready()
    found = findings(drive(host, trip, [at(utc_ms)]))
    assert [each.detail for each in found if each.rule == Rule.TIME_IMPLAUSIBLE] == (
        [detail] if detail else []
    )


def test_a_start_lies_between_the_blocks_around_it() -> None:
    host, trip = DirectHost(), Trip()
    host.tell_time(START_S + HOUR_S)
    apply_all(host, registrations())
    assert rules_found(host.apply(one(trip.signer, trip.start))) == [Rule.TIME_IMPLAUSIBLE]
    timed = Trip(nonce=b"t" * 16)
    start = timed.start
    start.clock.CopyFrom(at(START_MS + HOUR_S * 1000).clock.message())
    start.started_at_ms = start.clock.utc_ms
    assert Rule.TIME_IMPLAUSIBLE not in rules_found(host.apply(one(timed.signer, start)))


def test_a_seal_lies_between_the_blocks_around_it() -> None:
    host, trip = ready()
    drive(host, trip, [reading(0)])
    made = trip.sealing()
    made.clock.utc_ms += 2 * HOUR_S * 1000
    jumped, found = findings(host.apply(build_batch(trip.signer, [trip.sign(made)])))
    assert (jumped.rule, jumped.sequence) == (Rule.CLOCK_JUMP, 1)
    assert (found.rule, found.sequence) == (Rule.TIME_IMPLAUSIBLE, 1)


def test_consecutive_implausible_times_are_one_finding() -> None:
    host, trip = ready(now_s=START_S)
    late = START_MS + TOLERANCE_MS + 1
    values = [at(late), at(late + 1, 1), at(START_MS, 2), at(late, 3)]
    found = findings(drive(host, trip, values))
    assert [each.sequence for each in found if each.rule == Rule.TIME_IMPLAUSIBLE] == [0, 3]


def test_implausible_times_are_told_up_to_a_bound() -> None:
    host, trip = ready(now_s=START_S)
    ends = (START_MS, START_MS + TOLERANCE_MS + 1)
    drive(host, trip, [at(ends[each % 2], each) for each in range(2 * TOLD_MAX + 6)])
    chain = Chain.FromString(host.state(address.chain(trip.trip_id, trip.device_id)) or b"")
    assert chain.implausible_times == TOLD_MAX + 3
    host, trip = ready(now_s=START_S)
    found = drive(host, trip, [at(ends[each % 2], each) for each in range(2 * TOLD_MAX + 6)])
    assert rules_found(found).count(Rule.TIME_IMPLAUSIBLE) == TOLD_MAX


def test_derived_readings_claim_no_time() -> None:
    host, trip = DirectHost(), Trip()
    host.tell_time(START_S + 9 * HOUR_S)
    start = trip.start
    start.derived_from.append(Source(role="sensors", name="a.csv", sha256=bytes(32)))
    apply_all(host, [*registrations(), one(trip.signer, start)])
    events = drive(host, trip, [replace(reading(each), derived=True) for each in range(3)])
    events += host.apply(build_batch(trip.signer, [trip.seal()]))
    assert events == []


def test_a_chain_without_times_says_nothing() -> None:
    host, trip = DirectHost(), Trip()
    apply_all(host, [*registrations(), one(trip.signer, trip.start)])
    assert drive(host, trip, [reading(0)]) == []


def test_version_1_0_does_not_ask_the_blocks() -> None:
    host, trip, old = DirectHost(), Trip(), RulesVersion.V1_0
    host.tell_time(START_S + 9 * HOUR_S)
    apply_all(host, [*registrations(old), one(trip.signer, trip.start, version=old)])
    trip.record(reading(0))
    assert host.apply(one(trip.signer, trip.records[0], version=old)) == []
