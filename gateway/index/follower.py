"""Follows the ledger: every new block goes into the index, a fork is rolled back first."""

import logging
from collections.abc import Callable
from typing import Final

from contracts.encoding import parse
from contracts.errors import UnavailableError
from contracts.ledger import LedgerClient
from contracts.pages import Committed
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.sawtooth.blocks import NULL_BLOCK_ID
from gateway.index.projection import project
from gateway.index.store import IndexStore
from gateway.network import Network
from gateway.worker import Worker
from storage.stages import Stage, Stages, Untold, timed

POLL_S: Final = 0.2

_log = logging.getLogger(__name__)


class Follower:
    """Keeps the index at the ledger's head, in a thread of its own.

    Attributes:
        worker: The thread.
    """

    def __init__(
        self,
        ledger: LedgerClient,
        network: Network,
        store: IndexStore,
        on_block: Callable[[], None],
        on_cut: Callable[[], None],
        stages: Stages | None = None,
    ) -> None:
        self._ledger = ledger
        self._network = network
        self._store = store
        self._on_block = on_block
        self._on_cut = on_cut
        self._stages = stages or Untold()
        self.worker = Worker("index", self._follow, idle_s=POLL_S)

    def catch_up(self) -> int:
        """Take in every block up to the head; return how many there were.

        Raises:
            RejectedError: The ledger is another one than before.
            UnavailableError: The ledger or the index's file did not answer.
        """
        self._network.check()
        head = self._store.head()
        if head and head[1] == self._ledger.head_id():
            return 0
        try:
            return self._take_from(head)
        except UnavailableError:
            # Sawtooth gives no answer beyond its head: after a fork it may lie below ours.
            newest = self._ledger.head_num()
            if head is None or newest >= head[0]:
                raise
            self._cut(newest)
            _log.warning("the ledger ends at block %d, below the index; index cut back", newest)
            return 0

    def _take_from(self, head: tuple[int, str] | None) -> int:
        """Take in the blocks that follow `head`, number and id; return how many there were."""
        count = 0
        for committed in self._ledger.committed(head[0] if head else 0):
            if head and not count and committed.block.header_signature == head[1]:
                continue
            if not self._take(committed):
                return count
            count += 1
            if self.worker.stopping:
                break
        return count

    def _take(self, committed: Committed) -> bool:
        """Add a block that follows ours; cut ours back when it follows another one."""
        header = parse(BlockHeader, committed.block.header)
        follows = self._store.block_id(header.block_num - 1) if header.block_num else NULL_BLOCK_ID
        known = self._store.block_id(header.block_num)
        if known is not None or follows != header.previous_block_id:
            fork = min(header.block_num, (self._store.head() or (0, ""))[0])
            self._cut(fork - 1)
            _log.warning("the ledger forked at or below block %d; index cut back", fork)
            return False
        with timed(self._stages, Stage.INDEX):
            self._store.add(project(committed, header.block_num))
        self._on_block()
        return True

    def _cut(self, block_num: int) -> None:
        self._store.cut(block_num)
        self._on_cut()

    def _follow(self) -> bool:
        return self.catch_up() > 0
