"""Follows the ledger: every new block goes into the index, a fork is rolled back first."""

import logging
import threading
from collections.abc import Callable
from typing import Final

from contracts.errors import WaysealError
from contracts.ledger import LedgerClient
from contracts.proto.sawtooth_pb2 import Block
from contracts.sawtooth.blocks import NULL_BLOCK_ID, parse_block_header
from gateway.index.projection import our_transactions, project
from gateway.index.store import IndexStore

POLL_S: Final = 0.2
BACK_OFF_S: Final = 2.0

_log = logging.getLogger(__name__)


class Follower:
    """A thread that keeps the index at the ledger's head."""

    def __init__(
        self, ledger: LedgerClient, store: IndexStore, on_block: Callable[[], None]
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._on_block = on_block
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="index", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def close(self) -> None:
        """Stop following, after the block at hand."""
        self._stop.set()
        self._thread.join()

    def catch_up(self) -> int:
        """Take in every block up to the head; return how many there were.

        Raises:
            UnavailableError: The ledger or the index's file did not answer.
        """
        head = self._store.head()
        if head and head[1] == self._ledger.head_id():
            return 0
        count = 0
        for block in self._ledger.blocks(head[0] if head else 0):
            if head and not count and block.header_signature == head[1]:
                continue
            if not self._take(block):
                return count
            count += 1
            if self._stop.is_set():
                break
        return count

    def _take(self, block: Block) -> bool:
        """Add a block that follows ours; cut ours back when it follows another one."""
        header = parse_block_header(block.header)
        follows = self._store.block_id(header.block_num - 1) if header.block_num else NULL_BLOCK_ID
        known = self._store.block_id(header.block_num)
        if known is not None or follows != header.previous_block_id:
            fork = min(header.block_num, (self._store.head() or (0, ""))[0])
            self._store.cut(fork - 1)
            _log.warning("the ledger forked at or below block %d; index cut back", fork)
            return False
        ours = [transaction.header_signature for _, _, transaction in our_transactions(block)]
        self._store.add(project(block, header.block_num, self._ledger.receipts(ours)))
        self._on_block()
        return True

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.catch_up()
                wait_s = POLL_S
            except WaysealError as error:
                _log.warning("index waits: %s", error)
                wait_s = BACK_OFF_S
            self._stop.wait(wait_s)
