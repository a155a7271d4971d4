"""The one writer: takes verified batches in order of arrival and makes blocks of them.

While one block is executed and synced the next batches gather, so that the
cost of a sync is shared by all that arrived meanwhile.

Source: Sawtooth 1.2 architecture guide, "Journal"; consensus bytes as devmode's.
"""

import hashlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.keys import Signer
from contracts.node.candidate import Candidate, Orphan, Refusal
from contracts.node.chain import Chain
from contracts.node.executor import Verdict
from contracts.node.families import Families
from contracts.node.log import NoRoomError
from contracts.node.orphans import Orphans
from contracts.node.statuses import Outcome
from contracts.node.verify import VerifiedBatch
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_block

_LOG = logging.getLogger(__name__)

QUEUED_BATCHES_MAX: Final = 4_000
QUEUED_BYTES_MAX: Final = 64 << 20
BLOCK_TRANSACTIONS: Final = 2_000
"""A block takes no further submission once it has so many transactions."""
BLOCK_BYTES: Final = 8 << 20
"""Nor once it has so many bytes."""
RETRY_S: Final = 1.0
"""Pause, seconds, between attempts to write to a full disk."""
GENESIS_CONSENSUS: Final = b"Genesis"


@dataclass(frozen=True, slots=True)
class Submission:
    """Batches that arrived together and land in one block.

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
    """

    def __init__(
        self,
        chain: Chain,
        signer: Signer,
        families: Families,
        report: Callable[[Outcome], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._chain = chain
        self._signer = signer
        self._families = families
        self._report = report
        self._failed = failed
        self._orphans = Orphans()
        self._queue: deque[Submission] = deque()
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="publisher")
        self.trouble: str | None = None
        """Why no block can be written at the moment."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the block in the making and end."""
        with self._changed:
            self._stopping.set()
            self._changed.notify()
        self._thread.join()

    def submit(self, submission: Submission) -> None:
        """Put batches at the end of the queue; the caller keeps to the queue's limits."""
        with self._changed:
            self._queue.append(submission)
            self._changed.notify()

    def _run(self) -> None:
        try:
            while (taken := self._take()) is not None:
                self._round(taken)
        except Exception as error:  # noqa: BLE001 - whatever it was, no block follows
            _LOG.exception("no more blocks")
            self.trouble = str(error)
            self._failed(error)

    def _take(self) -> list[Submission] | None:
        """Wait for submissions; return as many as one block takes, or None to stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopping.is_set())
            if self._stopping.is_set():
                return None
            taken: list[Submission] = []
            transactions = size = 0
            while self._queue and transactions < BLOCK_TRANSACTIONS and size < BLOCK_BYTES:
                submission = self._queue.popleft()
                taken.append(submission)
                transactions += sum(len(batch.headers) for batch in submission.batches)
                size += submission.size
            return taken

    def _round(self, taken: Sequence[Submission]) -> None:
        outcome = Outcome()
        candidate = Candidate(self._chain.blocks, self._chain.state.get, self._families)
        for submission in taken:
            outcome.queued_batches += len(submission.batches)
            outcome.queued_bytes += submission.size
            for batch in submission.batches:
                outcome.decided.append(batch.id)
                self._decide(candidate, batch, outcome)
        if candidate.batches and not self._commit(candidate):
            return
        self._report(outcome)

    def _decide(self, candidate: Candidate, batch: VerifiedBatch, outcome: Outcome) -> None:
        """Try one batch and, when it is taken, the orphans that waited for it."""
        todo = deque([batch])
        while todo:
            batch = todo.popleft()
            match candidate.add(batch):
                case None:
                    for transaction in batch.batch.transactions:
                        todo += self._orphans.release(transaction.header_signature)
                case Verdict() as verdict:
                    outcome.invalid[batch.id] = verdict
                case Orphan(dependency):
                    self._orphans.add(batch, dependency)
                case Refusal.STUCK:
                    outcome.stuck.append(batch.id)

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
