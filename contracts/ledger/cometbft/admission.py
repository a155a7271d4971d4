"""The engine's mempool takes batches that could be decided now, each of them once."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft.checks import Check
from contracts.ledger.cometbft.decisions import Code
from contracts.ledger.cometbft.executing import Executing
from contracts.ledger.cometbft.home import MEMPOOL_BATCHES, MEMPOOL_BYTES
from contracts.ledger.cometbft.times import is_time
from contracts.ledger.execution.verify import VerifiedBatch

ON_THE_WAY_MAX: Final = 100_000
"""Transactions that this validator has let into its mempool and that are not decided."""


class Admission:
    """Decides about each batch, and knows the transactions on the way; any thread.

    Args:
        chain: The committed blocks.
        executing: Knows which families have a processor.
    """

    def __init__(self, chain: Chain, executing: Executing) -> None:
        self._chain = chain
        self._executing = executing
        self._on_the_way: OrderedDict[str, None] = OrderedDict()
        self._held: dict[bytes, int] = {}
        self._held_bytes = 0
        self._lock = threading.Lock()

    def admit(self, batch: VerifiedBatch, tx: bytes) -> Check:
        """Say whether the mempool may take a batch.

        Args:
            batch: The batch.
            tx: The same, as the mempool holds it.
        """
        if is_time(batch):
            return Check(Code.INVALID, "family block_info is the proposer's own")
        if self.is_committed(batch):
            return Check(Code.COMMITTED)
        if family := self._executing.missing(batch):
            return Check(Code.NO_PROCESSOR, f"no processor for {family.name} {family.version}")
        if self.missing_dependency(batch) is not None:
            return Check(Code.EARLY, "it depends on a transaction that is not known here yet")
        if not self._took(batch, tx):
            return Check(Code.NO_ROOM, "the mempool is full")
        return Check(Code.TAKEN)

    def is_committed(self, batch: VerifiedBatch) -> bool:
        """Say whether a batch is on the chain."""
        return self._chain.find_batch(batch.id) is not None

    def missing_dependency(self, batch: VerifiedBatch) -> str | None:
        """Return a transaction that the batch depends on, if it is not known here."""
        own = {transaction.header_signature for transaction in batch.batch.transactions}
        return next(
            (
                name
                for header in batch.headers
                for name in header.dependencies
                if name not in own and not self._is_known(name)
            ),
            None,
        )

    def forget(self, decided: Iterable[VerifiedBatch], txs: Iterable[bytes]) -> None:
        """Forget batches that a height decided, and the transactions that it had."""
        gone = [_name(tx) for tx in txs]
        with self._lock:
            for name in gone:
                self._held_bytes -= self._held.pop(name, 0)
            for batch in decided:
                for transaction in batch.batch.transactions:
                    self._on_the_way.pop(transaction.header_signature, None)

    def _is_known(self, transaction_id: str) -> bool:
        with self._lock:
            if transaction_id in self._on_the_way:
                return True
        return self._chain.find_transaction(transaction_id) is not None

    def _took(self, batch: VerifiedBatch, tx: bytes) -> bool:
        """Count a transaction as in the mempool, if there is room for it.

        CometBFT holds and drops the same ones. It would say that it took one for which it has no
        room.
        """
        name, size = _name(tx), len(tx)
        with self._lock:
            if name not in self._held:
                full = len(self._held) >= MEMPOOL_BATCHES
                if full or self._held_bytes + size > MEMPOOL_BYTES:
                    return False
                self._held[name] = size
                self._held_bytes += size
            for transaction in batch.batch.transactions:
                self._on_the_way[transaction.header_signature] = None
            while len(self._on_the_way) > ON_THE_WAY_MAX:
                self._on_the_way.popitem(last=False)
        return True


def _name(tx: bytes) -> bytes:
    return hashlib.sha256(tx).digest()
