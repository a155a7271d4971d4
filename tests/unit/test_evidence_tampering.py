"""Whoever changes an evidence file is caught, and the verdict says at what."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.evidence.container import Part
from contracts.evidence.report import as_text, summary
from contracts.evidence.trust import Trust
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.payload import FAMILY, build, canonical
from contracts.proto.evidence_pb2 import Blob, BlockHead, Header, LeafHashes
from contracts.proto.payload_pb2 import RegisterDevice, RegisterParty, StartTrip
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.blocks import build_block
from contracts.sawtooth.transactions import Family, build_transaction
from support.chain import (
    Evidence,
    blobs_of,
    chain_blocks,
    digest_of,
    evidence_of,
    genesis_batch,
    pack,
    story,
    trust_in,
)
from support.world import START_MS, Trip, key, one, reading, registrations

LONG = bytes(range(256)) * (BLOB_BYTES // 256) + b"more."
SHORT = b"a short clip" * 60
STORY = story([LONG, SHORT])
TRUST = trust_in(STORY.evidence.heads)
FIRST = len(registrations())
"""Place of the trip's first batch; then come two with readings, one with the seal."""
SEALED = FIRST + 2


def verdict_on(
    wire: bytes, trust: Trust | None = TRUST, videos: list[Path] | None = None
) -> Verdict:
    return verify_evidence(io.BytesIO(wire), trust, videos or [])


def problems(evidence: Evidence, trust: Trust | None = TRUST) -> str:
    """Return why `evidence` does not hold; it must not."""
    verdict = verdict_on(evidence.wire(), trust)
    assert not verdict.holds
    return "\n".join(verdict.problems)


def honest() -> Evidence:
    """Return the honest evidence, to be changed."""
    told = STORY.evidence
    header = Header.FromString(canonical(told.header))
    leaves = [LeafHashes.FromString(canonical(each)) for each in told.leaves]
    return Evidence(header, list(told.heads), list(told.batches), leaves, list(told.blobs))


def rebuilt(change: Callable[[list[list[Batch]]], object]) -> Evidence:
    """Return evidence of a ledger whose own signer took other batches: `change` says which."""
    groups = [list(registrations()), list(STORY.batches)]
    change(groups)
    return evidence_of(groups, [STORY.trip.trip_id])


def again(batch: Batch, transactions: list[Transaction] | None = None) -> Batch:
    """Return a copy of `batch` with other transactions under the old signature."""
    copy = Batch.FromString(canonical(batch))
    if transactions is not None:
        del copy.transactions[:]
        copy.transactions.extend(transactions)
    return copy


def test_honest_evidence_holds_and_tells_the_story() -> None:
    verdict = verdict_on(STORY.evidence.wire())
    assert verdict.problems == []
    assert (verdict.holds, summary(verdict)) == (True, "holds")
    told = verdict.trips[STORY.trip.trip_id]
    assert (told.readings, len(told.breaches), told.findings) == (10, 1, [])
    assert told.signers == {key("truck-1").public_key}
    assert sorted((video.digest.size, video.blobs) for video in verdict.videos) == [
        (len(SHORT), 1),
        (len(LONG), 2),
    ]


def test_without_keys_it_is_anchored_in_nothing() -> None:
    verdict = verdict_on(STORY.evidence.wire(), None)
    assert (verdict.problems, verdict.holds, summary(verdict)) == ([], False, "unanchored")
    assert verdict.genesis_id == TRUST.genesis_block_id
    assert verdict.block_signers == TRUST.block_signers
    assert verdict.admin_keys == TRUST.admin_keys
    assert "anchored in no key you trust" in as_text(verdict)


def test_a_complete_forgery_under_new_keys() -> None:
    node, admin = key("forged node"), key("forged admin")
    parties = [
        one(admin, RegisterParty(party_id=n, name=n, public_keys=[key(n).public_key]))
        for n in ("seller", "carrier", "buyer")
    ]
    groups = [parties, registrations()[3:], STORY.batches]
    forged = evidence_of(groups, [STORY.trip.trip_id], node)
    assert verdict_on(forged.wire(), trust_in(forged.heads, node, admin)).holds
    assert summary(verdict_on(forged.wire(), None)) == "unanchored"
    assert "is not the trusted" in problems(forged)
    assert f"{admin.public_key} is not in wayseal.admin_keys" in problems(forged)
    genesis = replace(TRUST, genesis_block_id=forged.heads[0].header_signature)
    found = problems(forged, replace(genesis, admin_keys=frozenset({admin.public_key})))
    assert f"blocks are signed by {node.public_key}, which is not trusted" in found


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
        (FIRST - 3, "unknown-device"),
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
    del evidence.batches[-2:]  # the handover, which names the delivery too
    assert verdict_on(evidence.wire()).trips[STORY.trip.trip_id].breaches
    del evidence.batches[FIRST - 2 : FIRST]
    assert "delivery-unknown: delivery delivery-1 does not exist" in problems(evidence)


