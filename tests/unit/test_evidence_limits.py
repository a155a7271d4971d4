"""Limits of evidence (docs/evidence.md): forgeries that no check finds, and what reveals them.

Each holds on purpose. Whoever closes one changes the page too. What an exporter can leave out
holds in format 1 only.
"""

import io
from contextlib import suppress

from contracts.evidence.expected import Expected
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.proto.payload_pb2 import RegisterDevice
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import (
    Evidence,
    evidence_of,
    story,
    trust_in,
)
from support.network.world import Trip, handovers, key, one, reading, registrations

VALUES = [reading(number) for number in range(3)]


def verdict_on(evidence: Evidence, *, format_1: bool = False) -> Verdict:
    wire = evidence.wire_of_format_1() if format_1 else evidence.wire()
    trust, expected = trust_in(evidence.heads), Expected(format_1=format_1)
    verdict = verify_evidence(io.BytesIO(wire), trust, [], expected)
    assert verdict.problems == []
    assert verdict.holds
    return verdict


def device(*names: str) -> RegisterDevice:
    keys = [key(name).public_key for name in names]
    return RegisterDevice(device_id="truck-1", party_id="carrier", public_keys=keys)


def test_all_but_signatures_of_parties_is_needed() -> None:
    told = story([b"a short clip"])
    whole = list(told.evidence.batches)
    spared = []
    for place in range(len(whole)):
        evidence = Evidence(
            told.evidence.header, told.evidence.heads, [*whole[:place], *whole[place + 1 :]]
        )
        with suppress(AssertionError):
            verdict_on(evidence, format_1=True)
            spared.append(whole[place])
    lot_and_signatures = registrations()[-3:]  # the lot's making; one signature, not both
    assert spared == [*lot_and_signatures, *handovers(told.trip.trip_id)]


def test_an_exporter_can_withhold_a_revocation() -> None:
    revoked = one(key("carrier"), device("truck-1b"))
    trip = Trip()
    evidence = evidence_of([registrations(), [revoked], trip.whole(VALUES)], [trip.trip_id])
    assert len(verdict_on(evidence).trips[trip.trip_id].findings) == 5
    evidence.batches.remove(revoked)
    assert verdict_on(evidence, format_1=True).trips[trip.trip_id].findings == []


def test_the_owner_can_give_a_device_another_key() -> None:
    forged = Trip(signer=key("carrier's own"))
    second = one(key("carrier"), device("truck-1", "carrier's own"))
    evidence = evidence_of([registrations(), [second], forged.whole(VALUES)], [forged.trip_id])
    told = verdict_on(evidence).trips[forged.trip_id]
    assert told.signers == {key("carrier's own").public_key}  # what shows it


def test_a_stolen_key_can_tell_two_stories_of_which_the_exporter_picks_one() -> None:
    first, second = Trip(), Trip()
    start = build_batch(first.signer, [first.sign(first.start)])
    true = build_batch(first.signer, [*map(first.record, VALUES), first.seal()])
    fake = build_batch(
        second.signer, [*(second.record(reading(each, 3000)) for each in range(3)), second.seal()]
    )
    evidence = evidence_of([registrations(), [start, true, fake]], [first.trip_id])
    assert "after-seal" in {
        each.rule for each in verdict_on(evidence).trips[first.trip_id].findings
    }
    evidence.batches.remove(true)
    assert verdict_on(evidence, format_1=True).trips[first.trip_id].findings == []


def test_the_block_signer_can_keep_two_ledgers() -> None:
    trip = Trip()
    batches = trip.whole(VALUES)
    told = evidence_of([registrations(), batches], [trip.trip_id])
    other = evidence_of([registrations(), [], batches], [trip.trip_id])
    first, second = verdict_on(told), verdict_on(other)
    assert first.genesis_id == second.genesis_id
    assert first.last_block_id != second.last_block_id  # what shows it
