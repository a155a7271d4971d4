"""Seals and video digests: a withheld recording is found missing."""

from dataclasses import replace

import pytest

from contracts import address
from contracts.actions.payload import build, decode
from contracts.proto.payload_pb2 import RecordVideo, SealedRecording, SealTrip
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import Chain
from contracts.records.recording import RecordingDigest
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import digest_of
from support.ledgers.hosts import Host, apply_all, refused, rules_found
from support.network.world import Trip, key, one, reading, registrations

FIRST, SECOND = digest_of(b"first"), digest_of(b"second")
COMMITTED = registrations()[0].transactions[0].header_signature
"""A transaction, and no seal; a ledger never executes what depends on an unknown one."""


def ready(host: Host, readings: int = 3) -> Trip:
    """Drive a trip on `host`, up to its seal."""
    trip = Trip()
    driven = [trip.sign(trip.start), *(trip.record(reading(each)) for each in range(readings))]
    apply_all(host, [*registrations(), build_batch(trip.signer, driven)])
    return trip


def seal(host: Host, trip: Trip, *recordings: RecordingDigest) -> str:
    """Commit the seal; return its id."""
    batch = build_batch(trip.signer, [trip.seal(recordings)])
    assert rules_found(host.apply(batch)) == []
    return batch.transactions[0].header_signature


def chain(host: Host, trip: Trip) -> Chain:
    return Chain.FromString(host.state(address.chain(trip.trip_id, trip.device_id)) or b"")


def seal_of(batch: Batch) -> SealTrip:
    action = decode(batch.transactions[0].payload)
    assert isinstance(action, SealTrip)
    return action


def digest_action(trip: Trip, sealed: str, **changes: object) -> RecordVideo:
    action = RecordVideo(
        trip_id=trip.trip_id,
        device_id=trip.device_id,
        sha256=FIRST.sha256,
        size=FIRST.size,
        tree_root=FIRST.tree_root,
        seal_transaction_id=sealed,
    )
    for name, value in changes.items():
        setattr(action, name, value)
    return action


def test_sealed_videos_are_recorded_without_findings(host: Host) -> None:
    trip = ready(host)
    sealed = seal(host, trip, FIRST, SECOND)
    events = apply_all(host, [trip.video(SECOND, sealed), trip.video(FIRST, sealed)])
    assert rules_found(events) == []
    assert list(chain(host, trip).recorded_videos) == [SECOND.sha256, FIRST.sha256]


def test_no_video_before_the_seal(host: Host) -> None:
    trip = ready(host)
    assert refused(host, trip.video(FIRST, COMMITTED)) is Rule.NOT_SEALED


def test_no_video_before_all_sealed_readings(host: Host) -> None:
    trip = ready(host)
    trip.record(reading(3))  # sealed, and never committed
    batch = build_batch(trip.signer, [trip.seal([FIRST])])
    assert rules_found(host.apply(batch)) == [Rule.SEAL_MISMATCH]
    video = trip.video(FIRST, batch.transactions[0].header_signature)
    assert refused(host, video) is Rule.READINGS_MISSING


def test_a_video_names_and_depends_on_the_seal(host: Host) -> None:
    trip = ready(host)
    sealed = seal(host, trip, FIRST)
    assert refused(host, trip.video(FIRST, COMMITTED)) is Rule.SEAL_NOT_NAMED
    alone = build_batch(trip.signer, [build(trip.signer, digest_action(trip, sealed))])
    assert refused(host, alone) is Rule.SEAL_NOT_NAMED


def test_a_video_that_the_seal_does_not_name_is_found_and_not_kept(host: Host) -> None:
    trip = ready(host)
    sealed = seal(host, trip, FIRST)
    assert rules_found(host.apply(trip.video(SECOND, sealed))) == [Rule.RECORDING_NOT_SEALED]
    assert not chain(host, trip).recorded_videos


def test_a_digest_of_another_size_does_not_stand_for_the_sealed_one(host: Host) -> None:
    trip = ready(host)
    sealed = seal(host, trip, FIRST)
    shorter = replace(FIRST, size=FIRST.size - 1)
    assert rules_found(host.apply(trip.video(shorter, sealed))) == [Rule.RECORDING_NOT_SEALED]
    assert rules_found(host.apply(trip.video(FIRST, sealed))) == []


