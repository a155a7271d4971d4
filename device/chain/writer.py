"""Writes a trip's chain: readings are linked by hash, signed, batched and made durable.

    reading -> RecordReading -> signed transaction -> batch -> journal (fsync)

With more than one reading per transaction, readings wait in the journal:

    reading -> RecordReading -> journal (fsync) ... -> signed run -> batch -> journal (fsync)

A recorded reading is safe only after `commit`. After a failed commit the object is ahead
of the medium: drop it and continue from the journal.

The journal notes durably which readings a run holds, and what the run depends on, before
the run is signed. A recorder that was killed in between signs the very same bytes again
(RFC 6979), even if the settings have changed. So no reading is ever signed in two different
transactions.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Self

from contracts.actions.payload import build, scope
from contracts.actions.table import Action
from contracts.keys import Signer
from contracts.proto.payload_pb2 import (
    RecordReading,
    RecordVideo,
    SealedRecording,
    SealTrip,
    StartTrip,
)
from contracts.records.clock import Clock
from contracts.records.reading import Reading, record_of
from contracts.records.recording import pseudo_file_id
from contracts.records.run import run_of
from contracts.rules.series import seal_digest
from device.chain.batcher import Batcher, BatchLimits
from device.chain.joining import StartedTrip
from device.journal.logbook import Logbook
from device.journal.trip import Pending, Recording, SignedBatch, Trip, TripState

GROUP_READINGS: Final = 500
"""Most readings that one commit makes durable; a power cut can lose them, unreported."""


class ChainWriter:
    """This device's chain on the open trip.

    Args:
        logbook: The journal.
        signer: The device's key.
        limits: When a run ends and a batch closes.
        trip: As the journal has it.
    """

    def __init__(self, logbook: Logbook, signer: Signer, limits: BatchLimits, trip: Trip) -> None:
        self._logbook = logbook
        self._signer = signer
        self._limits = limits
        self._trip = trip
        self._link = trip.link
        self._last_id = trip.last_transaction_id
        self._clock = trip.clock
        self._deliveries = trip.delivery_addresses
        self._scope_of_readings = scope(
            RecordReading(trip_id=trip.trip_id, device_id=trip.device_id),
            signer.public_key,
            self._deliveries,
        )
        self._batcher = Batcher(signer, limits, logbook.pending(trip.trip_id))
        self._run = logbook.waiting(trip.trip_id)
        self._closed: list[SignedBatch] = []
        self._pending: list[Pending] = []
        self._waiting: list[RecordReading] = []

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
        trip = _opened(input_id, start.device_id, start, transaction.header_signature, clock)
        logbook.begin(trip, [Pending(transaction.SerializeToString())])
        return cls(logbook, signer, limits, trip)

    @classmethod
    def join(
        cls,
        logbook: Logbook,
        signer: Signer,
        limits: BatchLimits,
        *,
        device_id: str,
        joined: StartedTrip,
        clock: Clock,
        input_id: bytes,
    ) -> Self:
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
        return cls(logbook, signer, limits, trip)

    @property
    def trip(self) -> Trip:
        """The trip after the last commit."""
        return self._trip

    @property
    def uncommitted(self) -> int:
        """Number of readings that are not durable yet."""
        return self._link.sequence - self._trip.readings

    def record(self, reading: Reading) -> None:
        """Link `reading` to the one before and sign it, alone or at the end of its run.

        Raises:
            UnavailableError: The journal is full, or the medium failed.
        """
        monotonic_ms = reading.clock.monotonic_ms
        if self._run and self._run_is_over(monotonic_ms):
            self._sign_run()
        if not self._run and len(self._batcher) and self._batcher.is_full(monotonic_ms):
            self._close_batch()
        record = record_of(reading, self._link)
        self._link = self._link.after(record)
        self._clock = reading.clock
        if self._limits.readings_per_transaction == 1:
            self._sign(record, readings=1, monotonic_ms=monotonic_ms)
            return
        self._run.append(record)
        self._waiting.append(record)
        if self._run_is_full:
            self._sign_run()

    def commit(self) -> None:
        """Make the readings since the last commit durable.

        Raises:
            UnavailableError: The journal is full, or the medium failed.
        """
        if self.uncommitted:
            self._append(run_ended=False)

    def close(self) -> Trip:
        """Seal the trip and sign the digest of every recording, durably.

        Raises:
            UnavailableError: The medium failed.
        """
        self.commit()
        if self._run:
            self._sign_run()
        recordings = self._logbook.recordings(self._trip.trip_id)
        seal = self._seal(recordings)
        self._sign(seal)
        seal_id = self._last_id
        self._close_batch()
        for recording in recordings:
            self._sign(self._digest(recording, seal_id), dependencies=(seal_id,))
            self._close_batch(recording.digest.sha256)
        trip = replace(
            self._standing(TripState.SEALED),
            last_transaction_id=seal_id,
            seal_transaction_id=seal_id,
        )
        self._logbook.seal(trip, self._closed, seal_digest(seal))
        self._stored(trip)
        return trip

    @property
    def _run_is_full(self) -> bool:
        return len(self._run) >= self._limits.readings_per_transaction

    def _run_is_over(self, monotonic_ms: int) -> bool:
        """Say whether the waiting run takes no reading of that time."""
        first_ms = self._run[0].clock.monotonic_ms
        # The settings may have changed since the run began, or an earlier process ended it.
        return (
            self._trip.run_ended
            or self._run_is_full
            or self._batcher.is_over(monotonic_ms, first_ms)
        )

    def _sign_run(self) -> None:
        """Sign the waiting run, after its end is durable: then it can be signed in one way only."""
        if not self._trip.run_ended:
            self._append(run_ended=True)
        first_ms = self._run[0].clock.monotonic_ms
        run = self._sign(run_of(self._run), readings=len(self._run), monotonic_ms=first_ms)
        trip = replace(self._standing(TripState.OPEN), run_ended=False)
        self._logbook.sign_run(trip, run)
        self._run = []
        self._stored(trip)

    def _append(self, *, run_ended: bool) -> None:
        trip = replace(self._standing(TripState.OPEN), run_ended=run_ended)
        self._logbook.append(trip, self._closed, self._pending, self._waiting)
        self._stored(trip)

    def _stored(self, trip: Trip) -> None:
        self._trip, self._closed, self._pending, self._waiting = trip, [], [], []

    def _sign(
        self,
        action: Action,
        *,
        readings: int = 0,
        monotonic_ms: int | None = None,
        dependencies: Sequence[str] | None = None,
    ) -> Pending:
        if dependencies is None:
            # Only the first transaction of a batch names its predecessor: a batch keeps its order.
            dependencies = () if len(self._batcher) else (self._last_id,)
        declared = self._scope_of_readings if readings else None
        transaction = build(
            self._signer,
            action,
            dependencies=dependencies,
            deliveries=self._deliveries,
            declared=declared,
        )
        item = Pending(transaction.SerializeToString(), readings, monotonic_ms)
        self._batcher.add(transaction, item)
        self._pending.append(item)
        self._last_id = transaction.header_signature
        return item

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
            started_at_ms=self._trip.began_at_ms,
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
