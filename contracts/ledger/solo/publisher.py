"""The only writer: makes blocks of verified batches, in order of arrival.

While one block is executed and synced, more batches arrive. They share the
next block and its sync.

Source: Sawtooth 1.2 architecture guide, "Journal"; consensus bytes as devmode's.
"""

import hashlib
import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.engine.genesis import take_genesis
from contracts.ledger.engine.governed import Governed
from contracts.ledger.engine.statuses import Outcome
from contracts.ledger.engine.submissions import Submission
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.jobs import NoProcessors, Processors
from contracts.ledger.execution.obeyed import Obeyed, obeyed_after
from contracts.ledger.solo.pace import BlockPace, Waiting, is_full
from contracts.ledger.solo.scheduler import Scheduler
from contracts.ledger.solo.times import Times
from contracts.ledger.state.store import NoRoomError
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_block

if TYPE_CHECKING:
    from contracts.ledger.execution.verify import VerifiedBatch
    from contracts.proto.sawtooth_pb2 import Batch
    from contracts.sawtooth.batches import Family

_LOG = logging.getLogger(__name__)

BLOCK_TRANSACTIONS: Final = 2_000
"""A block takes no further submission once it has so many transactions."""
BLOCK_BYTES: Final = 8 << 20
"""Nor once it has so many bytes of batches."""
RETRY_S: Final = 1.0
"""Pause, seconds, between attempts to write to a full disk."""
GENESIS_CONSENSUS: Final = b"Genesis"


def devmode_consensus(batch_ids: Sequence[str]) -> bytes:
    """Return the consensus bytes of a block with these batches.

    Source: sawtooth-devmode 1.2, recorded blocks.
    """
    return b"Devmode" + hashlib.sha256("".join(batch_ids).encode()).digest()


