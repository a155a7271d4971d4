"""The silence that the rules find is what a plain calculation finds, in any grouping."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from contracts import address
from contracts.proto.payload_pb2 import Limit, OpenDelivery
from contracts.proto.sawtooth_pb2 import Event, Transaction
from contracts.proto.state_pb2 import Chain, Delivery
from contracts.records.reading import Clock, ClockOrigin, Reading
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import DirectHost, apply_all, findings
from support.network.world import START_MS, TERMS, Trip, key, one, registrations

HUMIDITY_S = 60
ALLOWED_MS = {Limit.TEMPERATURE_MCEL: 900_000, Limit.HUMIDITY_MPCT: 60_000}


class Step(NamedTuple):
    """What happens between two readings, and what the second one measures."""

    passed_ms: int
    utc_error_ms: int
    reboots: bool
    measures: frozenset[int]


steps = st.builds(
    Step,
    st.sampled_from([0, 1, 59_999, 60_000, 60_001, 899_999, 900_000, 900_001, 10**8]),
    st.sampled_from([0, 0, 0, -100_000, 100_000, -(10**9)]),
    st.sampled_from([False, False, False, True]),
    st.frozensets(st.sampled_from(sorted(ALLOWED_MS))),
)


def readings_of(drawn: Sequence[Step]) -> tuple[list[Reading], list[int]]:
    """Return the readings, and the time that passed before each as the contract counts it."""
    values: list[Reading] = []
    passed: list[int] = []
    counter, boot, utc, true_ms = 0, 0, START_MS, START_MS
    for step in drawn:
        true_ms += step.passed_ms
        now = max(0, true_ms + step.utc_error_ms)
        if step.reboots:
            boot, counter = boot + 1, step.passed_ms // 2
            passed.append(max(counter, now - utc, 0))
        else:
            counter += step.passed_ms
            passed.append(step.passed_ms)
        utc = now
        clock = Clock(utc, counter, boot.to_bytes(16), ClockOrigin.RTC)
        heat = 5000 if Limit.TEMPERATURE_MCEL in step.measures else None
        damp = 50_000 if Limit.HUMIDITY_MPCT in step.measures else None
        values.append(Reading(clock, heat, damp))
    return values, passed


def silences(drawn: Sequence[Step], passed: Sequence[int], quantity: int) -> Iterator[int]:
    """Yield the time before each measurement of a quantity."""
    before = 0
    for at, step in enumerate(drawn):
        if quantity in step.measures:
            yield sum(passed[before : at + 1])
            before = at + 1


def ready() -> tuple[DirectHost, Trip]:
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.limits.append(
        Limit(quantity=Limit.HUMIDITY_MPCT, maximum=100_000, longest_silence_s=HUMIDITY_S)
    )
    host, trip = DirectHost(), Trip()
    start = trip.start
    start.clock.CopyFrom(Clock(START_MS, 0, bytes(16), ClockOrigin.RTC).message())
    signed = [one(key(name), terms) for name in ("seller", "buyer")]
    apply_all(host, [*registrations()[:-2], *signed, one(trip.signer, start)])
    return host, trip


def grouped(trip: Trip, values: Sequence[Reading], sizes: Sequence[int]) -> Iterator[Transaction]:
    left, at = list(values), 0
    while left:
        size = sizes[at % len(sizes)]
        yield trip.run(left[:size]) if size > 1 else trip.record(left[0])
        left, at = left[size:], at + 1


def drive(drawn: Sequence[Step], sizes: Sequence[int]) -> tuple[DirectHost, Trip, list[Event]]:
    host, trip = ready()
    values, _ = readings_of(drawn)
    events = [
        event
        for transaction in grouped(trip, values, sizes)
        for event in host.apply(build_batch(trip.signer, [transaction]))
    ]
    return host, trip, events


@given(st.lists(steps, min_size=1, max_size=30), st.lists(st.integers(1, 9), min_size=1))
def test_silence_is_what_a_plain_calculation_finds(drawn: list[Step], sizes: list[int]) -> None:
    host, trip, events = drive(drawn, sizes)
    _, passed = readings_of(drawn)
    expected = {name: list(silences(drawn, passed, name)) for name in ALLOWED_MS}
    gaps = {
        name: sum(each > ALLOWED_MS[name] for each in found) for name, found in expected.items()
    }
    found = [each for each in findings(events) if each.rule == Rule.RECORDING_GAP]
    assert len(found) == sum(gaps.values())
    chain = Chain.FromString(host.state(address.chain(trip.trip_id, "truck-1")) or b"")
    kept = {each.quantity: each for each in chain.silences}
    for name, each in kept.items():
        assert each.measured == bool(expected[name])
        assert each.longest_ms == max(expected[name], default=0)
        assert each.gaps == gaps[name]
    entry = Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")
    assert entry.silences == sum(gaps.values())
    assert chain.reboots == sum(step.reboots for step in drawn)


@given(st.lists(steps, min_size=1, max_size=30), st.lists(st.integers(1, 9), min_size=1))
def test_the_grouping_of_readings_does_not_matter(drawn: list[Step], sizes: list[int]) -> None:
    alone, _, single = drive(drawn, [1])
    together, _, several = drive(drawn, sizes)
    assert told(single) == told(several)
    assert entries(alone) == entries(together)


def told(events: Sequence[Event]) -> list[tuple[str, int, str]]:
    return [(each.rule, each.sequence, each.detail) for each in findings(events)]


def entries(host: DirectHost) -> dict[str, bytes]:
    """Return all state but the findings, whose addresses name transactions."""
    of_findings = address.finding(Trip().trip_id, "")[:-30]
    return {
        place: value for place, value in host.dump().items() if not place.startswith(of_findings)
    }