@pytest.mark.parametrize("place", [0, FIRST, SEALED])
def test_a_duplicated_batch(place: int) -> None:
    evidence = honest()
    evidence.batches.insert(place, evidence.batches[place])
    assert "out of the ledger's order" in problems(evidence)


@pytest.mark.parametrize("place", [0, FIRST, SEALED + 1])
def test_two_batches_swapped(place: int) -> None:
    evidence = honest()
    here = evidence.batches[place : place + 2]
    evidence.batches[place : place + 2] = reversed(here)
    found = problems(evidence)
    assert "out of the ledger's order" in found or "which is missing" in found


def test_a_transaction_committed_twice_by_the_ledger() -> None:
    first = STORY.batches[0]
    twice = build_batch(key("truck-1"), first.transactions[:1])
    evidence = rebuilt(lambda groups: groups[1].insert(1, twice))
    assert "is here twice" in problems(evidence, trust_in(evidence.heads))


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
    assert f"block {place + 1} where block {place} is due" in problems(evidence)


def test_no_block_heads_at_all() -> None:
    evidence = honest()
    evidence.heads.clear()
    evidence.header.genesis_id = ""
    assert "is in no block" in problems(evidence)
    evidence.batches.clear()
    evidence.leaves.clear()
    evidence.blobs.clear()
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
    assert "the header names ledger" in problems(evidence)
    evidence.header.genesis_id = other[0].header_signature
    assert "is not the trusted" in problems(evidence)


# Video.


def test_altered_leaf_hashes() -> None:
    evidence = honest()
    hashes = bytearray(evidence.leaves[0].hashes)
    hashes[40] ^= 1
    evidence.leaves[0].hashes = bytes(hashes)
    assert "leaf hashes do not lead to the signed root" in problems(evidence)
    evidence.leaves[0].hashes = bytes(hashes[:32])
    assert "32 bytes of leaf hashes for 2 blobs" in problems(evidence)


def test_leaf_hashes_given_twice() -> None:
    evidence = honest()
    evidence.leaves.append(evidence.leaves[0])
    assert "its leaf hashes are here twice" in problems(evidence)


def blob(index: int, data: bytes, of: bytes = LONG) -> Blob:
    return Blob(recording_sha256=digest_of(of).sha256, index=index, data=data)


FRONT, BACK = blobs_of(LONG)


@pytest.mark.parametrize(
    ("blobs", "problem"),
    [
        ([blob(0, b"\x01" + FRONT[1:])], "blob 0: not the video that the device signed"),
        ([blob(0, FRONT), blob(1, b"less.")], "blob 1: not the video"),
        ([blob(0, FRONT), blob(1, BACK[:-1])], "blob 1: 4 bytes, expected 5"),
        ([blob(0, BACK), blob(1, FRONT)], "blob 0: 5 bytes, expected 1048576"),
        ([blob(1, BACK), blob(0, FRONT)], "blob 0: out of order"),
        ([blob(0, FRONT), blob(0, FRONT)], "blob 0: out of order"),
        ([blob(2, BACK)], "blob 2 of a file with 2 blobs"),
        ([blob(0, SHORT[::-1], SHORT)], "blob 0: not the video"),
        ([blob(0, b"clip", b"clip")], "no committed digest names it"),
    ],
)
def test_other_video_than_the_device_signed(blobs: list[Blob], problem: str) -> None:
    evidence = honest()
    evidence.blobs = blobs
    assert problem in problems(evidence)


def test_video_without_leaf_hashes() -> None:
    evidence = honest()
    evidence.leaves.clear()
    assert "no leaf hashes came before it" in problems(evidence)


