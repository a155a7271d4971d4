"""When and where each batch is executed.

Batches of families in this process are executed at once, in order of arrival.
Batches of families that registered at the component port are executed by
transaction processors, several at a time, as far as their inputs and outputs
allow. Such a batch waits for every earlier undecided batch that it conflicts
with, and each of its transactions waits for the one before. So a read sees
only decided state, and nothing is executed twice unless a processor is lost.

All batches of one round land in one block, unless executing them takes longer
than `ROUND_S`. Then the block is made without the batches that are not ready;
they join the next block. Batches without a conflict do not wait for them.

Source: Sawtooth 1.2 architecture guide, "Transaction Scheduling".
"""

import queue
import time
from collections import deque
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

from contracts.address import BLOCK_INFO_NAMESPACE
from contracts.ledger.engine.candidate import (
    Candidate,
    Obstacle,
    Orphan,
    OwnDependency,
    Refusal,
)
from contracts.ledger.engine.statuses import Outcome
from contracts.ledger.engine.waiting import Orphans, Parked
from contracts.ledger.execution.executor import (
    MESSAGE_CHARS_MAX,
    InvalidTransaction,
    Read,
    TransactionContext,
    execute_transaction,
    reader,
    refused_settings,
)
from contracts.ledger.execution.jobs import Answer, Job, Lost, Processors
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.ledger.solo.claims import Claims
from contracts.ledger.solo.undecided import Undecided
from contracts.sawtooth.batches import Family

ROUND_S: Final = 1.0
"""How long, seconds, a block waits for batches that processors execute."""


@dataclass(frozen=True, slots=True)
class _Answered:
    entry: Undecided
    answer: Answer


_News = _Answered | Family | None
"""An answer, a family that registered, or the end."""


