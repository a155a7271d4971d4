"""The one writer: takes verified batches in order of arrival and makes blocks of them.

While one block is executed and synced the next batches gather, so that the
cost of a sync is shared by all that arrived meanwhile.

Source: Sawtooth 1.2 architecture guide, "Journal"; consensus bytes as devmode's.
"""

import hashlib
import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.node.candidate import BLOCK_BATCH_BYTES_MAX, Candidate
from contracts.node.execution.families import Families
from contracts.node.execution.jobs import NoProcessors, Processors
from contracts.node.execution.permitted import parse_permitted
from contracts.node.execution.scheduler import Scheduler
from contracts.node.execution.settings import max_batches_per_block, setting_in_force
from contracts.node.statuses import Outcome
from contracts.node.store.chain import Chain
from contracts.node.store.log import NoRoomError
from contracts.node.verify import VerifiedBatch
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_block
from contracts.sawtooth.settings import TRANSACTION_FAMILIES

_LOG = logging.getLogger(__name__)

QUEUED_BATCHES_MAX: Final = 4_000
QUEUED_BYTES_MAX: Final = 64 << 20
BLOCK_TRANSACTIONS: Final = 2_000
"""A block takes no further submission once it has so many transactions."""
BLOCK_BYTES: Final = 8 << 20
"""Nor once it has so many bytes."""
BLOCK_GAP_S: Final = 0.005
"""A block begins so many seconds after the one before, at the earliest: what arrives meanwhile
shares its signature, its state root and its sync."""
RETRY_S: Final = 1.0
"""Pause, seconds, between attempts to write to a full disk."""
GENESIS_CONSENSUS: Final = b"Genesis"


@dataclass(frozen=True, slots=True)
class Submission:
    """Batches that arrived together; they land in one block unless the network limits its batches.

    Attributes:
        batches: In order.
        size: Bytes that they hold of the queue's.
    """

    batches: Sequence[VerifiedBatch]
    size: int


def devmode_consensus(batch_ids: Sequence[str]) -> bytes:
    """Return the consensus bytes of a block with these batches.

    Source: sawtooth-devmode 1.2, recorded blocks.
    """
    return b"Devmode" + hashlib.sha256("".join(batch_ids).encode()).digest()


class Publisher:
    """Makes blocks in a thread of its own.

    Args:
        chain: Where blocks go; nobody else commits to it.
        signer: Signs blocks.
        families: Who judges which transaction.
        report: Called from that thread with every round's outcome, after the sync.
        failed: Called once from that thread when the chain cannot be written any more.
        interval_s: Least time from one block to the next, seconds.
        processors: Execute transactions of families that are not in this process.
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
    ) -> None:
        self._chain = chain
        self._signer = signer
        self._families = families
        self._report = report
        self._failed = failed
        self._interval_s = interval_s
        self._due_s = 0.0
        self._queue: deque[Submission] = deque()
        self._taken: deque[tuple[VerifiedBatch, int]] = deque()
        self._transactions = self._size = 0
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="publisher")
        self.scheduler = Scheduler(
            families, processors or NoProcessors(), chain.state.newest, self._wake
        )
        self.trouble: str | None = None
        """Why no block can be written at the moment."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the block in the making and end."""
        with self._changed:
            self._stopping.set()
        self.scheduler.stop()
        self._thread.join()

    def submit(self, submission: Submission) -> None:
        """Put batches at the end of the queue; the caller keeps to the queue's limits."""
        with self._changed:
            self._queue.append(submission)
            self._changed.notify()

    def _run(self) -> None:
        try:
            while self._gather():
                self._round()
        except Exception as error:  # noqa: BLE001 - whatever it was, no block follows
            _LOG.exception("no more blocks")
            self.trouble = str(error)
            self._failed(error)

    def _gather(self) -> bool:
        """Wait until a block is due and there are batches for it; return False to stop."""
        with self._changed:
            self._changed.wait_for(self._has_work)
        if self._stopping.wait(max(0.0, self._due_s - time.monotonic())):
            return False
        with self._changed:
            while self._queue and self._goes_with_the_rest(self._queue[0]):
                self._take(self._queue.popleft())
        return True

    def _goes_with_the_rest(self, submission: Submission) -> bool:
        """Say whether what is lined up and a submission, which stays whole, make one block."""
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
        """Line up the batches of a submission; the last one holds its bytes."""
        last = len(submission.batches) - 1
        for number, batch in enumerate(submission.batches):
            self._taken.append((batch, submission.size if number == last else 0))
            self._transactions += len(batch.headers)
        self._size += submission.size

    def _round(self) -> None:
        """Make one block of what is lined up, or of as much as a block may hold."""
        outcome, began_s = Outcome(), time.monotonic()
        state = self._chain.state
        permitted = parse_permitted(setting_in_force(state, TRANSACTION_FAMILIES))
        families = permitted.restrict(self._families)
        candidate = Candidate(self._chain.blocks, state.get, families)
        room = max_batches_per_block(state) or sys.maxsize
        self.scheduler.begin(candidate, outcome, permitted, room)
        while self._taken and self.scheduler.has_room_for(self._taken[0][0]):
            self._enter()
        self.scheduler.finish()
        if candidate.batches:
            if not self._commit(candidate):
                return
            self._due_s = max(began_s + BLOCK_GAP_S, time.monotonic() + self._interval_s)
        self._report(outcome)

    def _enter(self) -> None:
        """Hand the next batch to the scheduler."""
        batch, size = self._taken.popleft()
        self._transactions -= len(batch.headers)
        self._size -= size
        self.scheduler.enter(batch, size)

    def _commit(self, candidate: Candidate) -> bool:
        """Write the block, however long the disk is full; return False when told to stop."""
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
                # The limits of a block leave no way to here; should there be one, it must not
                # end the ledger for everyone else, who would submit the same again.
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
