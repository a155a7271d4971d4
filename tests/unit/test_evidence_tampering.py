"""A change to the ledger's part of an evidence file is found, and the verdict names it."""

import pytest

from contracts.actions.payload import FAMILY
from contracts.proto.evidence_pb2 import BlockHead
from contracts.proto.payload_pb2 import RegisterDevice
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from contracts.sawtooth.blocks import build_block
from support.evidence.chain import (
    chain_blocks,
    evidence_of,
    genesis_batch,
    pack,
    trust_in,
)
from support.evidence.forgery import (
    FIRST,
    SEALED,
    STORY,
    again,
    honest,
    problems,
    rebuilt,
    verdict_on,
)
from support.network.world import Trip, key, one, reading, registrations

# What goes on inside a batch: the device's signatures.


def test_a_reading_removed_from_its_batch() -> None:
    evidence = honest()
    batch = evidence.batches[FIRST]
    evidence.batches[FIRST] = again(batch, [batch.transactions[0], *batch.transactions[2:]])
    assert "header names 4 transactions, the batch holds 3" in problems(evidence)


def test_two_readings_swapped() -> None:
    evidence = honest()
    start, one_, two, three = evidence.batches[FIRST].transactions
    evidence.batches[FIRST] = again(evidence.batches[FIRST], [start, two, one_, three])
    assert "stand in another order" in problems(evidence)


def test_an_altered_reading() -> None:
    evidence = honest()
    evidence.batches[FIRST] = again(evidence.batches[FIRST])
    evidence.batches[FIRST].transactions[1].payload = STORY.batches[0].transactions[2].payload
    assert "payload SHA-512 is" in problems(evidence)


def test_a_reading_of_another_trip_inserted() -> None:
    other = Trip(nonce=bytes(15) + b"2")
    evidence = honest()
    batch = evidence.batches[FIRST]
    inserted = [*batch.transactions, other.record(reading(0))]
    evidence.batches[FIRST] = again(batch, inserted)
    assert "header names 4 transactions, the batch holds 5" in problems(evidence)
    committed = rebuilt(
        lambda groups: groups[1].insert(1, build_batch(other.signer, [other.record(reading(0))]))
    )
    assert f"unknown-trip: trip {other.trip_id}" in problems(committed, trust_in(committed.heads))


def test_a_foreign_signature_on_a_reading() -> None:
    evidence = honest()
    evidence.batches[FIRST] = again(evidence.batches[FIRST])
    first = evidence.batches[FIRST].transactions[0]
    first.header_signature = key("stranger").sign(first.header)
    assert "differ" in problems(evidence)


def test_a_foreign_batcher() -> None:
    evidence = honest()
    evidence.batches[FIRST] = build_batch(
        key("gateway-buyer"), evidence.batches[FIRST].transactions
    )
    assert "made for batcher" in problems(evidence)


def test_a_forged_device() -> None:
    forged = Trip(signer=key("stranger")).whole([reading(0)])
    evidence = rebuilt(lambda groups: groups.__setitem__(1, forged))
    found = problems(evidence, trust_in(evidence.heads))
    assert f"unknown-device: key {key('stranger').public_key}" in found


def test_a_flag_that_no_signature_covers() -> None:
    evidence = honest()
    evidence.batches[0] = again(evidence.batches[0])
    evidence.batches[0].trace = True
    assert "`trace` set" in problems(evidence)


def test_bytes_that_no_field_holds() -> None:
    unknown = b"\x98\x06\x01"
    for place in range(len(STORY.evidence.frames())):
        frames = STORY.evidence.frames()
        kind, payload = frames[place]
        frames[place] = kind, payload + unknown
        verdict = verdict_on(pack(frames))
        assert "not in canonical encoding" in "\n".join(verdict.problems)


# What goes on between batches: the chain of readings, the seal, dependencies.


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (FIRST, "which is missing"),
        (FIRST + 1, "which is missing"),
        (SEALED, "which is missing"),
        (0, "not-the-party"),
        (FIRST - 4, "unknown-device"),
        (SEALED + 1, "its digest is missing"),
        (SEALED + 2, "its digest is missing"),
    ],
)
def test_an_omitted_batch(place: int, problem: str) -> None:
    evidence = honest()
    del evidence.batches[place]
    evidence.leaves.clear()
    evidence.blobs.clear()
    assert problem in problems(evidence)


def test_the_last_readings_and_the_seal_omitted() -> None:
    evidence = honest()
    del evidence.batches[SEALED : SEALED + 3]
    evidence.leaves.clear()
    evidence.blobs.clear()
    assert "no seal, so readings may be missing" in problems(evidence)