class Publisher:
    """Makes blocks in its own thread; implements `Engine`.

    Args:
        chain: Takes the blocks; nothing else commits to it.
        signer: Signs blocks.
        families: Rules of the families in this process.
        report: Called from that thread with the outcome of every round, after the sync.
        failed: Called once from that thread if no more blocks can be written.
        interval_s: Least time from one block to the next, seconds.
        processors: Execute transactions of families that are not in this process.
        now: Returns the time, seconds since 1970, UTC.
    """

    def __init__(
        self,
        chain: Chain,
        signer: Signer,
        families: Families,
        report: Callable[[Outcome], None],
        failed: Callable[[Exception], None],
        interval_s: float = 0.0,
        processors: Processors | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._chain = chain
        self._signer = signer
        self._families = families
        self._report = report
        self._failed = failed
        self._pace = BlockPace(interval_s)
        self._times = Times(signer, now)
        self._governed = Governed(chain, obeyed_after, Obeyed())
        self._queue: deque[Submission] = deque()
        self._queued_size, self._last_s = 0, 0.0
        self._taken: deque[tuple[VerifiedBatch, int]] = deque()
        self._transactions = self._size = 0
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="publisher")
        self.scheduler = Scheduler(
            families, processors or NoProcessors(), chain.state.get, self._wake
        )
        self.sealer = None
        """See `Engine.sealer`: this signer makes the blocks."""
        self.light = None
        """See `Engine.light`."""
        self.trouble: str | None = None
        """Why no block can be written at the moment; None when blocks can be written."""

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the current block and end the thread."""
        with self._changed:
            self._stopping.set()
        self.scheduler.stop()
        if self._thread.ident:
            self._thread.join()

    def registered(self, family: "Family") -> None:
        """See `Engine.registered`."""
        self.scheduler.registered(family)

    def submit(self, submission: Submission) -> None:
        """Put batches at the end of the queue; the caller keeps to the queue's limits."""
        with self._changed:
            self._queue.append(submission)
            self._queued_size += submission.size
            self._last_s = time.monotonic()
            if len(self._queue) == 1 or is_full(self._queued_size):
                self._changed.notify()

    def _run(self) -> None:
        try:
            while self._gather():
                self._round()
        except Exception as error:  # noqa: BLE001 - after any error, no block follows
            _LOG.exception("no more blocks")
            self.trouble = str(error)
            self._failed(error)

    def _gather(self) -> bool:
        """Wait until a block is due and there are batches for it; return False to stop."""
        with self._changed:
            self._changed.wait_for(self._has_work)
            while not self._stopping.is_set() and (wait_s := self._wait_s()) > 0:
                self._changed.wait(wait_s)
            if self._stopping.is_set():
                return False
            while self._queue and self._goes_with_the_rest(self._queue[0]):
                self._take(self._queue.popleft())
        return True

    def _wait_s(self) -> float:
        """Return how long the next block waits for its time or for more batches."""
        now_s = time.monotonic()
        due_in_s = self._pace.due_in_s(now_s)
        if due_in_s > 0 or self._taken or self.scheduler.has_work():
            return due_in_s
        waiting = Waiting(len(self._queue), self._last_s, self._queued_size)
        return self._pace.more_in_s(now_s, waiting)

    def _goes_with_the_rest(self, submission: Submission) -> bool:
        """Say whether a submission, which is never split here, fits the block of those taken."""
        return not self._taken or (
            self._transactions < BLOCK_TRANSACTIONS
            and self._size < BLOCK_BYTES
            and self._size + submission.size <= BLOCK_BATCH_BYTES_MAX
        )

    def _has_work(self) -> bool:
        waiting = self._queue or self._taken or self._stopping.is_set()
        return bool(waiting) or self.scheduler.has_work()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify()

    def _take(self, submission: Submission) -> None:
        """Line up the batches of a submission; its last batch holds the bytes of all."""
        last = len(submission.batches) - 1
        for number, batch in enumerate(submission.batches):
            self._taken.append((batch, submission.size if number == last else 0))
            self._transactions += len(batch.headers)
        self._size += submission.size
        self._queued_size -= submission.size

    def _round(self) -> None:
        """Make one block of the batches lined up, as far as they fit."""
        outcome, began_s = Outcome(), time.monotonic()
        head = self._chain.head
        obeyed = self._governed.now()
        candidate = Candidate(self._chain, self._chain.state.get, self._families, obeyed)
        room = obeyed.batches_max or sys.maxsize
        if head is not None and obeyed.injects_times:
            self._times.begin(candidate, head)
            room = max(room - len(candidate.batches), 1)  # the injected one counts too
        self.scheduler.begin(candidate, outcome, room)
        while self._taken and self.scheduler.has_room_for(self._taken[0][0]):
            self._enter()
        self.scheduler.finish()
        if not candidate.is_empty:
            if not self._commit(candidate):
                return
            self._pace.made(began_s, time.monotonic())
        self._report(outcome)

    def _enter(self) -> None:
        """Hand the next batch to the scheduler."""
        batch, size = self._taken.popleft()
        self._transactions -= len(batch.headers)
        self._size -= size
        self.scheduler.enter(batch, size)

    def _commit(self, candidate: Candidate) -> bool:
        """Write the block, waiting while the disk is full; return False when told to stop."""
        while True:
            try:
                publish(self._chain, self._signer, candidate)
            except NoRoomError as error:
                if self.trouble is None:
                    _LOG.error("waiting for room on the disk: %s", error)
                self.trouble = str(error)
                if self._stopping.wait(RETRY_S):
                    return False
            except RejectedError as error:
                # A block's limits should rule this out. If the log refuses one nevertheless, the
                # ledger goes on without it: after a restart, clients would submit the same again.
                _LOG.exception("a block of %d batches is dropped", len(candidate.batches))
                self.scheduler.drop(f"its block cannot be written: {error}")
                return True
            else:
                self.trouble = None
                return True


def publish(chain: Chain, signer: Signer, candidate: Candidate) -> None:
    """Build, sign and commit the next block from `candidate`.

    Raises:
        NoRoomError: The disk is full; nothing changed.
        UnavailableError: The log cannot be written until the chain is opened again.
    """
    head = chain.head
    update = chain.state.update(candidate.changes)
    batch_ids = [batch.header_signature for batch in candidate.batches]
    block = build_block(
        signer,
        candidate.batches,
        block_num=0 if head is None else head.num + 1,
        previous_block_id=NULL_BLOCK_ID if head is None else head.id,
        consensus=GENESIS_CONSENSUS if head is None else devmode_consensus(batch_ids),
        state_root_hash=update.root_hash,
    )
    chain.commit(block, candidate.receipts, update)


def found(chain: Chain, signer: Signer, families: Families, batches: "Sequence[Batch]") -> None:
    """Commit the genesis block.

    Raises:
        RejectedError: A batch is invalid; nothing is written.
        UnavailableError: The disk cannot be written.
    """
    candidate = Candidate(chain, chain.state.get, families)
    take_genesis(candidate, batches)
    publish(chain, signer, candidate)
