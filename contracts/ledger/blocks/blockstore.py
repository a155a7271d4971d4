"""Committed blocks with their receipts, found through an index of the log.

The index has ids as salted hashes of 12 bytes, those of blocks, batches and transactions apart
from each other. Senders choose signatures, which are ids; the salt keeps them from making two
hashes equal.
"""

import hashlib
import struct
import threading
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.blocks.log import BlockLog
from contracts.ledger.blocks.record import decode_record
from contracts.ledger.engine.blocks import ChainPosition, StoredBlock
from contracts.ledger.state.cache import Cache
from contracts.ledger.state.run import KEY_BYTES
from contracts.ledger.state.store import Entries, Store
from contracts.sawtooth.blocks import check_block_id

CACHED_BLOCKS: Final = 8
BLOCK: Final = "block"
POSITION: Final = "position"
"""Table of the places of blocks, batches and transactions, by hashes of their ids."""
_BLOCK_ID: Final = b"block"
_BATCH: Final = b"batch"
_TRANSACTION: Final = b"transaction"
_NUMBER: Final = struct.Struct(">Q")
_NUMBER_BYTES: Final = 5
_PLACE_BYTES: Final = 3
"""A block has at most as many batches or transactions as its 16 MiB have bytes."""


class BlockStore:
    """Finds blocks, batches and transactions by number or id; see `BlockReader`.

    Args:
        log: Holds the blocks.
        index: Where in the log each of them is.
    """

    def __init__(self, log: BlockLog, index: Store) -> None:
        self._log = log
        self._index = index
        self._blocks: Cache[int, StoredBlock] = Cache(CACHED_BLOCKS)
        self._lock = threading.Lock()
        self.head: StoredBlock | None = None

    def check_next(self, stored: StoredBlock) -> None:
        """Check that a block read from the log is signed and follows the head.

        Raises:
            RejectedError: The signature is invalid, or the block follows another one.
        """
        check_block_id(stored.block.header, stored.id)
        if self.head is not None and stored.header.previous_block_id != self.head.id:
            raise RejectedError(
                f"block {stored.num} follows {stored.header.previous_block_id[:16]}…, "
                f"expected {self.head.id[:16]}…"
            )

    def entries(self, stored: StoredBlock, offset: int) -> dict[str, Entries]:
        """Return the index entries of a block at `offset` in the log."""
        number = _NUMBER.pack(stored.num)
        block = stored.num.to_bytes(_NUMBER_BYTES, "big")
        first = bytes(_PLACE_BYTES)
        found: dict[bytes, bytes | None] = {self._key(_BLOCK_ID, stored.id): block + first + first}
        for place, batch in enumerate(stored.block.batches):
            within = block + place.to_bytes(_PLACE_BYTES, "big")
            found[self._key(_BATCH, batch.header_signature)] = within + first
            for inner, transaction in enumerate(batch.transactions):
                key = self._key(_TRANSACTION, transaction.header_signature)
                found[key] = within + inner.to_bytes(_PLACE_BYTES, "big")
        return {BLOCK: {number: _NUMBER.pack(offset)}, POSITION: found}

    def advance(self, stored: StoredBlock) -> None:
        """Make a block the head; its entries must be in the index."""
        self._keep(stored)
        self.head = stored

    def by_num(self, number: int) -> StoredBlock | None:
        """See `BlockReader.by_num`."""
        with self._lock:
            known = self._blocks.get(number)
        if known is not None or not 0 <= number < 1 << 64:
            return known
        head = self.head
        offset = self._index.get(BLOCK, _NUMBER.pack(number))
        if offset is not None:
            return self._read(number, _NUMBER.unpack(offset)[0])
        if head is not None and number <= head.num:
            raise self._index.damaged(f"the place of block {number} is missing")
        return None

    def by_id(self, block_id: str) -> StoredBlock | None:
        """See `BlockReader.by_id`."""
        found = self._find(_BLOCK_ID, block_id)
        return None if found is None else self.by_num(found.block_num)

    def find_batch(self, batch_id: str) -> ChainPosition | None:
        """See `BlockReader.find_batch`."""
        return self._find(_BATCH, batch_id)

    def find_transaction(self, transaction_id: str) -> ChainPosition | None:
        """See `BlockReader.find_transaction`."""
        return self._find(_TRANSACTION, transaction_id)

    def record(self, number: int) -> bytes:
        """Return the body of a committed block's log record, see `record`.

        Raises:
            UnavailableError: There is no such block, or it cannot be read.
        """
        return self._log.read(self._offset(number))

    def record_length(self, number: int) -> int:
        """Return how many bytes `record` returns.

        Raises:
            UnavailableError: There is no such block, or it cannot be read.
        """
        return self._log.length(self._offset(number))

    def _offset(self, number: int) -> int:
        offset = self._index.get(BLOCK, _NUMBER.pack(number))
        if offset is None:
            raise UnavailableError(f"block {number} is missing")
        place: int = _NUMBER.unpack(offset)[0]
        return place

    def _read(self, number: int, offset: int) -> StoredBlock:
        stored = decode_record(self._log.read(offset))
        if stored.num != number:
            raise self._index.damaged(f"the place of block {number} is that of block {stored.num}")
        self._keep(stored)
        return stored

    def _keep(self, stored: StoredBlock) -> None:
        with self._lock:
            self._blocks.put(stored.num, stored)

    def _find(self, kind: bytes, name: str) -> ChainPosition | None:
        found = self._index.get(POSITION, self._key(kind, name))
        if found is None:
            return None
        place = _NUMBER_BYTES + _PLACE_BYTES
        return ChainPosition(
            int.from_bytes(found[:_NUMBER_BYTES], "big"),
            int.from_bytes(found[_NUMBER_BYTES:place], "big"),
            int.from_bytes(found[place:], "big"),
        )

    def _key(self, kind: bytes, name: str) -> bytes:
        digest = hashlib.blake2b(
            name.encode(), digest_size=KEY_BYTES, key=self._log.salt, person=kind
        )
        return digest.digest()