def test_readings_omitted_where_no_dependency_tells() -> None:
    trip = Trip()
    values = [trip.record(reading(each)) for each in range(4)]
    batches = [
        build_batch(trip.signer, [trip.sign(trip.start), values[0]]),
        build_batch(trip.signer, [values[1]]),
        build_batch(trip.signer, [values[2]]),
        build_batch(trip.signer, [values[3], trip.seal()]),
    ]
    evidence = evidence_of([registrations(), batches], [trip.trip_id])
    trust = trust_in(evidence.heads)
    assert verdict_on(evidence.wire(), trust).holds
    del evidence.batches[-3]
    found = problems(evidence, trust)
    assert "sequence-gap: 1 was expected next" in found
    assert "seal-mismatch: seals 4 readings" in found


def test_the_first_reading_omitted() -> None:
    trip = Trip()
    start, zero, one_ = trip.sign(trip.start), trip.record(reading(0)), trip.record(reading(1))
    batches = [build_batch(trip.signer, [each]) for each in (start, zero, one_, trip.seal())]
    evidence = evidence_of([registrations(), batches], [trip.trip_id])
    trust = trust_in(evidence.heads)
    del evidence.batches[-3]
    assert "sequence-gap: 0 was expected next" in problems(evidence, trust)


def test_the_terms_omitted_so_that_no_limit_is_known() -> None:
    evidence = honest()
    del evidence.batches[-4:]  # the handovers, which name the delivery too
    assert verdict_on(evidence.wire()).trips[STORY.trip.trip_id].breaches
    del evidence.batches[FIRST - 2 : FIRST]
    assert "delivery-unknown: delivery delivery-1 does not exist" in problems(evidence)


@pytest.mark.parametrize("place", [0, FIRST, SEALED])
def test_a_duplicated_batch(place: int) -> None:
    evidence = honest()
    evidence.batches.insert(place, evidence.batches[place])
    assert "is not in the ledger's order" in problems(evidence)


@pytest.mark.parametrize("place", [0, FIRST, SEALED + 1])
def test_two_batches_swapped(place: int) -> None:
    evidence = honest()
    here = evidence.batches[place : place + 2]
    evidence.batches[place : place + 2] = reversed(here)
    found = problems(evidence)
    assert "is not in the ledger's order" in found or "which is missing" in found


def test_a_transaction_committed_twice_by_the_ledger() -> None:
    first = STORY.batches[0]
    twice = build_batch(key("truck-1"), first.transactions[:1])
    evidence = rebuilt(lambda groups: groups[1].insert(1, twice))
    assert "comes twice" in problems(evidence, trust_in(evidence.heads))


def test_rules_of_another_version() -> None:
    signer = key("truck-1")
    transaction = build_transaction(
        signer,
        Family(FAMILY.name, "2.0"),
        b"",
        batcher_public_key=signer.public_key,
        inputs=[],
        outputs=[],
    )
    evidence = rebuilt(lambda groups: groups.append([build_batch(signer, [transaction])]))
    assert "knows the rules of 1.0" in problems(evidence, trust_in(evidence.heads))


# What goes on around batches: blocks.


def test_a_batch_that_no_block_took() -> None:
    evidence = honest()
    evidence.batches.append(one(key("carrier"), RegisterDevice(device_id="x", party_id="carrier")))
    assert "is in no block" in problems(evidence)


def test_a_forged_block_signature() -> None:
    evidence = honest()
    head = evidence.heads[2]
    forged = key("stranger").sign(head.header)
    evidence.heads[2] = BlockHead(header=head.header, header_signature=forged)
    assert "block 2 (" in problems(evidence)
    assert "signature does not match" in problems(evidence)


@pytest.mark.parametrize("place", [0, 1, 3])
def test_an_omitted_block_head(place: int) -> None:
    evidence = honest()
    del evidence.heads[place]
    assert f"block {place + 1} where block {place} is expected" in problems(evidence)


def test_no_block_heads_at_all() -> None:
    evidence = honest()
    evidence.heads.clear()
    assert "is in no block" in problems(evidence)
    evidence.header.genesis_id = ""
    assert "is not the trusted" in problems(evidence)


def test_a_fork() -> None:
    evidence = honest()
    fork = build_block(
        key("node"),
        evidence.batches[FIRST:],
        block_num=2,
        previous_block_id="0" * 128,
        consensus=b"",
        state_root_hash="",
    )
    evidence.heads[2] = BlockHead(header=fork.header, header_signature=fork.header_signature)
    assert "block 2 follows 0000000000000000…, the block before it is" in problems(evidence)


def test_another_genesis() -> None:
    evidence = honest()
    other = chain_blocks([[genesis_batch(key("other"))], evidence.batches])
    evidence.heads = other
    assert "which is not the trusted" in problems(evidence)
    assert "the header names ledger" in problems(evidence, None)
    evidence.header.genesis_id = other[0].header_signature
    assert "is not the trusted" in problems(evidence)
