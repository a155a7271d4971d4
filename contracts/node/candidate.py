"""A block in the making: which batches it takes, and what they make of the state."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from contracts.node.blockstore import BlockStore
from contracts.node.executor import Changes, Verdict, execute
from contracts.node.families import Families
from contracts.node.verify import VerifiedBatch

if TYPE_CHECKING:
    from contracts.proto.sawtooth_pb2 import Batch, TransactionReceipt


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

    def __init__(
        self, blocks: BlockStore, read: Callable[[str], bytes | None], families: Families
    ) -> None:
        self._blocks = blocks
        self._read_below = read
        self._families = families
        self._batch_ids: set[str] = set()
        self._transaction_ids: set[str] = set()
        self.batches: list[Batch] = []
        self.receipts: list[TransactionReceipt] = []
        self.changes: Changes = {}

    def add(self, batch: VerifiedBatch) -> Verdict | Refusal | Orphan | None:
        """Take `batch`, or say why not.

        A committed transaction in another batch is what Sawtooth drops without
        a word; such a batch can never be committed.
        """
        if batch.id in self._batch_ids or self._blocks.find_batch(batch.id) is not None:
            return Refusal.COMMITTED
        names = {transaction.header_signature for transaction in batch.batch.transactions}
        if any(self._has_transaction(name) for name in names):
            return Refusal.STUCK
        orphan = self._missing(batch)
        if orphan is not None:
            return orphan
        result = execute(batch, self._families, self._read)
        if isinstance(result, Verdict):
            return result
        self._batch_ids.add(batch.id)
        self._transaction_ids |= names
        self.batches.append(batch.batch)
        self.receipts += result.receipts
        self.changes.update(result.changes)
        return None

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

    def _read(self, address: str) -> bytes | None:
        if address in self.changes:
            return self.changes[address]
        return self._read_below(address)