def test_a_part_of_the_video_holds_and_is_counted() -> None:
    evidence = honest()
    evidence.blobs = [blob(1, BACK)]
    verdict = verdict_on(evidence.wire())
    assert verdict.holds
    assert f"{len(LONG)} bytes, 1 of 2 blobs in the file" in as_text(verdict)


def test_a_device_that_lies_about_the_whole_file() -> None:
    lie = replace(digest_of(SHORT), sha256=digest_of(b"another").sha256)
    trip = Trip()
    evidence = evidence_of([registrations(), trip.whole([reading(0)], [lie])], [trip.trip_id])
    evidence.add_video(SHORT)
    evidence.leaves[0].recording_sha256 = evidence.blobs[0].recording_sha256 = lie.sha256
    assert "whole file hashes to" in problems(evidence, trust_in(evidence.heads))
    empty = replace(digest_of(b""), sha256=lie.sha256)
    evidence = evidence_of([registrations(), Trip().whole([], [empty])], [trip.trip_id])
    assert "whole file hashes to" in problems(evidence, trust_in(evidence.heads))


def test_a_second_device_that_gives_a_video_another_tree() -> None:
    spy = RegisterDevice(device_id="spy", party_id="buyer", public_keys=[key("spy").public_key])
    trip, made = Trip(), digest_of(LONG)
    fake = digest_of(LONG[::-1])
    theirs = SpyTrip(device_id="spy", signer=key("spy"))
    start = build_batch(trip.signer, [trip.sign(trip.start)])
    lie = replace(made, tree_root=fake.tree_root)
    seal = theirs.seal([lie])
    rest = build_batch(trip.signer, [trip.record(reading(0)), sealed := trip.seal([made])])
    groups = [
        [*registrations(), one(key("buyer"), spy), start],
        [build_batch(theirs.signer, [seal]), theirs.video(lie, seal.header_signature)],
        [rest, trip.video(made, sealed.header_signature)],
    ]
    evidence = evidence_of(groups, [trip.trip_id])
    evidence.add_video(LONG[::-1], blobs=[0])
    evidence.leaves[0].recording_sha256 = evidence.blobs[0].recording_sha256 = made.sha256
    found = problems(evidence, trust_in(evidence.heads))
    assert "spy and truck-1 signed different sizes or trees" in found


class SpyTrip(Trip):
    """A device that takes part in a trip that another one started."""

    @property
    def trip_id(self) -> str:
        return Trip().trip_id


def test_a_second_device_that_withholds_its_video() -> None:
    spy = RegisterDevice(device_id="cam", party_id="carrier", public_keys=[key("cam").public_key])
    cam = SpyTrip(device_id="cam", signer=key("cam"))
    groups = [
        [*registrations(), one(key("carrier"), spy), *Trip().whole([reading(0)])],
        [build_batch(cam.signer, [cam.seal([digest_of(SHORT)])])],
    ]
    evidence = evidence_of(groups, [cam.trip_id])
    found = problems(evidence, trust_in(evidence.heads))
    assert "device cam: recording" in found
    assert "is sealed, its digest is missing" in found