def test_a_video_recorded_twice_is_found(host: Host) -> None:
    trip = ready(host)
    sealed = seal(host, trip, FIRST)
    host.apply(trip.video(FIRST, sealed))
    again = replace(FIRST, tree_root=bytes(32))
    assert rules_found(host.apply(trip.video(again, sealed))) == [Rule.RECORDING_REPEATED]
    assert len(chain(host, trip).recorded_videos) == 1


@pytest.mark.parametrize("name", ["stranger", "carrier"])
def test_a_video_by_no_device_is_refused(host: Host, name: str) -> None:
    trip = ready(host)
    sealed = seal(host, trip, FIRST)
    assert refused(host, Trip(signer=key(name)).video(FIRST, sealed)) is Rule.UNKNOWN_DEVICE


def test_a_video_by_another_device_is_refused(host: Host) -> None:
    trip = ready(host)
    sealed = seal(host, trip, FIRST)
    action = digest_action(trip, sealed, device_id="truck-2")
    assert refused(host, one(trip.signer, action, [sealed])) is Rule.UNKNOWN_DEVICE


def test_the_first_seal_stands(host: Host) -> None:
    trip = ready(host)
    sealed = seal(host, trip, FIRST)
    again = build_batch(trip.signer, [trip.seal()])
    assert rules_found(host.apply(again)) == [Rule.SEAL_REPEATED]
    assert chain(host, trip).seal_transaction_id == sealed


def test_a_seal_over_other_readings_is_found(host: Host) -> None:
    trip = ready(host)
    trip.records.pop()
    batch = build_batch(trip.signer, [trip.seal()])
    assert rules_found(host.apply(batch)) == [Rule.SEAL_MISMATCH]


def test_a_trip_without_readings_can_be_sealed(host: Host) -> None:
    trip = ready(host, readings=0)
    made = trip.seal([FIRST])
    found = rules_found(host.apply(build_batch(trip.signer, [made])))
    assert found == [Rule.QUANTITY_MISSING]
    assert rules_found(host.apply(trip.video(FIRST, made.header_signature))) == []


HASHES = [bytes([number // 256, number % 256]) * 16 for number in range(513)]


@pytest.mark.parametrize(
    "changes",
    [
        {"trip_id": "no trip"},
        {"device_id": "a\nb"},
        {"head_sha256": b""},
        {"head_sha256": bytes(31)},
        {"reading_count": 0},
    ],
)
def test_a_seal_that_is_not_well_formed_is_refused(host: Host, changes: dict[str, object]) -> None:
    trip = ready(host)
    action = seal_of(build_batch(trip.signer, [trip.seal()]))
    for name, value in changes.items():
        setattr(action, name, value)
    assert refused(host, one(trip.signer, action)) is Rule.FORM


@pytest.mark.parametrize("names", [[b"x" * 31], [b"y" * 32, b"x" * 32], [b"x" * 32] * 2, HASHES])
def test_sealed_recordings_are_sorted_different_and_not_too_many(
    host: Host, names: list[bytes]
) -> None:
    trip = ready(host)
    action = seal_of(build_batch(trip.signer, [trip.seal()]))
    action.recordings.extend(SealedRecording(sha256=name, size=1) for name in names)
    assert refused(host, one(trip.signer, action)) is Rule.FORM


@pytest.mark.parametrize(
    "changes",
    [
        {"sha256": bytes(31)},
        {"tree_root": b""},
        {"size": 1 << 63},
        {"started_at_ms": (1 << 64) - 1},
        {"duration_ms": (1 << 64) - 1},
        {"trip_id": "no trip"},
    ],
)
def test_a_video_digest_that_is_not_well_formed_is_refused(
    host: Host, changes: dict[str, object]
) -> None:
    trip = ready(host)
    sealed = seal(host, trip, FIRST)
    action = digest_action(trip, sealed, **changes)
    assert refused(host, one(trip.signer, action, [sealed])) is Rule.FORM
