"""A trip in the making: readings are signed, chained, batched and made durable.

    reading -> RecordReading -> signed transaction -> batch -> journal (fsync)

What `record` takes counts only after `commit`. A failed commit leaves the
object ahead of the medium: drop it and continue from the journal.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Self

from contracts.keys import Signer
from contracts.payload import Action, build
from contracts.proto.payload_pb2 import RecordVideo, SealedRecording, SealTrip, StartTrip
from contracts.records.clock import Clock
from contracts.records.reading import Reading, record_of
from contracts.records.recording import pseudo_file_id
from device.batcher import Batcher, BatchLimits
from device.journal.logbook import Logbook
from device.journal.trip import Pending, Recording, SignedBatch, Trip, TripState

GROUP_READINGS: Final = 500
"""Most readings that one commit makes durable; more are lost to a power cut, but not reported."""


class Journey:
    """The open trip.

    Args:
        logbook: The journal.
        signer: The device's key.
        limits: When a batch closes.
        trip: As the journal has it.
    """

    def __init__(self, logbook: Logbook, signer: Signer, limits: BatchLimits, trip: Trip) -> None:
        self._logbook = logbook
        self._signer = signer
        self._trip = trip
        self._link = trip.link
        self._last_id = trip.last_transaction_id
        self._clock = trip.clock
        self._deliveries = trip.delivery_addresses
        self._batcher = Batcher(signer, limits, logbook.pending(trip.trip_id))
        self._closed: list[SignedBatch] = []
        self._pending: list[Pending] = []

    @classmethod
    def begin(
        cls,
        logbook: Logbook,
        signer: Signer,
        limits: BatchLimits,
        *,
        start: StartTrip,
        clock: Clock,
        input_id: bytes,
    ) -> Self:
        """Start a trip, durably.

        Raises:
            RejectedError: Another trip is open.
            UnavailableError: The journal is full, or the medium failed.
        """
        transaction = build(signer, start)
        first = transaction.header_signature
        trip = Trip(input_id, start, TripState.OPEN, False, 0, b"", first, clock)  # noqa: FBT003
        logbook.begin(trip, Pending(transaction.SerializeToString(), None))
        return cls(logbook, signer, limits, trip)

    @property
    def trip(self) -> Trip:
        """The trip as the last commit left it."""
        return self._trip

    @property
    def uncommitted(self) -> int:
        """Number of readings that are not durable yet."""
        return self._link.sequence - self._trip.readings

    def record(self, reading: Reading) -> None:
        """Sign `reading` and chain it to the one before."""
        if len(self._batcher) and self._batcher.is_full(reading.clock.monotonic_ms):
            self._close_batch()
        record = record_of(reading, self._link)
        self._sign(record, reading.clock.monotonic_ms)
        self._link = self._link.after(record)
        self._clock = reading.clock

    def commit(self) -> None:
        """Make durable what was recorded since the last commit.

        Raises:
            UnavailableError: The journal is full, or the medium failed.
        """
        if self.uncommitted:
            trip = self._standing(TripState.OPEN)
            self._logbook.append(trip, self._closed, self._pending)
            self._trip, self._closed, self._pending = trip, [], []

    def close(self) -> Trip:
        """Seal the trip and sign the digest of every recording, durably.

        Raises:
            UnavailableError: The medium failed.
        """
        self.commit()
        recordings = self._logbook.recordings(self._trip.trip_id)
        self._sign(self._seal(recordings), None)
        seal_id = self._last_id
        self._close_batch()
        for recording in recordings:
            self._sign(self._digest(recording, seal_id), None, (seal_id,))
            self._close_batch(recording.digest.sha256)
        trip = replace(
            self._standing(TripState.SEALED),
            last_transaction_id=seal_id,
            seal_transaction_id=seal_id,
        )
        self._logbook.seal(trip, self._closed)
        self._trip, self._closed, self._pending = trip, [], []
        return trip

    def _sign(
        self, action: Action, monotonic_ms: int | None, dependencies: Sequence[str] | None = None
    ) -> None:
        if dependencies is None:
            # Only the first of a batch names its predecessor: within a batch order is given.
            dependencies = () if len(self._batcher) else (self._last_id,)
        deliveries = self._deliveries if monotonic_ms is not None else ()
        transaction = build(self._signer, action, dependencies=dependencies, deliveries=deliveries)
        wire = transaction.SerializeToString()
        self._batcher.add(transaction, monotonic_ms, len(wire))
        self._pending.append(Pending(wire, monotonic_ms))
        self._last_id = transaction.header_signature

    def _close_batch(self, digest_of: bytes | None = None) -> None:
        self._closed.append(self._batcher.close(digest_of))
        self._pending.clear()

    def _standing(self, state: TripState) -> Trip:
        return replace(
            self._trip,
            state=state,
            readings=self._link.sequence,
            head_sha256=self._link.previous_sha256,
            last_transaction_id=self._last_id,
            clock=self._clock,
        )

    def _seal(self, recordings: Sequence[Recording]) -> SealTrip:
        digests = sorted((item.digest for item in recordings), key=lambda digest: digest.sha256)
        return SealTrip(
            trip_id=self._trip.trip_id,
            device_id=self._link.device_id,
            reading_count=self._link.sequence,
            head_sha256=self._link.previous_sha256,
            recordings=[SealedRecording(sha256=item.sha256, size=item.size) for item in digests],
            clock=self._clock.message(),
        )

    def _digest(self, recording: Recording, seal_id: str) -> RecordVideo:
        return RecordVideo(
            trip_id=self._trip.trip_id,
            device_id=self._link.device_id,
            sha256=recording.digest.sha256,
            size=recording.digest.size,
            tree_root=recording.digest.tree_root,
            pseudo_file_id=pseudo_file_id(
                self._link.device_id, f"{self._trip.trip_id}/{recording.name}"
            ),
            media_type=recording.media_type,
            started_at_ms=self._trip.start.started_at_ms,
            duration_ms=recording.duration_ms,
            derived=bool(recording.source_sha256),
            source_sha256=recording.source_sha256,
            seal_transaction_id=seal_id,
        )
