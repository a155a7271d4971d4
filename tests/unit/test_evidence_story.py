"""The story in a verdict: its content, its limits, and its signers."""

from dataclasses import replace

import pytest

from contracts.actions.payload import build, decode
from contracts.evidence.container import Part
from contracts.evidence.corrected import CorrectedTimes
from contracts.evidence.report import as_json, breach_words, summary
from contracts.evidence.words import as_text
from contracts.proto.payload_pb2 import Limit, RegisterDevice, StartTrip
from contracts.proto.state_pb2 import Breach, Delivery
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import (
    evidence_of,
    pack,
    trust_in,
)
from support.evidence.forgery import (
    LONG,
    SHORT,
    STORY,
    TRUST,
    honest,
    problems,
    rebuilt,
    verdict_on,
)
from support.network.world import START_MS, Trip, handovers, key, one, reading, registrations


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


def test_a_handover_may_come_before_the_start_of_its_trip() -> None:
    trip_id = STORY.trip.trip_id
    groups = [registrations(), handovers(trip_id), STORY.batches]
    told = verdict_on(evidence_of(groups, [trip_id]).wire())
    assert [problem for problem in told.problems if "video" not in problem] == []
    (delivery,) = told.trips[trip_id].deliveries
    assert delivery.custodian_id == "buyer"
    missing = evidence_of(groups[:2], [trip_id])
    assert verdict_on(missing.wire()).problems == [f"trip {trip_id}: its start is missing"]


def test_without_keys_it_is_anchored_in_nothing() -> None:
    verdict = verdict_on(STORY.evidence.wire(), None)
    assert (verdict.problems, verdict.holds, summary(verdict)) == ([], False, "unanchored")
    assert verdict.genesis_id == TRUST.genesis_block_id
    assert verdict.block_signers == TRUST.block_signers
    assert verdict.admin_keys == TRUST.admin_keys
    assert "not anchored in a key you trust" in as_text(verdict)


def test_a_complete_forgery_under_new_keys() -> None:
    node, admin = key("forged node"), key("forged admin")
    parties = [one(admin, decode(batch.transactions[0].payload)) for batch in registrations()[:3]]
    groups = [parties, registrations()[3:], STORY.batches]
    forged = evidence_of(groups, [STORY.trip.trip_id], node, admin)
    assert verdict_on(forged.wire(), trust_in(forged.heads, node, admin)).holds
    assert summary(verdict_on(forged.wire(), None)) == "unanchored"
    assert "is not the trusted" in problems(forged)
    nothing = as_text(verdict_on(forged.wire(), TRUST))  # no block is judged, so none is told
    assert "\nledger: " not in nothing
    assert "what follows" not in nothing
    genesis = replace(TRUST, genesis_block_id=forged.heads[0].header_signature)
    assert f"{admin.public_key} is not in wayseal.admin_keys" in problems(forged, genesis)
    found = problems(forged, replace(genesis, admin_keys=frozenset({admin.public_key})))
    assert f"blocks are signed by {node.public_key}, which is not trusted" in found


# The header, and what it does not name.


def test_a_header_that_names_no_trip_twice_or_one_that_is_not_here() -> None:
    evidence = honest()
    evidence.header.trip_ids.append("0" * 32)
    assert f"trip {'0' * 32}: its start is missing" in problems(evidence)
    evidence.header.trip_ids[:] = [STORY.trip.trip_id] * 2
    assert "at least one trip, each once" in problems(evidence)
    evidence.header.trip_ids[:] = []
    assert "at least one trip" in problems(evidence)


def test_another_version() -> None:
    evidence = honest()
    evidence.header.version = 1
    assert "the header says version 1, expected 2" in problems(evidence)


def test_a_trip_that_the_header_does_not_name_is_not_told() -> None:
    other = Trip(nonce=bytes(15) + b"2", deliveries=[])
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
    assert "unknown kind 8" in text_of(pack([*frames, (8, b"")]))
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
    assert "a header frame of 4294967295 bytes, at most 1048576" in text_of(wire)


def test_findings_that_leave_the_story_whole_are_told_and_hold() -> None:
    trip = Trip()
    values = [reading(0), replace(reading(1), clock=replace(reading(1).clock, utc_ms=START_MS - 1))]
    evidence = evidence_of([registrations(), trip.whole(values)], [trip.trip_id])
    verdict = verdict_on(evidence.wire(), trust_in(evidence.heads))
    assert verdict.holds
    assert "finding: clock-back, 1 time" in as_text(verdict)


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


def test_handovers_that_were_signed_before_the_offload_are_part_of_the_story() -> None:
    trip = Trip()
    batches = [*handovers(trip.trip_id), *trip.whole([reading(0)])]
    groups = [registrations(), batches]
    told = verdict_on(evidence_of(groups, [trip.trip_id]).wire(), None)
    assert told.problems == []
    story = told.trips[trip.trip_id]
    assert [each.status for each in story.deliveries] == [Delivery.DELIVERED]


def test_a_finding_on_a_handover_before_the_offload_is_told() -> None:
    trip = Trip()
    batches = [*handovers(trip.trip_id)[2:], *trip.whole([reading(0)])]
    told = verdict_on(evidence_of([registrations(), batches], [trip.trip_id]).wire(), None)
    assert told.problems == []
    assert [each.rule for each in told.trips[trip.trip_id].findings] == [Rule.CUSTODY_GAP]
    assert "finding: custody-gap, 1 time" in as_text(told)


def test_a_key_that_was_revoked_later_is_told() -> None:
    """The trip stands, since nobody knows when a thief began; its reader should know of it."""
    trip = Trip()
    lost = RegisterDevice(
        device_id="truck-1", party_id="carrier", public_keys=[key("truck-1's new").public_key]
    )
    groups = [registrations(), trip.whole([reading(0)]), [one(key("carrier"), lost)]]
    evidence = evidence_of(groups, [trip.trip_id])
    verdict = verdict_on(evidence.wire(), trust_in(evidence.heads))
    assert verdict.holds
    signed_by = f"  signed by device key {trip.signer.public_key}"
    assert f"{signed_by}, which is revoked by now\n" in as_text(verdict)
    (told,) = as_json(verdict)["trips"]
    assert told["revoked_device_keys"] == [trip.signer.public_key]
    assert as_json(verdict_on(STORY.evidence.wire()))["trips"][0]["revoked_device_keys"] == []


@pytest.mark.parametrize(
    ("extreme", "words"), [(11_000, "up to 11 Cel"), (-500, "down to -0.5 Cel")]
)
def test_a_breach_says_on_which_side_of_the_limit_it_was(extreme: int, words: str) -> None:
    limit = Limit(quantity=Limit.TEMPERATURE_MCEL, minimum=2_000, maximum=8_000)
    said = breach_words(Breach(limit=limit, extreme=extreme), CorrectedTimes())
    assert said.startswith(f"temperature {words} ")
