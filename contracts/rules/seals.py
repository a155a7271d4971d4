"""Seals: what a device says it recorded on a trip, so that what is withheld shows as missing."""

from typing import Final

from contracts import address
from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError
from contracts.ids import check_id, check_trip_id
from contracts.proto.payload_pb2 import RecordVideo, SealTrip
from contracts.proto.state_pb2 import Chain
from contracts.records.clock import Clock, check_utc_ms
from contracts.records.recording import RecordingDigest
from contracts.rules import excursions
from contracts.rules.case import Case, Notes, invalid
from contracts.rules.ids import Rule

RECORDINGS_MAX: Final = 512
"""Recordings that one device makes on one trip."""


def seal_trip(action: SealTrip, case: Case) -> None:
    """Close a device's chain: nothing counts after it, and what it names must all be there."""
    check_trip_id(action.trip_id)
    check_id("device", action.device_id)
    Clock.from_message(action.clock)
    _check_sealed_recordings(action)
    key = case.device_key()
    trip = case.trip(action.trip_id)
    notes = Notes(case, action.trip_id, action.device_id, [])
    if key.revoked:
        notes.add(Rule.KEY_REVOKED, f"key {case.signer} was revoked")
    chain = case.chain(action.trip_id, action.device_id)
    if key.owner_id != action.device_id:
        notes.add(Rule.SIGNER_MISMATCH, f"signed by {key.owner_id}; seals nothing")
    elif chain.HasField("seal"):
        notes.add(Rule.SEAL_REPEATED, "the first seal stands")
    else:
        if (action.reading_count, action.head_sha256) != (chain.count, chain.head_sha256):
            notes.add(
                Rule.SEAL_MISMATCH,
                f"seals {action.reading_count} readings up to {action.head_sha256.hex()[:16]}, "
                f"committed are {chain.count} up to {chain.head_sha256.hex()[:16]}",
            )
        excursions.close(trip, chain, case)
        chain.seal.CopyFrom(action)
        chain.seal_transaction_id = case.transaction_id
        case.store(address.chain(action.trip_id, action.device_id), chain)
    notes.record()


def record_video(action: RecordVideo, case: Case) -> None:
    """Record a video's digest, once all readings that its device sealed are committed."""
    check_trip_id(action.trip_id)
    check_utc_ms("started_at_ms", action.started_at_ms)
    check_utc_ms("duration_ms", action.duration_ms)
    RecordingDigest(action.sha256, action.size, action.tree_root)
    key = case.device_key()
    case.trip(action.trip_id)
    if key.owner_id != action.device_id:
        raise invalid(
            Rule.UNKNOWN_DEVICE, f"signed by {key.owner_id}, the digest names {action.device_id}"
        )
    chain = case.chain(action.trip_id, action.device_id)
    _check_sealed(action, chain, case)
    notes = Notes(case, action.trip_id, action.device_id, [])
    if key.revoked:
        notes.add(Rule.KEY_REVOKED, f"key {case.signer} was revoked")
    if action.sha256 in chain.recorded_videos:
        notes.add(Rule.RECORDING_REPEATED, f"{action.sha256.hex()} was recorded before")
    elif (action.sha256, action.size) not in {
        (sealed.sha256, sealed.size) for sealed in chain.seal.recordings
    }:
        # Not kept in the chain: it would grow without limit, and stand for the sealed one.
        notes.add(
            Rule.RECORDING_NOT_SEALED,
            f"the seal does not name {action.sha256.hex()} with {action.size} bytes",
        )
    else:
        chain.recorded_videos.append(action.sha256)
        case.store(address.chain(action.trip_id, action.device_id), chain)
    notes.record()


def _check_sealed_recordings(action: SealTrip) -> None:
    names = [recording.sha256 for recording in action.recordings]
    if names != sorted(set(names)) or len(names) > RECORDINGS_MAX:
        raise RejectedError(
            f"a seal names up to {RECORDINGS_MAX} different recordings, sorted by SHA-256"
        )
    if any(len(name) != HASH_BYTES for name in names):
        raise RejectedError(f"a recording's SHA-256 is {HASH_BYTES} bytes")
    if len(action.head_sha256) != (HASH_BYTES if action.reading_count else 0):
        raise RejectedError(f"the head of a chain is {HASH_BYTES} bytes, or none for no readings")


def _check_sealed(action: RecordVideo, chain: Chain, case: Case) -> None:
    if not chain.HasField("seal"):
        raise invalid(Rule.NOT_SEALED, f"{action.device_id} has not sealed trip {action.trip_id}")
    seal = chain.seal_transaction_id
    if action.seal_transaction_id != seal or seal not in case.header.dependencies:
        raise invalid(Rule.SEAL_NOT_NAMED, f"must name and depend on the seal {seal[:16]}…")
    if chain.count < chain.seal.reading_count:
        raise invalid(
            Rule.READINGS_MISSING,
            f"{chain.seal.reading_count} readings are sealed, {chain.count} are committed",
        )
