"""What nobody watched: hours between two trips, a warm drive in pieces, trips that never came."""

from collections.abc import Sequence
from typing import Any

from contracts.evidence.report import as_json
from contracts.evidence.words import as_text
from contracts.proto.payload_pb2 import HandOver
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import evidence_of, trust_in
from support.evidence.forgery import verdict_on
from support.evidence.rich import handed
from support.network.world import Trip, delivering, loading, one, reading, registrations

WARM_MCEL = 30_000
TOLERATED_STEPS = 4
"""Steps of five seconds that the terms tolerate outside the limits."""
HOURS = 7200
"""Steps in ten hours."""


def driven(number: int, steps: Sequence[int], mcel: int = 5000) -> tuple[Trip, list[Batch]]:
    """Return a trip that measured at these steps, each five seconds long."""
    trip = Trip(nonce=bytes([number]) * 16)
    values = [reading(step, mcel) for step in steps]
    start = trip.start
    start.started_at_ms = values[0].clock.utc_ms
    run = trip.run(values)
    seal = trip.sealing()
    seal.clock.CopyFrom(values[-1].clock.message())
    return trip, [one(trip.signer, start), build_batch(trip.signer, [run, trip.sign(seal)])]


def told(groups: Sequence[Sequence[Batch]], *trips: Trip) -> tuple[str, list[dict[str, Any]]]:
    """Return the verdict's text, and what it says of the delivery on each trip; it must hold."""
    evidence = evidence_of([registrations(), *groups], [trip.trip_id for trip in trips])
    verdict = verdict_on(evidence.wire(), trust_in(evidence.heads))
    assert verdict.holds, verdict.problems
    return as_text(verdict), [trip["deliveries"][0] for trip in as_json(verdict)["trips"]]


def test_ten_hours_between_two_trips_of_a_truck_are_told() -> None:
    (first, out), (second, on) = driven(1, range(9)), driven(2, range(HOURS, HOURS + 9))
    text, deliveries = told(
        [out, handed(loading(first.trip_id)), on, handed(arrival(second, HOURS + 9))],
        first,
        second,
    )
    gap = f"between trip {first.trip_id} and trip {second.trip_id}, 900 s are allowed"
    assert f"temperature was not measured for {(HOURS - 8) * 5} s {gap}\n" in text
    assert "; nobody can say that its limits were kept" in text
    assert [each["limits_kept"] for each in deliveries] == [None, None]
    assert [len(each["between_trips"]) for each in deliveries] == [1, 1]


def test_trips_that_follow_each_other_leave_nothing_between_them() -> None:
    (first, out), (second, on) = driven(1, range(9)), driven(2, range(9, 18))
    text, deliveries = told([on, out], second, first)
    assert [each["limits_kept"] for each in deliveries] == [True, True]
    assert [each["between_trips"] for each in deliveries] == [[], []]
    assert "between trip" not in text


def test_a_warm_drive_that_was_cut_into_trips_is_told() -> None:
    """No trip is outside the limits for longer than tolerated, and all of them together are."""
    each = TOLERATED_STEPS // 2
    drives = [
        driven(number, range(number * each, number * each + each), WARM_MCEL) for number in range(3)
    ]
    trips = [trip for trip, _ in drives]
    text, deliveries = told([batches for _, batches in drives], *trips)
    assert "0 breaches, 0 silences" in text
    assert [found["limits_kept"] for found in deliveries] == [None] * 3
    (sentence,) = deliveries[0]["between_trips"]
    trip_ids = f"trip {trips[1].trip_id} and trip {trips[2].trip_id}"
    assert sentence == (
        f"temperature was outside its limit between {trip_ids} and around it, for "
        f"{(3 * each - 1) * 5} s, {TOLERATED_STEPS * 5} s are tolerated"
    )
    text, deliveries = told([drives[0][1], drives[1][1]], *trips[:2])
    assert [found["limits_kept"] for found in deliveries] == [True, True]


def test_a_trip_within_the_limits_ends_what_was_outside() -> None:
    drives = [driven(1, [0, 1], WARM_MCEL), driven(2, [2, 3]), driven(3, [4, 5], WARM_MCEL)]
    _, deliveries = told([batches for _, batches in drives], *[trip for trip, _ in drives])
    assert [found["limits_kept"] for found in deliveries] == [True] * 3


def test_goods_that_went_on_with_a_trip_that_never_came_were_watched_by_nobody() -> None:
    trip, batches = driven(1, range(9))
    hands = delivering("f" * 32)
    text, (delivery,) = told([batches, handed(loading(trip.trip_id)), handed(hands)], trip)
    assert delivery["awaited_trip_ids"] == ["f" * 32]
    assert delivery["limits_kept"] is None
    assert "; nobody can say that its limits were kept" in text


def arrival(trip: Trip, step: int) -> HandOver:
    """Return the handover to the buyer, at a step."""
    hands = delivering(trip.trip_id)
    hands.at_ms = reading(step).clock.utc_ms
    return hands
