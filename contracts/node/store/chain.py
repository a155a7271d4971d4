"""The chain: blocks and state moved forward together, and found again after a power cut."""

import logging
import shutil
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.files import make_directory
from contracts.node.store.blockstore import (
    BlockStore,
    StoredBlock,
    decode_record,
    encode_record,
    stored_block,
)
from contracts.node.store.index import Index, Table
from contracts.node.store.log import START, BlockLog
from contracts.node.store.merkle import Update
from contracts.node.store.state import State, empty_state
from contracts.proto.sawtooth_pb2 import Block, StateChange, TransactionReceipt

_LOG = logging.getLogger(__name__)

_META_KEY: Final = b"head"
_META: Final = struct.Struct(">QQQQ")


@dataclass(frozen=True, slots=True)
class Chain:
    """An open chain; one thread commits, any thread reads.

    Attributes:
        blocks: Blocks, batches, transactions, receipts.
        state: State after the newest blocks.
    """

    blocks: BlockStore
    state: State
    _log: BlockLog
    _index: Index

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the chain in `directory`; make an empty one when there is none.

        Blocks that the index has not seen are replayed from the log; an index
        that LMDB cannot read is made anew.

        Raises:
            RejectedError: The log is damaged where no power cut could have damaged it.
            UnavailableError: The file system refuses.
        """
        make_directory(directory)
        log = BlockLog.open(directory / "chain.log")
        try:
            index = _open_index(directory / "index")
        except WaysealError:
            log.close()
            raise
        try:
            return cls._replay(log, index)
        except WaysealError:
            index.close()
            log.close()
            raise

    @property
    def head(self) -> StoredBlock | None:
        """Return the newest block."""
        return self.blocks.head

    def commit(
        self, block: Block, receipts: Sequence[TransactionReceipt], update: Update
    ) -> StoredBlock:
        """Make a block durable, then visible together with its state.

        Raises:
            NoRoomError: The disk is full; nothing changed, and the same call may succeed later.
            UnavailableError: The log cannot be written until the chain is opened again.
        """
        self._index.make_room()
        stored = stored_block(block, receipts)
        offset = self._log.append(encode_record(stored))
        self._publish(stored, update, offset)
        return stored

    def close(self) -> None:
        """Bring the index up to date and release all files."""
        self._index.close()
        self._log.close()

    @classmethod
    def _replay(cls, log: BlockLog, index: Index) -> Self:
        blocks = BlockStore(log, index)
        known, state = _last_known(blocks, index, log)
        chain = cls(blocks, state, log, index)
        for offset, body in log.recover(known):
            stored = decode_record(body)
            blocks.check_next(stored)
            update = state.update(state_changes(stored))
            if update.root_hash != stored.header.state_root_hash:
                raise RejectedError(
                    f"block {stored.num}: its receipts lead to state root {update.root_hash}, "
                    f"its header says {stored.header.state_root_hash}"
                )
            index.make_room()
            chain._publish(stored, update, offset)
        return chain

    def _publish(self, stored: StoredBlock, update: Update, offset: int) -> None:
        next_node = self.state.next_node + len(update.branches) + len(update.leaves)
        meta = _META.pack(stored.num, self._log.end, update.root, next_node)
        self._index.put(
            self.state.entries(stored.num, update)
            | self.blocks.entries(stored, offset)
            | {Table.META: {_META_KEY: meta}}
        )
        self.state.advance(update)
        self.blocks.advance(stored)


def _open_index(path: Path) -> Index:
    try:
        return Index(path)
    except UnavailableError as error:
        _LOG.warning("making the index anew from the log: %s", error)
        shutil.rmtree(path, ignore_errors=True)
        return Index(path)


def _last_known(blocks: BlockStore, index: Index, log: BlockLog) -> tuple[int, State]:
    """Return up to which byte the index knows the log, and the state there."""
    meta = index.get(Table.META, _META_KEY)
    if meta is None:
        return START, empty_state(index)
    number, end, root, next_node = _META.unpack(meta)
    if end > log.size():
        raise RejectedError(
            f"the block log has {log.size()} bytes, the index knows {end}: committed blocks are "
            "missing; restore the log, or delete the index to go on with what is there"
        )
    head = blocks.by_num(number)
    if head is None:
        raise RejectedError(f"the index names block {number} as head and does not know it")
    blocks.advance(head)
    return end, State(index, root, head.header.state_root_hash, next_node)


def state_changes(stored: StoredBlock) -> Mapping[str, bytes | None]:
    """Return the net effect of a block on state, by address; None deletes."""
    return {
        change.address: change.value if change.type == StateChange.SET else None
        for receipt in stored.receipts()
        for change in receipt.state_changes
    }