def test_video_files_beside_the_evidence(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    wire = STORY.evidence.wire()
    path.write_bytes(LONG)
    assert verdict_on(wire, TRUST, [path]).holds
    for other in (LONG[:-1], LONG + b"!", b"", LONG[::-1]):
        path.write_bytes(other)
        verdict = verdict_on(wire, TRUST, [path])
        assert "is none of the 2 recordings" in "\n".join(verdict.problems)


# The header, and what it does not name.


def test_a_header_that_names_no_trip_twice_or_one_that_is_not_here() -> None:
    evidence = honest()
    evidence.header.trip_ids.append("0" * 32)
    assert f"trip {'0' * 32}: its start is missing" in problems(evidence)
    evidence.header.trip_ids[:] = [STORY.trip.trip_id] * 2
    assert "at least one trip, and none twice" in problems(evidence)
    evidence.header.trip_ids[:] = []
    assert "at least one trip" in problems(evidence)


def test_another_version() -> None:
    evidence = honest()
    evidence.header.version = 2
    assert "the header says version 2, expected 1" in problems(evidence)


def test_a_trip_that_the_header_does_not_name_is_not_told() -> None:
    other = Trip(nonce=bytes(15) + b"2")
    rest = other.whole([reading(each) for each in range(8)], size=3)
    evidence = rebuilt(lambda groups: groups[1].extend(rest))
    trust = trust_in(evidence.heads)
    del evidence.batches[-2:]  # its last readings and its seal
    verdict = verdict_on(evidence.wire(), trust)
    assert verdict.holds
    assert set(verdict.trips) == {STORY.trip.trip_id}
    evidence.header.trip_ids.append(other.trip_id)
    assert "no seal" in problems(evidence, trust)


def test_names_in_the_evidence_forge_no_verdict() -> None:
    trip = Trip()
    start = StartTrip()
    start.CopyFrom(trip.start)
    start.derived_from.add(role="track", name="x\nverdict: holds\x1b[2J", sha256=bytes(32))
    batch = build_batch(trip.signer, [build(trip.signer, start), trip.seal()])
    evidence = evidence_of([registrations(), [batch]], [trip.trip_id])
    text = as_text(verdict_on(evidence.wire(), None))
    assert "\nverdict: holds" not in text
    assert "\x1b" not in text
    assert r"x\nverdict: holds\x1b[2J" in text


# Frames.


def test_frames_in_another_order_or_of_another_kind() -> None:
    frames = STORY.evidence.frames()
    assert "a header frame after a block_head" in text_of(pack([frames[1], frames[0]]))
    assert "a second header frame" in text_of(pack([frames[0], frames[0]]))
    assert "unknown kind 7" in text_of(pack([*frames, (7, b"")]))
    assert "the header frame is missing" in text_of(pack(frames[1:2]))
    assert "the header frame is missing" in text_of(pack([]))


def text_of(wire: bytes) -> str:
    verdict = verdict_on(wire)
    assert not verdict.holds
    return "\n".join(verdict.problems)


def test_bytes_after_the_end() -> None:
    assert "bytes follow the end" in text_of(STORY.evidence.wire() + b"\0")


def test_an_oversized_frame_is_refused_before_it_is_read() -> None:
    wire = STORY.evidence.wire()[:19] + bytes([Part.HEADER]) + b"\xff\xff\xff\xff"
    assert "a frame of 4294967295 bytes, at most 67108864" in text_of(wire)


def test_findings_that_leave_the_story_whole_are_told_and_hold() -> None:
    trip = Trip()
    values = [reading(0), replace(reading(1), clock=replace(reading(1).clock, utc_ms=START_MS - 1))]
    evidence = evidence_of([registrations(), trip.whole(values)], [trip.trip_id])
    verdict = verdict_on(evidence.wire(), trust_in(evidence.heads))
    assert verdict.holds
    assert "finding: clock-back, 1 times" in as_text(verdict)


def test_readings_in_anothers_name_are_found_and_not_counted() -> None:
    spy = RegisterDevice(device_id="spy", party_id="buyer", public_keys=[key("spy").public_key])
    trip, forged = Trip(), Trip(signer=key("spy"))
    start = build_batch(trip.signer, [trip.sign(trip.start)])
    noise = build_batch(key("spy"), [forged.record(reading(90)), forged.seal()])
    rest = build_batch(trip.signer, [trip.record(reading(0)), trip.seal()])
    groups = [[*registrations(), one(key("buyer"), spy), start, noise, rest]]
    evidence = evidence_of(groups, [trip.trip_id])
    verdict = verdict_on(evidence.wire(), trust_in(evidence.heads))
    told = verdict.trips[trip.trip_id]
    assert (verdict.holds, told.readings, told.last_ms) == (True, 1, START_MS)
    assert told.signers == {trip.signer.public_key}
    assert "finding: signer-mismatch, 2 times" in as_text(verdict)


def test_what_was_replayed_is_labelled() -> None:
    trip = Trip()
    values = [reading(0), replace(reading(1), derived=True)]
    evidence = evidence_of([registrations(), trip.whole(values)], [trip.trip_id])
    text = as_text(verdict_on(evidence.wire(), trust_in(evidence.heads)))
    assert "derived: 1 of 2 readings" in text


def test_the_height_and_last_block_are_told_for_comparison() -> None:
    verdict = verdict_on(STORY.evidence.wire())
    assert verdict.blocks == len(STORY.evidence.heads)
    assert verdict.last_block_id == STORY.evidence.heads[-1].header_signature
    assert verdict.last_block_id in as_text(verdict)
