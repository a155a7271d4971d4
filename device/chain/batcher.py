"""Packs signed transactions into batches, which the device signs too.

Sawtooth requires the batcher's key in each transaction header, and the truck cannot know
which gateway it will meet; so the device is its own batcher.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.sawtooth.batches import build_batch
from device.journal.trip import Pending, SignedBatch

BATCH_BYTES_SOFT: Final = 180_000
"""A batch of this size takes no more transactions. One more reading keeps it below 200 kB, one more
run of 300 below 220 kB."""
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
    """The open batch.

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
