"""Batches as CometBFT carries them: one of its transactions is one serialised batch."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.ledger.cometbft.home import MEMPOOL_BATCHES
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX
from contracts.ledger.execution.verify import VerifiedBatch, verify_batch
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.counts import check_transactions_of

REMEMBERED_BATCHES: Final = MEMPOOL_BATCHES
REMEMBERED_BYTES: Final = 128 << 20
"""Each proposer is shown the first 17 MiB of its mempool again at each height."""


class CarriedBatches:
    """Parses and verifies each transaction of the engine once; safe in any thread.

    What was not asked for the longest time is forgotten first: what proposers are shown is asked
    for at each height, and what waits behind it is not.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, VerifiedBatch] = OrderedDict()
        self._bytes = 0

    def get(self, tx: bytes) -> VerifiedBatch:
        """Return the batch in a transaction of the engine, all of its signatures checked.

        Raises:
            RejectedError: It is not a batch, or not a valid one. Each validator says the same.
        """
        with self._lock:
            known = self._known.get(tx)
            if known is not None:
                self._known.move_to_end(tx)
        if known is None:
            known = verify_batch(_parse(tx))
            self.add(tx, known)
        return known

    def add(self, tx: bytes, batch: VerifiedBatch) -> None:
        """Remember a batch that was verified elsewhere in this process."""
        with self._lock:
            if self._known.setdefault(tx, batch) is batch:
                self._bytes += len(tx)
            while len(self._known) > REMEMBERED_BATCHES or self._bytes > REMEMBERED_BYTES:
                forgotten, _ = self._known.popitem(last=False)
                self._bytes -= len(forgotten)

    def forget(self, txs: Iterable[bytes]) -> None:
        """Drop what was decided."""
        with self._lock:
            for tx in txs:
                if self._known.pop(tx, None) is not None:
                    self._bytes -= len(tx)


def _parse(tx: bytes) -> Batch:
    """Parse a batch; drops what no signature covers, as `parse_batches` does."""
    if len(tx) > BLOCK_BATCH_BYTES_MAX:
        raise RejectedError(f"batch of {len(tx)} bytes, at most {BLOCK_BATCH_BYTES_MAX} allowed")
    check_transactions_of(tx)
    batch = parse(Batch, tx)
    batch.DiscardUnknownFields()
    batch.ClearField("trace")
    return batch
