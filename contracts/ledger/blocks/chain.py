"""The chain: blocks and state advance together, and are recovered after a power cut."""

import logging
import shutil
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.ledger.blocks.blockstore import BLOCK, POSITION, BlockStore
from contracts.ledger.blocks.log import START, BlockLog
from contracts.ledger.blocks.progress import Progress
from contracts.ledger.blocks.record import decode_record, encode_record
from contracts.ledger.engine.blocks import StoredBlock, stored_block
from contracts.ledger.execution.obeyed import may_change_obeyed
from contracts.ledger.state.merkle import Update, root_edge
from contracts.ledger.state.reader import NotKeptError, StateReader
from contracts.ledger.state.run import DamagedIndexError
from contracts.ledger.state.state import NODE, ROOT, State
from contracts.ledger.state.store import Store
from contracts.proto.sawtooth_pb2 import Block, StateChange, TransactionReceipt
from contracts.runtime.files import make_directory
from contracts.sawtooth.nodes import EMPTY_ROOT

_LOG = logging.getLogger(__name__)

META: Final = "meta"
TABLES: Final = (NODE, ROOT, BLOCK, POSITION, META)
"""Tables of the index, in the order in which a block's entries become visible."""
_META_KEY: Final = b"head"
_META: Final = struct.Struct(">QQQQ")


class Chain(BlockStore):
    """An open chain; one thread commits, any thread reads. Implements `BlockReader`.

    Args:
        log: Holds the blocks.
        index: Holds what can be computed from the blocks.

    Attributes:
        state: State after the newest block.
        governed_since: See `BlockReader.governed_since`; 0 for blocks before the chain was opened.
    """

    def __init__(self, log: BlockLog, index: Store) -> None:
        super().__init__(log, index)
        self._followers: list[Callable[[], None]] = []
        self.governed_since = 0
        known, self.state = self._last_known()
        self._replay(known)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the chain in `directory`; make an empty one if the directory has none.

        Blocks that the index has not seen are replayed from the log; an index
        that LMDB cannot read is built again.

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
            return cls(log, index)
        except WaysealError:
            index.close()
            log.close()
            raise

    def state_after(self, block_num: int) -> StateReader:
        """See `BlockReader.state_after`."""
        stored = self.by_num(block_num)
        if stored is None:
            raise NotKeptError(f"expected the number of a block, got {block_num}")
        return self.state.after(block_num, stored.header.state_root_hash)

    def follow(self, notice: Callable[[], None]) -> None:
        """See `BlockReader.follow`; called in the thread that commits."""
        self._followers.append(notice)

    def commit(
        self,
        block: Block,
        receipts: Sequence[TransactionReceipt],
        update: Update,
        *,
        sync: bool = True,
    ) -> StoredBlock:
        """Make a block durable, then visible together with its state.

        Args:
            block: The next block.
            receipts: Of its transactions.
            update: The changes of the block to the state.
            sync: False leaves it to `sync` to make it durable.

        Raises:
            NoRoomError: The disk is full; nothing changed, and the same call may succeed later.
            UnavailableError: The log cannot be written until the chain is opened again.
        """
        self._index.make_room()
        stored = stored_block(block, receipts)
        offset = self._log.append(encode_record(stored), sync=sync)
        self._publish(stored, update, offset)
        for notice in self._followers:
            notice()
        return stored

    def sync(self) -> None:
        """Make all blocks durable.

        Raises:
            UnavailableError: The disk failed.
        """
        self._log.sync()

    def close(self) -> None:
        """Bring the index up to date and release all files."""
        self._index.close()
        self._log.close()

    def _last_known(self) -> tuple[int, State]:
        """Return the end of the log that the index knows, bytes, and the state there."""
        meta = self._index.get(META, _META_KEY)
        if meta is None:
            if self._index.get(BLOCK, bytes(8)) is not None:
                raise self._index.damaged("its head is missing")
            return START, State(self._index, root_edge(0, EMPTY_ROOT), next_node=1, block_num=-1)
        number, end, root, next_node = _META.unpack(meta)
        if end > self._log.size():
            raise RejectedError(
                f"the block log has {self._log.size()} bytes, the index knows {end}: committed "
                "blocks are missing; restore the log, or delete the index to go on with the "
                "blocks in the log"
            )
        head = self.by_num(number)
        if head is None:
            raise self._index.damaged(f"the place of block {number}, its head, is missing")
        self.advance(head)
        edge = root_edge(root, head.header.state_root_hash)
        return end, State(self._index, edge, next_node, number)

    def _replay(self, known: int) -> None:
        """Add the blocks that the log holds from byte `known` on."""
        progress = Progress(lambda: self._log.count(known))
        for offset, body in self._log.recover(known):
            stored = decode_record(body)
            self.check_next(stored)
            update = self.state.update(state_changes(stored))
            if update.root_hash != stored.header.state_root_hash:
                raise RejectedError(
                    f"block {stored.num}: its receipts lead to state root {update.root_hash}, "
                    f"its header says {stored.header.state_root_hash}"
                )
            self._index.make_room()
            self._publish(stored, update, offset)
            progress.step(stored.num)
        progress.end()

    def _publish(self, stored: StoredBlock, update: Update, offset: int) -> None:
        meta = _META.pack(stored.num, self._log.end, update.root, update.next_node)
        self._index.put(
            self.state.entries(stored.num, update)
            | self.entries(stored, offset)
            | {META: {_META_KEY: meta}}
        )
        self.state.advance(update)
        self.advance(stored)
        if may_change_obeyed(update.changes):
            self.governed_since = stored.num


def _open_index(path: Path) -> Store:
    """Open the index; give an empty one if LMDB cannot read it, or if its format is an old one."""
    unusable = path.with_name(f"{path.name}.old")
    shutil.rmtree(unusable, ignore_errors=True)
    try:
        return Store(path, TABLES, POSITION)
    except DamagedIndexError:
        raise
    except UnavailableError as error:
        _LOG.warning("building the index again from the log, which may take a while: %s", error)
        path.replace(unusable)  # at once: half an index must not be there after a power cut
        shutil.rmtree(unusable)
        return Store(path, TABLES, POSITION)


def state_changes(stored: StoredBlock) -> Mapping[str, bytes | None]:
    """Return the net effect of a block on state, by address; None deletes."""
    return {
        change.address: change.value if change.type == StateChange.SET else None
        for receipt in stored.receipts()
        for change in receipt.state_changes
    }
