"""The ends of a trip's chain: it begins in the journal, and ends with a seal and digests."""

from collections.abc import Sequence
from dataclasses import replace

from contracts.actions.payload import build
from contracts.keys import Signer
from contracts.proto.payload_pb2 import RecordVideo, SealedRecording, SealTrip, StartTrip
from contracts.records.reading import Clock
from contracts.records.recording import pseudo_file_id
from device.chain.joining import StartedTrip
from device.journal.logbook import Logbook
from device.journal.trip import Pending, Recording, Trip, TripState


def begin(
    logbook: Logbook, signer: Signer, *, start: StartTrip, clock: Clock, input_id: bytes
) -> Trip:
    """Start a trip, durably.

    Raises:
        RejectedError: Another trip is open.
        UnavailableError: The journal is full, or the medium failed.
    """
    trip = _opened(input_id, start.device_id, start, "", clock)
    transaction = build(signer, start, version=trip.rules)
    trip = replace(trip, last_transaction_id=transaction.header_signature)
    logbook.begin(trip, [Pending(transaction.SerializeToString())])
    return trip


def join(
    logbook: Logbook, *, device_id: str, joined: StartedTrip, clock: Clock, input_id: bytes
) -> Trip:
    """Begin a chain, durably, on a trip that another device started.

    Its first transaction depends on that start: the ledger takes it only after the start.

    Raises:
        RejectedError: Another trip is open.
        UnavailableError: The journal is full, or the medium failed.
    """
    trip = replace(
        _opened(input_id, device_id, joined.start, joined.transaction_id, clock),
        joined_at_ms=clock.utc_ms,
    )
    logbook.begin(trip, [])
    return trip


def seal_of(trip: Trip, recordings: Sequence[Recording]) -> SealTrip:
    """Return the seal of a trip whose readings are all committed."""
    digests = sorted((item.digest for item in recordings), key=lambda digest: digest.sha256)
    return SealTrip(
        trip_id=trip.trip_id,
        device_id=trip.device_id,
        reading_count=trip.readings,
        head_sha256=trip.head_sha256,
        recordings=[SealedRecording(sha256=item.sha256, size=item.size) for item in digests],
        clock=trip.clock.message(),
    )


def digest_of(trip: Trip, recording: Recording, seal_id: str) -> RecordVideo:
    """Return what the ledger keeps of a recording; `seal_id` is the id of the trip's seal."""
    return RecordVideo(
        trip_id=trip.trip_id,
        device_id=trip.device_id,
        sha256=recording.digest.sha256,
        size=recording.digest.size,
        tree_root=recording.digest.tree_root,
        pseudo_file_id=pseudo_file_id(trip.device_id, f"{trip.trip_id}/{recording.name}"),
        media_type=recording.media_type,
        started_at_ms=recording.started_at_ms or trip.began_at_ms,
        duration_ms=recording.duration_ms,
        derived=bool(recording.source_sha256),
        source_sha256=recording.source_sha256,
        seal_transaction_id=seal_id,
    )


def _opened(input_id: bytes, device_id: str, start: StartTrip, start_id: str, clock: Clock) -> Trip:
    return Trip(
        trip_id=start.trip_id,
        input_id=input_id,
        device_id=device_id,
        start=start,
        state=TripState.OPEN,
        reported=False,
        readings=0,
        head_sha256=b"",
        last_transaction_id=start_id,
        clock=clock,
    )
