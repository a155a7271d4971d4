"""A committed block as every engine keeps it, and how large one may be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

from contracts.encoding import parse
from contracts.proto.sawtooth_pb2 import (
    Block,
    BlockHeader,
    StateChange,
    Transaction,
    TransactionReceipt,
)

BLOCK_BATCH_BYTES_MAX: Final = 16 << 20
"""Batches of one block, serialised. A body of `POST /batches` is not longer, so one always fits.

As JSON one byte takes six at most, except for what `BATCH_ADDRESSES_MAX` bounds. A client that
follows the chain accepts an answer of that length: a test compares the limits with those of
`contracts.ledger.answers`."""
BLOCK_EFFECT_BYTES_SOFT: Final = 16 << 20
"""A block takes no further batch once its receipts take so much. Its last batch may add
`EFFECT_BYTES_MAX`: the sum is far below what a log record or an answer holds."""


@dataclass(frozen=True, slots=True)
class ChainPosition:
    """Where a batch or transaction is committed.

    Attributes:
        block_num: Number of the block.
        batch: Which of the block's batches, from 0.
        transaction: Which of the batch's transactions, from 0; 0 for a batch.
    """

    block_num: int
    batch: int
    transaction: int = 0


@dataclass(frozen=True)
class StoredBlock:
    """A block as committed.

    Attributes:
        block: The block.
        header: Its header, parsed.
        receipt_bytes: Receipts of its transactions, in order, serialised without their ids.
    """

    block: Block
    header: BlockHeader
    receipt_bytes: Sequence[bytes]

    @property
    def id(self) -> str:
        """Return the block id, 128 hexadecimal digits."""
        return self.block.header_signature

    @property
    def num(self) -> int:
        """Return the block's number; the genesis block's is 0."""
        return self.header.block_num

    @cached_property
    def transactions(self) -> list[Transaction]:
        """Return all transactions in order."""
        return [transaction for batch in self.block.batches for transaction in batch.transactions]

    def receipts(self) -> Iterator[TransactionReceipt]:
        """Yield the receipts of all transactions, in order.

        Raises:
            RejectedError: The stored bytes are not a TransactionReceipt.
        """
        for transaction, wire in zip(self.transactions, self.receipt_bytes, strict=True):
            yield _receipt(transaction, wire)

    def receipt_of(self, position: ChainPosition) -> TransactionReceipt:
        """Return the receipt of the transaction at `position` in this block."""
        number = self.number_of(position)
        return _receipt(self.transactions[number], self.receipt_bytes[number])

    def number_of(self, position: ChainPosition) -> int:
        """Return the index of the transaction at `position` among all of this block."""
        return self._firsts[position.batch] + position.transaction

    @cached_property
    def _firsts(self) -> list[int]:
        """Return, for each batch, the index of its first transaction among all of this block."""
        sizes = (len(batch.transactions) for batch in self.block.batches)
        return list(accumulate(sizes, initial=0))


def stored_block(block: Block, receipts: Sequence[TransactionReceipt]) -> StoredBlock:
    """Return a new block with its receipts serialised; clears the ids of `receipts`."""
    for receipt in receipts:
        receipt.ClearField("transaction_id")
    wires = [receipt.SerializeToString() for receipt in receipts]
    return StoredBlock(block, parse(BlockHeader, block.header), wires)


def net_changes(receipts: Sequence[TransactionReceipt]) -> list[StateChange]:
    """Return the last change of every address in a block's receipts, the latest change first.

    Source: Sawtooth 1.2 architecture guide, "Events and Transaction Receipts",
    sawtooth/state-delta.
    """
    last: dict[str, StateChange] = {}
    for receipt in reversed(receipts):
        for change in reversed(receipt.state_changes):
            last.setdefault(change.address, change)
    return list(last.values())


def _receipt(transaction: Transaction, wire: bytes) -> TransactionReceipt:
    receipt = parse(TransactionReceipt, wire)
    receipt.transaction_id = transaction.header_signature
    return receipt
