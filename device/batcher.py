"""Closes signed transactions into batches that the device signs too.

Sawtooth wants the batcher's key inside each transaction header, and the truck
cannot know which gateway it will meet; so the device is its own batcher.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.sawtooth.batches import build_batch
from device.journal.trip import Pending, SignedBatch

BATCH_BYTES_SOFT: Final = 180_000
"""A batch this large takes no more; with one more reading it stays below 200 kB, with one more run
of 300 below 220 kB."""
_ID_BYTES: Final = 131
"""Each transaction's id stands once more in the batch header."""


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
    """The batch that is filling.

    Args:
        signer: The device's key.
        limits: When a batch closes.
        pending: What the batch holds already, in order.
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
        """Take the next transaction; `item` is the same as the journal keeps it."""
        self._transactions.append(transaction)
        self._bytes += len(item.wire) + _ID_BYTES
        self._readings += item.readings
        if self._first_ms is None:
            self._first_ms = item.monotonic_ms

    def is_full(self, monotonic_ms: int) -> bool:
        """Say whether the batch must close before a transaction whose readings begin then."""
        return (
            self._readings + self._limits.readings_per_transaction > self._limits.max_readings
            or self._bytes >= BATCH_BYTES_SOFT
            or self.is_over(monotonic_ms, monotonic_ms)
        )

    def is_over(self, monotonic_ms: int, first_ms: int) -> bool:
        """Say whether a reading at `monotonic_ms` comes too late for the batch.

        Args:
            monotonic_ms: The reading's counter.
            first_ms: Counter of the first reading that waits, should the batch hold none yet.
        """
        since_ms = first_ms if self._first_ms is None else self._first_ms
        # Absolute: after a reboot the counter begins anew.
        return abs(monotonic_ms - since_ms) >= self._limits.max_seconds * 1000

    def close(self, digest_of: bytes | None = None) -> SignedBatch:
        """Return the signed batch and begin an empty one."""
        batch = build_batch(self._signer, self._transactions)
        self._transactions, self._bytes, self._readings, self._first_ms = [], 0, 0, None
        return SignedBatch(batch.header_signature, batch.SerializeToString(), digest_of)
