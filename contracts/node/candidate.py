"""A block in the making: which batches it takes, and what they make of the state."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from typing import TYPE_CHECKING, Final

from contracts.node.execution.executor import Changes, Execution, Read, Verdict, execute, reader
from contracts.node.execution.families import Families
from contracts.node.store.blockstore import BlockStore
from contracts.node.verify import BATCH_ADDRESSES_MAX, VerifiedBatch

if TYPE_CHECKING:
    from contracts.proto.sawtooth_pb2 import Batch, TransactionReceipt

BLOCK_BATCH_BYTES_MAX: Final = 16 << 20
"""Batches of one block, serialised; a body of `POST /batches` is not longer, so one always fits.

As JSON no byte takes more than six, but for what `BATCH_ADDRESSES_MAX` bounds: who follows the
chain takes an answer of so much, which a test holds against `contracts.answer`."""
BLOCK_EFFECT_BYTES_SOFT: Final = 16 << 20
"""A block takes no further batch once its receipts take so much. With those of the last one they
take `EFFECT_BYTES_MAX` more at most: far below what a record of the log holds, and an answer."""


class Refusal(Enum):
    """Why a batch, though it may be valid, is not taken."""

    COMMITTED = auto()
    STUCK = auto()


@dataclass(frozen=True, slots=True)
class Orphan:
    """A batch is not taken since a transaction that it depends on is not committed.

    Attributes:
        dependency: Id of that transaction.
    """

    dependency: str


class Candidate:
    """Takes batches one after the other.

    Args:
        blocks: What is committed already.
        read: Returns the value at an address after the block before.
        families: Who judges which transaction.
    """

    def __init__(self, blocks: BlockStore, read: Read, families: Families) -> None:
        self._blocks = blocks
        self._batch_ids: set[str] = set()
        self._transaction_ids: set[str] = set()
        self._size = self._addresses = self._effects = 0
        self.families = families
        self.batches: list[Batch] = []
        self.receipts: list[TransactionReceipt] = []
        self.changes: Changes = {}
        self.read = reader(read, self.changes)
        """Returns the value at an address after the batches taken so far."""

    def has_room_for(self, batch: VerifiedBatch) -> bool:
        """Say whether the block stays within its limits with `batch` in it."""
        return not self.batches or (
            self._effects < BLOCK_EFFECT_BYTES_SOFT
            and self._size + batch.size <= BLOCK_BATCH_BYTES_MAX
            and self._addresses + batch.addresses <= BATCH_ADDRESSES_MAX
        )

    def add(self, batch: VerifiedBatch) -> Verdict | Refusal | Orphan | None:
        """Execute and take `batch`, or say why not."""
        return self.obstacle(batch) or self.execute(batch)

    def execute(self, batch: VerifiedBatch) -> Verdict | None:
        """Execute and take a batch that nothing stands against, or say why it is invalid."""
        result = execute(batch, self.families, self.read)
        if isinstance(result, Verdict):
            return result
        self.take(batch, result)
        return None

    def obstacle(self, batch: VerifiedBatch) -> Refusal | Orphan | None:
        """Say what stands against executing `batch`.

        A committed transaction in another batch is what Sawtooth drops without
        a word; such a batch can never be committed.
        """
        if batch.id in self._batch_ids or self._blocks.find_batch(batch.id) is not None:
            return Refusal.COMMITTED
        names = {transaction.header_signature for transaction in batch.batch.transactions}
        if any(self._has_transaction(name) for name in names):
            return Refusal.STUCK
        return self._missing(batch)

    def take(self, batch: VerifiedBatch, execution: Execution) -> None:
        """Take a batch that was executed on top of all those taken that it conflicts with."""
        self._batch_ids.add(batch.id)
        self._transaction_ids.update(each.header_signature for each in batch.batch.transactions)
        self.batches.append(batch.batch)
        self.receipts += execution.receipts
        self.changes.update(execution.changes)
        self._size += batch.size
        self._addresses += batch.addresses
        self._effects += execution.size

    def arrange(self, places: Mapping[str, int]) -> None:
        """Put the batches in the order of their `places`, by batch id; it must be as valid."""
        receipts = iter(self.receipts)
        taken = [(batch, list(islice(receipts, len(batch.transactions)))) for batch in self.batches]
        taken.sort(key=lambda each: places[each[0].header_signature])
        self.batches = [batch for batch, _ in taken]
        self.receipts = [receipt for _, group in taken for receipt in group]

    def _missing(self, batch: VerifiedBatch) -> Orphan | None:
        """Return the first dependency that neither the chain, this block nor this batch has."""
        before: set[str] = set()
        for transaction, header in zip(batch.batch.transactions, batch.headers, strict=True):
            for dependency in header.dependencies:
                if dependency not in before and not self._has_transaction(dependency):
                    return Orphan(dependency)
            before.add(transaction.header_signature)
        return None

    def _has_transaction(self, name: str) -> bool:
        return name in self._transaction_ids or self._blocks.find_transaction(name) is not None
