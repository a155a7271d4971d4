"""Nothing that matters can be left out of evidence: the check of the check."""

from itertools import combinations

import pytest

from contracts.actions.payload import build, decode
from contracts.evidence.report import as_json, not_shown
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.block_info import block_info_batch
from support.evidence.chain import Evidence, evidence_of, trust_in
from support.evidence.forgery import verdict_on
from support.evidence.rich import FIRST, OTHER, about, handed, rich, without
from support.network.world import (
    START_MS,
    Trip,
    delivering,
    key,
    loading,
    one,
    reading,
    registrations,
)

TRUST = trust_in(rich().heads)
BATCHES = rich().batches
PAIRS = [
    pair
    for pair in combinations(range(len(BATCHES)), 2)
    if about(BATCHES[pair[0]]) & about(BATCHES[pair[1]])
]


def holds(told: Evidence) -> bool:
    verdict = verdict_on(told.wire(), TRUST)
    assert verdict.holds or verdict.problems
    return verdict.holds


def without_pair(one: int, other: int) -> Evidence:
    return without(lambda batch: batch is BATCHES[one] or batch is BATCHES[other])


def test_the_honest_file_holds() -> None:
    verdict = verdict_on(rich().wire(), TRUST)
    assert verdict.problems == []
    assert set(verdict.trips) == {FIRST.trip_id, OTHER.trip_id}


@pytest.mark.parametrize(
    "at", range(len(BATCHES)), ids=lambda at: " ".join(sorted(about(BATCHES[at])))
)
def test_no_single_batch_can_be_left_out(at: int) -> None:
    assert not holds(without(lambda batch: batch is BATCHES[at]))


def test_no_two_batches_about_the_same_can_be_left_out() -> None:
    accepted = [pair for pair in PAIRS if holds(without_pair(*pair))]
    assert accepted == []
    assert len(PAIRS) > 100


def timed() -> tuple[list[list[Batch]], list[Batch]]:
    """Return blocks about a trip, and the batches of family block_info with which they begin."""
    trip = Trip()
    groups = [
        registrations(),
        [one(trip.signer, trip.start)],
        *([build_batch(trip.signer, [trip.run([reading(at)])])] for at in range(2)),
        [build_batch(trip.signer, [trip.seal()])],
    ]
    times = [
        block_info_batch(key("node"), BlockHeader(block_num=at), "0" * 128, START_MS // 1000 + at)
        for at in range(len(groups))
    ]
    return [[begun, *group] for begun, group in zip(times, groups, strict=True)], times


TIMED, TIMES = timed()


@pytest.mark.parametrize("at", range(len(TIMES)))
def test_no_time_of_a_block_that_a_rule_read_can_be_left_out(at: int) -> None:
    told = evidence_of(TIMED, [Trip().trip_id])
    trust = trust_in(told.heads)
    assert verdict_on(told.wire(), trust).problems == []
    told.batches = [batch for batch in told.batches if batch is not TIMES[at]]
    told.prove()
    (problem, *_) = verdict_on(told.wire(), trust).problems
    assert "the ledger has another entry than the batches in the file lead to" in problem


def test_a_warm_trip_between_two_cold_ones_cannot_be_left_out() -> None:
    """It declares no delivery, and nothing was handed over on it."""
    first, warm, last = (Trip(nonce=bytes([number]) * 16) for number in range(3))
    hot = build(warm.signer, decode(warm.run([reading(0, 30_000)]).payload))
    hidden = build_batch(warm.signer, [warm.sign(warm.start), hot, warm.seal()])
    cold = [reading(number) for number in range(4)]
    told = evidence_of(
        [
            registrations(),
            [*first.whole(cold), *handed(loading(first.trip_id)), hidden],
            [*last.whole(cold), *handed(delivering(last.trip_id))],
        ],
        [first.trip_id, last.trip_id],
    )
    verdict = verdict_on(told.wire(), trust_in(told.heads))
    assert verdict.holds
    assert f"trip {warm.trip_id}, on which delivery delivery-1 went also" in not_shown(verdict)[0]
    trips = as_json(verdict)["trips"]
    assert [trip["deliveries"][0]["limits_kept"] for trip in trips] == [None, None]
    told.batches = [batch for batch in told.batches if batch is not hidden]
    told.prove()
    assert not verdict_on(told.wire(), trust_in(told.heads)).holds
