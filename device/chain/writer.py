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
from dataclasses import dataclass, replace
from typing import Final

from contracts.actions.payload import build, scope
from contracts.actions.table import Action
from contracts.keys import Signer
from contracts.proto.payload_pb2 import RecordReading
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.records.reading import Reading, record_of, run_of
from contracts.records.remark import Remark
from contracts.rules.series import seal_digest
from contracts.sawtooth.batches import build_batch
from device.chain.ends import digest_of, seal_of
from device.journal.logbook import Logbook
from device.journal.trip import Pending, SignedBatch, Trip, TripState

GROUP_READINGS: Final = 500
"""Most readings that one commit makes durable; a power cut can lose them, unreported."""
BATCH_BYTES_SOFT: Final = 180_000
"""A batch of this size takes no more transactions. One more reading keeps it below 200 kB, one more
run of 300 below 220 kB."""
RUN_BYTES_MAX: Final = 56 * 1024
"""Readings of one run, below the 64 KiB of a payload, also when many have remarks."""
_ID_BYTES: Final = 131
"""The batch header repeats the id of each transaction."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """When a batch of readings closes.

    Attributes:
        max_readings: Most readings.
        max_seconds: Longest time between its first and last reading, seconds.
        readings_per_transaction: Most readings of one transaction, at most `max_readings`.
    """

    max_readings: int
    max_seconds: int
    readings_per_transaction: int = 1


class Batcher:
    """Packs signed transactions into batches, which the device signs too.

    Sawtooth requires the batcher's key in each transaction header, and the truck cannot know
    which gateway it will meet; so the device is its own batcher.

    Args:
        signer: The device's key.
        limits: When a batch closes.
        pending: Its transactions so far, in order.
    """

    def __init__(self, signer: Signer, limits: BatchLimits, pending: Sequence[Pending]) -> None:
        self._signer = signer
        self._limits = limits
        self._transactions: list[Transaction] = []
        self._bytes = 0
        self._readings = 0
        self._first_ms: int | None = None
        for item in pending:
            self.add(Transaction.FromString(item.wire), item)

    def __len__(self) -> int:
        return len(self._transactions)

    def add(self, transaction: Transaction, item: Pending) -> None:
        """Add the next transaction; `item` is its form in the journal."""
        self._transactions.append(transaction)
        self._bytes += len(item.wire) + _ID_BYTES
        self._readings += item.readings
        if self._first_ms is None:
            self._first_ms = item.monotonic_ms

    def is_full(self, monotonic_ms: int) -> bool:
        """Say whether the batch must close before a transaction that begins at that time."""
        return (
            self._readings + self._limits.readings_per_transaction > self._limits.max_readings
            or self._bytes >= BATCH_BYTES_SOFT
            or self.is_over(monotonic_ms, monotonic_ms)
        )

    def is_over(self, monotonic_ms: int, first_ms: int) -> bool:
        """Say whether a reading at `monotonic_ms` is too late for the batch.

        Args:
            monotonic_ms: The reading's counter.
            first_ms: Counter of the first waiting reading, for a batch without readings.
        """
        since_ms = first_ms if self._first_ms is None else self._first_ms
        # Absolute, because the counter starts again after a reboot.
        return abs(monotonic_ms - since_ms) >= self._limits.max_seconds * 1000

    def close(self, digest_of: bytes | None = None) -> SignedBatch:
        """Return the signed batch and start an empty one."""
        batch = build_batch(self._signer, self._transactions)
        self._transactions, self._bytes, self._readings, self._first_ms = [], 0, 0, None
        return SignedBatch(batch.header_signature, batch.SerializeToString(), digest_of)


class ChainWriter:
    """This device's chain on the open trip.

    Args:
        logbook: The journal.
        signer: The device's key.
        limits: When a run ends and a batch closes.
        trip: As the journal has it.
        closing: The trip ends with what is written: a full journal has room kept for that.
    """

    def __init__(
        self,
        logbook: Logbook,
        signer: Signer,
        limits: BatchLimits,
        trip: Trip,
        *,
        closing: bool = False,
    ) -> None:
        self._logbook = logbook
        self._closing = closing
        self._signer = signer
        self._limits = limits
        self._trip = trip
        self._link = trip.link
        self._last_id = trip.last_transaction_id
        self._clock = trip.clock
        self._deliveries = trip.delivery_addresses
        self._rules = trip.rules
        self._scope_of_readings = scope(
            RecordReading(trip_id=trip.trip_id, device_id=trip.device_id),
            signer.public_key,
            self._deliveries,
            self._rules,
        )
        self._batcher = Batcher(signer, limits, logbook.pending(trip.trip_id))
        self._run = logbook.waiting(trip.trip_id)
        self._run_bytes = sum(map(self._bytes_of, self._run))
        self._closed: list[SignedBatch] = []
        self._pending: list[Pending] = []
        self._waiting: list[RecordReading] = []
        self._said = list[Remark]()

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
        record = record_of(reading, self._link)
        if self._run and self._run_is_over(monotonic_ms, self._bytes_of(record)):
            self._sign_run()
        if not self._run and len(self._batcher) and self._batcher.is_full(monotonic_ms):
            self._close_batch()
        self._link = self._link.after(record)
        self._clock = reading.clock
        self._said += reading.told.remarks
        if self._limits.readings_per_transaction == 1:
            self._sign(record, readings=1, monotonic_ms=monotonic_ms)
            return
        self._run.append(record)
        self._run_bytes += self._bytes_of(record)
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
        seal = seal_of(self._trip, recordings)
        self._sign(seal)
        seal_id = self._last_id
        self._close_batch()
        for recording in recordings:
            self._sign(digest_of(self._trip, recording, seal_id), dependencies=(seal_id,))
            self._close_batch(recording.digest.sha256)
        trip = replace(
            self._standing(TripState.SEALED),
            last_transaction_id=seal_id,
            seal_transaction_id=seal_id,
        )
        self._logbook.seal(trip, self._closed, seal_digest(seal))
        self._stored(trip)
        return trip

    def _bytes_of(self, record: RecordReading) -> int:
        """Return how many bytes a reading takes in a run at most: trip and hash are left out."""
        return record.ByteSize() - len(record.trip_id) - len(record.previous_sha256)

    @property
    def _run_is_full(self) -> bool:
        return len(self._run) >= self._limits.readings_per_transaction

    def _run_is_over(self, monotonic_ms: int, size: int) -> bool:
        """Say whether the waiting run takes no reading of that time, or of so many bytes."""
        first_ms = self._run[0].clock.monotonic_ms
        # The settings may have changed since the run began, or an earlier process ended it.
        return (
            self._trip.run_ended
            or self._run_is_full
            or self._run_bytes + size > RUN_BYTES_MAX
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
        self._run, self._run_bytes = [], 0
        self._stored(trip)

    def _append(self, *, run_ended: bool) -> None:
        trip = replace(self._standing(TripState.OPEN), run_ended=run_ended)
        self._logbook.append(
            trip,
            self._closed,
            self._pending,
            self._waiting,
            said=self._said,
            closing=self._closing,
        )
        self._stored(trip)
        self._said.clear()

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
            version=self._rules,
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