class Scheduler:
    """Decides batches, round after round; for the publisher's thread where not stated otherwise.

    Args:
        own: Families in this process.
        processors: Execute transactions of other families.
        below: Returns the newest committed value at an address, in any thread.
        wake: Called in any thread when a round would have work.
    """

    def __init__(
        self,
        own: Container[Family],
        processors: Processors,
        below: Read,
        wake: Callable[[], None],
    ) -> None:
        self._own = own
        self._processors = processors
        self._below = below
        self._wake = wake
        self._orphans = Orphans()
        self._parked = Parked()
        self._claims: Claims[Undecided] = Claims()
        self._ready: deque[Undecided] = deque()
        self._news: queue.SimpleQueue[_News] = queue.SimpleQueue()
        self._finished: deque[Undecided] = deque()
        self._awaited = 0
        self._room = 0
        self._until_s = 0.0
        self._arrivals = count()
        self._places: dict[str, int] = {}
        self._overtaking = False
        self._injected: list[str] = []
        self._candidate: Candidate
        self._outcome: Outcome

    def has_work(self) -> bool:
        """Say whether a round has work without new batches; any thread."""
        return bool(self._ready or self._finished) or not self._news.empty()

    def registered(self, family: Family) -> None:
        """Continue with batches that waited for a processor of `family`; any thread."""
        self._tell(family)

    def stop(self) -> None:
        """End a round that is waiting; any thread."""
        self._tell(None)

    def begin(self, candidate: Candidate, outcome: Outcome, room: int) -> None:
        """Begin a round with the batches that became ready since the last one.

        Args:
            candidate: Takes the batches that are valid.
            outcome: Takes the decisions.
            room: How many batches the block takes, valid or not.
        """
        self._until_s = time.monotonic() + ROUND_S
        self._candidate, self._outcome, self._room = candidate, outcome, room
        if candidate.injected != self._injected:
            self._injected = candidate.injected
            self._start_again(lambda entry: entry.reads(BLOCK_INFO_NAMESPACE))
        while self._finished and self.has_room_for(self._finished[0].batch):
            self._finish(self._finished.popleft())
        self._go_on()
        while not self._news.empty() and self._hear(0):
            pass

    def enter(self, batch: VerifiedBatch, size: int) -> None:
        """Decide a new batch, now or as soon as possible.

        Args:
            batch: Comes after all that entered before.
            size: Bytes of the queue that it holds.
        """
        if self._claims or self._ready or self._strangers(batch):
            self._enter(batch, size, pending=True)
        else:  # nothing is undecided, so there is nothing to track
            self._outcome.decided.append(batch.id)
            self._give_back(size)
            self._settle(batch, next(self._arrivals), self._candidate.add(batch))
        self._go_on()

    def has_room_for(self, batch: VerifiedBatch) -> bool:
        """Say whether the block takes `batch` too."""
        return self._room > 0 and self._candidate.has_room_for(batch)

    def finish(self) -> None:
        """End the round within `ROUND_S`; later rounds take batches not decided by then."""
        while self._is_awaiting() and self._hear(self._until_s - time.monotonic()):
            pass
        for entry in self._claims:
            entry.late = True
        self._awaited = 0
        if self._overtaking:
            self._candidate.arrange(self._places)
        self._overtaking = False
        self._places.clear()

    def drop(self, reason: str) -> None:
        """Drop the round's block: its batches are invalid, and batches that read it start again."""
        for batch in self._candidate.submitted:
            refused = InvalidTransaction(
                batch.transactions[0].header_signature, reason[:MESSAGE_CHARS_MAX]
            )
            self._outcome.invalid[batch.header_signature] = refused
        self._start_again(lambda _: True)

    def _start_again(self, is_outdated: Callable[[Undecided], bool]) -> None:
        """Start batches again that may have read a value which is no longer true."""
        kept: deque[Undecided] = deque()
        for entry in self._finished:
            if is_outdated(entry):
                entry.start_again()
                self._ready.append(entry)
            else:
                kept.append(entry)
        self._finished = kept
        for entry in self._claims:
            if not entry.waits_for and entry not in self._ready and entry not in kept:
                entry.stale = entry.stale or is_outdated(entry)

    def _is_awaiting(self) -> bool:
        """Say whether the block waits for batches that processors execute."""
        return self._awaited > 0 and self._room > 0 and not self._finished

    def _tell(self, news: _News) -> None:
        self._news.put(news)
        self._wake()

    def _hear(self, timeout_s: float) -> bool:
        """Handle one piece of news; return False after `timeout_s` without any, or at the end."""
        try:
            news = self._news.get(timeout=max(timeout_s, 0))
        except queue.Empty:
            return False
        match news:
            case None:
                return False
            case Family() as family:
                for batch in self._parked.release(family):
                    self._enter(batch, None, pending=True)
            case _Answered(entry, answer):
                self._take_answer(entry, answer)
        self._go_on()
        return True

    def _enter(self, batch: VerifiedBatch, size: int | None, *, pending: bool) -> None:
        """Queue a batch behind those that it must wait for."""
        entry = Undecided(batch, next(self._arrivals), size, pending)
        if self._claims or self._strangers(batch):
            entry.waits_for = self._claims.enter(entry, batch)
            entry.late = any(other.late for other in entry.waits_for)
            self._awaited += not entry.late
            for other in entry.waits_for:
                other.followers.append(entry)
        if not entry.waits_for:
            self._ready.append(entry)

    def _go_on(self) -> None:
        while self._ready and self.has_room_for(self._ready[0].batch):
            self._start(self._ready.popleft())

    def _start(self, entry: Undecided) -> None:
        obstacle = self._candidate.obstacle(entry.batch)
        strangers = self._strangers(entry.batch)
        if isinstance(obstacle, Refusal):
            self._decide(entry, obstacle)
        elif not strangers:
            self._decide(entry, self._candidate.add(entry.batch))
        elif (verdict := self._candidate.not_permitted(entry.batch, self._own)) is not None:
            self._decide(entry, verdict)
        elif missing := [family for family in strangers if self._is_missing(family)]:
            self._park(entry, missing[0])
        elif obstacle is not None:
            self._decide(entry, obstacle)
        else:
            self._advance(entry)

    def _advance(self, entry: Undecided) -> None:
        """Execute the next transactions of a batch, up to one that a processor executes."""
        batch, candidate, execution = entry.batch, self._candidate, entry.execution
        # Safe in any thread and while blocks are made: conflicting writes wait for this batch.
        read = reader(self._below, execution.changes, candidate.changes)
        while entry.done < len(batch.headers):
            transaction, header = batch.batch.transactions[entry.done], batch.headers[entry.done]
            if Family.of(header) not in self._own:
                done = partial(self._answered, entry)
                self._processors.process(Job(transaction, header, read, done, execution.room))
                return
            result = execute_transaction(
                transaction, header, candidate.families, read, execution.room
            )
            if isinstance(result, InvalidTransaction):
                self._decide(entry, result)
                return
            execution.add(transaction.header_signature, result)
        refused = refused_settings(execution, reader(self._below, candidate.changes))
        if refused is not None:
            self._decide(entry, refused)
        elif self.has_room_for(batch):
            self._finish(entry)
        else:
            self._finished.append(entry)

    def _finish(self, entry: Undecided) -> None:
        """Put an executed batch into the block, unless its signers lost their permission."""
        violation = self._candidate.violation(entry.batch)
        if violation is None:
            self._candidate.take(entry.batch, entry.execution)
        self._decide(entry, violation)

    def _answered(self, entry: Undecided, answer: Answer) -> None:
        """Pass on a processor's answer; any thread."""
        self._tell(_Answered(entry, answer))

    def _take_answer(self, entry: Undecided, answer: Answer) -> None:
        match answer:
            case Lost():
                self._park(entry, Family.of(entry.batch.headers[entry.done]))
            case _ if entry.stale:
                entry.start_again()
                self._ready.append(entry)
            case InvalidTransaction():
                self._decide(entry, answer)
            case TransactionContext() as context:
                name = entry.batch.batch.transactions[entry.done].header_signature
                entry.execution.add(name, context)
                self._advance(entry)

    def _park(self, entry: Undecided, family: Family) -> None:
        """Let a batch wait for a processor; no other batch waits for it."""
        self._outcome.decided += self._parked.add(entry.batch, family, pending=entry.pending)
        self._leave(entry)

    def _decide(self, entry: Undecided, result: InvalidTransaction | Obstacle | None) -> None:
        """Record the decision on a batch; continue with the batches that waited for it."""
        if entry.pending:
            self._outcome.decided.append(entry.batch.id)
        self._leave(entry)
        self._settle(entry.batch, entry.place, result)

    def _settle(
        self, batch: VerifiedBatch, place: int, result: InvalidTransaction | Obstacle | None
    ) -> None:
        if result is None or isinstance(result, InvalidTransaction):
            self._room -= 1
        match result:
            case None:
                self._places[batch.id] = place
                for transaction in batch.batch.transactions:
                    for orphan in self._orphans.release(transaction.header_signature):
                        self._enter(orphan, None, pending=False)
            case InvalidTransaction() as verdict:
                self._outcome.invalid[batch.id] = verdict
            case Orphan(dependency):
                self._orphans.add(batch, dependency)
            case OwnDependency(transaction_id, dependency) as why:
                self._outcome.never_decided(batch.id, transaction_id, str(why))
                self._orphans.add(batch, dependency)
            case Refusal.STUCK:
                self._outcome.stuck.append(batch.id)

    def _leave(self, entry: Undecided) -> None:
        """Drop an entry's claims and its room in the queue."""
        if entry in self._claims:
            self._claims.leave(entry)
            self._overtaking = True
            self._awaited -= not entry.late
        for follower in entry.followers:
            follower.waits_for.discard(entry)
            if not follower.waits_for:
                self._ready.append(follower)
        if entry.size is not None:
            self._give_back(entry.size)

    def _give_back(self, size: int) -> None:
        """Free a batch's place in the queue."""
        self._outcome.queued_batches += 1
        self._outcome.queued_bytes += size

    def _is_missing(self, family: Family) -> bool:
        """Say whether a batch of `family` must wait for a processor or behind such a batch."""
        return self._parked.holds(family) or not self._processors.has(family)

    def _strangers(self, batch: VerifiedBatch) -> list[Family]:
        """Return the families of a batch that are not in this process."""
        return [family for family in map(Family.of, batch.headers) if family not in self._own]
