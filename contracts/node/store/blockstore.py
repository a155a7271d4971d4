"""Committed blocks with their receipts: a log, and an index of what is where in it.

Ids are found by a salted hash of 12 bytes, since a sender can choose
signatures and must not be able to make two ids meet.
"""

import hashlib
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.node.store.cache import Cache
from contracts.node.store.index import Entries, Index, Table
from contracts.node.store.log import BlockLog
from contracts.node.store.record import decode_parts, encode_parts
from contracts.proto.sawtooth_pb2 import Block, BlockHeader, Transaction, TransactionReceipt
from contracts.sawtooth.blocks import check_block_signature

CACHED_BLOCKS: Final = 8
KEY_BYTES: Final = 12
_NUMBER: Final = struct.Struct(">Q")
_PLACE: Final = struct.Struct(">QII")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a batch or transaction stands.

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
            RejectedError: A receipt is no TransactionReceipt.
        """
        for transaction, wire in zip(self.transactions, self.receipt_bytes, strict=True):
            yield _receipt(transaction, wire)

    def receipt_of(self, place: Place) -> TransactionReceipt:
        """Return the receipt of the transaction at `place` in this block."""
        number = self.number_of(place)
        return _receipt(self.transactions[number], self.receipt_bytes[number])

    def number_of(self, place: Place) -> int:
        """Return the number of the transaction at `place` among all of this block's."""
        return self._firsts[place.batch] + place.transaction

    @cached_property
    def _firsts(self) -> list[int]:
        """Return the number of each batch's first transaction among all of this block's."""
        sizes = (len(batch.transactions) for batch in self.block.batches)
        return list(accumulate(sizes, initial=0))


def stored_block(block: Block, receipts: Sequence[TransactionReceipt]) -> StoredBlock:
    """Return a new block with its receipts as they are stored; the receipts lose their ids."""
    for receipt in receipts:
        receipt.ClearField("transaction_id")
    wires = [receipt.SerializeToString() for receipt in receipts]
    return StoredBlock(block, parse(BlockHeader, block.header), wires)


def encode_record(stored: StoredBlock) -> bytes:
    """Return the body of the log record for a block."""
    return encode_parts([stored.block.SerializeToString(), *stored.receipt_bytes])


def decode_record(body: bytes) -> StoredBlock:
    """Parse the body of a log record.

    Raises:
        RejectedError: The bytes are no such record.
    """
    wires = decode_parts(body)
    if not wires:
        raise RejectedError(f"block record of {len(body)} bytes holds no block")
    block = parse(Block, wires[0])
    return StoredBlock(block, parse(BlockHeader, block.header), wires[1:])


class BlockStore:
    """Finds blocks, batches, transactions and receipts by number or id.

    Args:
        log: Holds the blocks.
        index: Says where.
    """

    def __init__(self, log: BlockLog, index: Index) -> None:
        self._log = log
        self._index = index
        self._blocks: Cache[int, StoredBlock] = Cache(CACHED_BLOCKS)
        self._lock = threading.Lock()
        self.head: StoredBlock | None = None

    def check_next(self, stored: StoredBlock) -> None:
        """Check that a block read from the log is signed and follows the head.

        Raises:
            RejectedError: It does not.
        """
        check_block_signature(stored.block.header, stored.id)
        if self.head is not None and stored.header.previous_block_id != self.head.id:
            raise RejectedError(
                f"block {stored.num} follows {stored.header.previous_block_id[:16]}…, "
                f"expected {self.head.id[:16]}…"
            )

    def entries(self, stored: StoredBlock, offset: int) -> dict[Table, Entries]:
        """Return what the index must hold for a block at `offset` in the log."""
        number = _NUMBER.pack(stored.num)
        transactions: dict[bytes, bytes | None] = {}
        batches: dict[bytes, bytes | None] = {}
        for place, batch in enumerate(stored.block.batches):
            batches[self._key(batch.header_signature)] = _PLACE.pack(stored.num, place, 0)
            for inner, transaction in enumerate(batch.transactions):
                key = self._key(transaction.header_signature)
                transactions[key] = _PLACE.pack(stored.num, place, inner)
        return {
            Table.BLOCK: {number: _NUMBER.pack(offset)},
            Table.BLOCK_ID: {self._key(stored.id): number},
            Table.TRANSACTION: transactions,
            Table.BATCH: batches,
        }

    def advance(self, stored: StoredBlock) -> None:
        """Take a block, whose entries are in the index, as the new head."""
        self._keep(stored)
        self.head = stored

    def by_num(self, number: int) -> StoredBlock | None:
        """Return a block by its number.

        Raises:
            UnavailableError: The log is damaged there.
        """
        with self._lock:
            known = self._blocks.get(number)
        if known is not None or not 0 <= number < 1 << 64:
            return known
        offset = self._index.get(Table.BLOCK, _NUMBER.pack(number))
        if offset is None:
            return None
        stored = decode_record(self._log.read(_NUMBER.unpack(offset)[0]))
        self._keep(stored)
        return stored

    def by_id(self, block_id: str) -> StoredBlock | None:
        """Return a block by its id."""
        number = self._index.get(Table.BLOCK_ID, self._key(block_id))
        return None if number is None else self.by_num(_NUMBER.unpack(number)[0])

    def find_batch(self, batch_id: str) -> Place | None:
        """Return where a batch is committed."""
        return self._find(Table.BATCH, batch_id)

    def find_transaction(self, transaction_id: str) -> Place | None:
        """Return where a transaction is committed."""
        return self._find(Table.TRANSACTION, transaction_id)

    def receipt_at(self, place: Place) -> TransactionReceipt | None:
        """Return the receipt of the transaction at `place`."""
        stored = self.by_num(place.block_num)
        return None if stored is None else stored.receipt_of(place)

    def _keep(self, stored: StoredBlock) -> None:
        with self._lock:
            self._blocks.put(stored.num, stored)

    def _find(self, table: Table, name: str) -> Place | None:
        place = self._index.get(table, self._key(name))
        return None if place is None else Place(*_PLACE.unpack(place))

    def _key(self, name: str) -> bytes:
        digest = hashlib.blake2b(name.encode(), digest_size=KEY_BYTES, key=self._log.salt)
        return digest.digest()


def _receipt(transaction: Transaction, wire: bytes) -> TransactionReceipt:
    receipt = parse(TransactionReceipt, wire)
    receipt.transaction_id = transaction.header_signature
    return receipt
