"""Follows the ledger: each new block goes into the index; a fork first cuts the index back."""

import logging
import time
from collections.abc import Callable
from typing import Final

from contracts.encoding import parse
from contracts.errors import UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.ledger.pages import Committed
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.runtime.dependency import Dependency
from contracts.sawtooth.blocks import NULL_BLOCK_ID
from gateway.index.cooling import Moving
from gateway.index.network import Network
from gateway.index.projection import project
from gateway.index.reindexing import take_offered
from gateway.index.store import Head, IndexStore
from gateway.worker import Worker
from storage.stages import NOT_RECORDED, Stage, Stages, timed

POLL_S: Final = 0.2
TELL_EVERY_S: Final = 10.0
"""Between two lines of the log about the progress of a rebuild, at most."""
STEPS: Final = 10
"""Each tenth of a rebuild has a line too: a quick one would have the first line only."""

_log = logging.getLogger(__name__)


class Follower:
    """Keeps the index at the ledger's head, in its own thread.

    Attributes:
        give_way: Called before each batch of a block, and before the block is written.
        worker: The thread.
        reached: Whether the ledger works: no other part asks it as often.
    """

    def __init__(
        self,
        ledger: LedgerClient,
        network: Network,
        store: IndexStore,
        on_block: Callable[[], None],
        on_cut: Callable[[], None],
        stages: Stages = NOT_RECORDED,
        moving: Moving | None = None,
    ) -> None:
        self._ledger = ledger
        self._network = network
        self._store = store
        self._on_block = on_block
        self._on_cut = on_cut
        self._stages = stages
        self._moving = moving
        self._told_s = 0.0
        self._told_step = 0
        self.give_way: Callable[[], None] = lambda: None
        self.reached = Dependency("the ledger")
        self.worker = Worker("index", self._follow, idle_s=POLL_S)

    def catch_up(self) -> int:
        """Take in every block up to the head, and return how many they were.

        Raises:
            RejectedError: The ledger is not the one that this gateway belongs to.
            UnavailableError: The ledger or the index's file did not answer.
        """
        newest_id = self._newest_id()
        self._network.check()
        if take_offered(self._store, self._ledger, self._network.genesis_block_id):
            self._on_block()
        head = self._store.head()
        if head and head.block_id == newest_id:
            if self._store.rebuild is not None:
                self._store.complete()
                self._on_block()
            return 0
        if self._store.rebuild is not None:
            self._store.expect(self._ledger.head_num())
        try:
            return self._take_from(head)
        except UnavailableError:
            # Sawtooth answers nothing beyond its head, which after a fork may be another block than
            # ours at the same height, or below.
            newest = self._ledger.head_num()
            if head is None or newest > head.block_num:
                raise
            self._cut_from(min(newest + 1, head.block_num))
            return 0

    def _newest_id(self) -> str:
        """Return the id of the ledger's head, and note whether the ledger answered."""
        try:
            newest_id = self._ledger.head_id()
        except UnavailableError as error:
            self.reached.fails(str(error))
            raise
        self.reached.works()
        return newest_id

    def _take_from(self, head: Head | None) -> int:
        """Take in the blocks that follow `head`, and return how many they were."""
        count = 0
        for committed in self._ledger.committed(head.block_num + 1 if head else 0):
            if not self._take(committed):
                return count
            count += 1
            if self.worker.stopping:
                break
        return count

    def _take(self, committed: Committed) -> bool:
        """Add a block that follows our head; cut the index back if it follows another block."""
        header = parse(BlockHeader, committed.block.header)
        follows = self._store.block_id(header.block_num - 1) if header.block_num else NULL_BLOCK_ID
        known = self._store.block_id(header.block_num)
        if known is not None or follows != header.previous_block_id:
            head = self._store.head()
            fork = min(header.block_num, head.block_num if head else 0)
            self._cut_from(fork)
            return False
        with timed(self._stages, Stage.INDEX):
            # While the index is made again, people wait for it.
            give_way = self.give_way if self._store.rebuild is None else _at_once
            projected = project(committed, header.block_num, give_way)
            give_way()
            self._store.add(*projected)
        if self._moving is not None and self._store.rebuild is not None:
            self._moving.after(sum(len(each.readings) for each in projected.readings))
        self._tell(header.block_num)
        self._on_block()
        return True

    def _tell(self, block_num: int) -> None:
        """Log how far a rebuild has come, at each step and now and then between."""
        rebuild, now_s = self._store.rebuild, time.monotonic()
        if rebuild is None:
            return
        step = STEPS * (block_num + 1) // (rebuild.of + 1) if rebuild.of is not None else 0
        if step != self._told_step or now_s - self._told_s >= TELL_EVERY_S:
            self._told_s, self._told_step = now_s, step
            _log.warning("%s", self._store.progress(rebuild))

    def _cut_from(self, fork: int) -> None:
        """Remove this block of the index and all above it: the ledger has others, or none."""
        self._store.cut(fork - 1)
        self._on_cut()
        _log.warning("the ledger forked at or below block %d; index cut back", fork)

    def _follow(self) -> bool:
        # It was at the head: what has come since is taken with the next look, which ends a rebuild.
        return self.catch_up() > 0 and self._store.rebuild is not None


def _at_once() -> None:
    """Give way to nobody."""
