"""Which batch is executed when, and where.

Batches of families in this process are executed on the spot, in order of
arrival. Those of families that registered at the component port are executed
elsewhere, several at once, as far as their inputs and outputs allow: a batch
waits for every undecided batch before it with which it conflicts, and its
transactions for each other. So a read sees decided state only, and nothing is
executed twice unless a processor is lost.

All batches of one round land in one block, unless executing them takes longer
than `ROUND_S`; then the block is made without those that are not ready, and
they join the next. What is not in conflict with them goes on meanwhile.

Source: Sawtooth 1.2 architecture guide, "Transaction Scheduling".
"""

import queue
import time
from collections import deque
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final

from contracts.node.candidate import Candidate, Orphan, Refusal
from contracts.node.execution.claims import Claims
from contracts.node.execution.executor import (
    EFFECT_BYTES_MAX,
    MESSAGE_CHARS_MAX,
    Changes,
    Execution,
    Read,
    TransactionContext,
    Verdict,
    execute_transaction,
    reader,
)
from contracts.node.execution.jobs import Answer, Job, Lost, Processors
from contracts.node.execution.orphans import Orphans
from contracts.node.execution.parked import Parked
from contracts.node.execution.permitted import Permitted
from contracts.node.statuses import Outcome
from contracts.node.verify import VerifiedBatch
from contracts.proto.sawtooth_pb2 import TransactionReceipt
from contracts.rules.context import InvalidTransactionError
from contracts.sawtooth.transactions import Family

ROUND_S: Final = 1.0
"""How long, seconds, a block waits for batches that are executed elsewhere."""


@dataclass(eq=False, slots=True)
class _Entry:
    """A batch that is not decided at once.

    Attributes:
        batch: The batch.
        place: Where it stands in the order of arrival, and so in its block.
        size: Bytes that it holds of the queue's; None when it waited elsewhere since.
        pending: Whether its status is PENDING until it is decided.
        late: Whether no block waits for it.
        waits_for: Batches that must be decided before it begins.
        followers: Those that wait for it.
        done: How many of its transactions are executed.
        changes: What they make of the state.
        receipts: One for each.
        effects: What these take, bytes, or less.
        stale: Whether it read what no block holds, and has to begin anew.
    """

    batch: VerifiedBatch
    place: int
    size: int | None
    pending: bool
    late: bool = False
    waits_for: "set[_Entry]" = field(default_factory=set)
    followers: "list[_Entry]" = field(default_factory=list)
    done: int = 0
    changes: Changes = field(default_factory=dict)
    receipts: list[TransactionReceipt] = field(default_factory=list)
    effects: int = 0
    stale: bool = False

    def begin_anew(self) -> None:
        """Forget what was executed."""
        self.done, self.changes, self.receipts = 0, {}, []
        self.effects, self.stale = 0, False


@dataclass(frozen=True, slots=True)
class _Answered:
    entry: _Entry
    answer: Answer


_News = _Answered | Family | None
"""An answer, a family that registered, or the end."""


class Scheduler:
    """Decides batches, round after round; used by the publisher's thread unless said otherwise.

    Args:
        own: Families in this process.
        processors: Execute transactions of the others.
        below: Returns the newest committed value at an address, in any thread.
        wake: Called in any thread when there is news for a round.
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
        self._claims: Claims[_Entry] = Claims()
        self._ready: deque[_Entry] = deque()
        self._news: queue.SimpleQueue[_News] = queue.SimpleQueue()
        self._finished: deque[_Entry] = deque()
        self._awaited = 0
        self._room = 0
        self._until_s = 0.0
        self._arrivals = count()
        self._places: dict[str, int] = {}
        self._overtaking = False
        self._permitted: Permitted
        self._candidate: Candidate
        self._outcome: Outcome

    def has_work(self) -> bool:
        """Say whether a round would find something to do without new batches; any thread."""
        return bool(self._ready or self._finished) or not self._news.empty()

    def registered(self, family: Family) -> None:
        """Take note of a new processor; any thread."""
        self._tell(family)

    def stop(self) -> None:
        """End the round that may be waiting; any thread."""
        self._tell(None)

    def begin(
        self, candidate: Candidate, outcome: Outcome, permitted: Permitted, room: int
    ) -> None:
        """Begin a round with what became ready since the last.

        Args:
            candidate: Takes the batches that are valid.
            outcome: Takes what is decided.
            permitted: What the network permits.
            room: How many batches the block takes, valid or not.
        """
        self._until_s = time.monotonic() + ROUND_S
        self._candidate, self._outcome, self._permitted = candidate, outcome, permitted
        self._room = room
        while self._finished and self.has_room_for(self._finished[0].batch):
            self._finish(self._finished.popleft())
        self._go_on()
        while not self._news.empty() and self._hear(0):
            pass

    def enter(self, batch: VerifiedBatch, size: int) -> None:
        """Decide a new batch, or have it decided as soon as may be.

        Args:
            batch: It comes after all that entered before.
            size: Bytes that it holds of the queue's.
        """
        if self._claims or self._ready or self._strangers(batch):
            self._enter(batch, size, pending=True)
        else:  # nothing is undecided: no need to keep track of it
            self._outcome.decided.append(batch.id)
            self._give_back(size)
            self._settle(batch, next(self._arrivals), self._candidate.add(batch))
        self._go_on()

    def has_room_for(self, batch: VerifiedBatch) -> bool:
        """Say whether the block takes `batch` too."""
        return self._room > 0 and self._candidate.has_room_for(batch)

    def finish(self) -> None:
        """End the round, after a while at most: what is not decided by then, the next ones take."""
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
        """Take back the round's block: what is in it is invalid, what read it begins anew."""
        for batch in self._candidate.batches:
            refused = Verdict(batch.transactions[0].header_signature, reason[:MESSAGE_CHARS_MAX])
            self._outcome.invalid[batch.header_signature] = refused
        while self._finished:
            entry = self._finished.popleft()
            entry.begin_anew()
            self._ready.append(entry)
        for entry in self._claims:
            entry.stale = not entry.waits_for and entry not in self._ready

    def _is_awaiting(self) -> bool:
        """Say whether the block waits for batches that are executed elsewhere."""
        return self._awaited > 0 and self._room > 0 and not self._finished

    def _tell(self, news: _News) -> None:
        self._news.put(news)
        self._wake()

    def _hear(self, timeout_s: float) -> bool:
        """Take one piece of news; return False when there is none in time, or at the end."""
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
        """Put a batch behind those that it must wait for."""
        entry = _Entry(batch, next(self._arrivals), size, pending)
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

    def _start(self, entry: _Entry) -> None:
        obstacle = self._candidate.obstacle(entry.batch)
        strangers = self._strangers(entry.batch)
        if isinstance(obstacle, Refusal):
            self._decide(entry, obstacle)
        elif not strangers:
            self._decide(entry, obstacle or self._candidate.execute(entry.batch))
        elif (verdict := self._not_permitted(entry.batch)) is not None:
            self._decide(entry, verdict)
        elif missing := [family for family in strangers if self._is_missing(family)]:
            self._park(entry, missing[0])
        elif obstacle is not None:
            self._decide(entry, obstacle)
        else:
            self._advance(entry)

    def _advance(self, entry: _Entry) -> None:
        """Execute the next transactions of a batch, up to one that is executed elsewhere."""
        batch, candidate = entry.batch, self._candidate
        # Right in any thread, and when blocks are made meanwhile: whatever they write in
        # conflict with the batch waits for it.
        read = reader(self._below, entry.changes, candidate.changes)
        while entry.done < len(batch.headers):
            transaction, header = batch.batch.transactions[entry.done], batch.headers[entry.done]
            room = EFFECT_BYTES_MAX - entry.effects
            if Family.of(header) not in self._own:
                done = partial(self._answered, entry)
                self._processors.process(Job(transaction, header, read, done, room))
                return
            result = execute_transaction(transaction, header, candidate.families, read, room)
            if isinstance(result, Verdict):
                self._decide(entry, result)
                return
            self._executed(entry, result)
        if self.has_room_for(batch):
            self._finish(entry)
        else:
            self._finished.append(entry)

    def _finish(self, entry: _Entry) -> None:
        """Take a batch that was executed, the last part of it elsewhere perhaps."""
        self._candidate.take(entry.batch, Execution(entry.changes, entry.receipts, entry.effects))
        self._decide(entry, None)

    def _answered(self, entry: _Entry, answer: Answer) -> None:
        """Take note of an answer; any thread."""
        self._tell(_Answered(entry, answer))

    def _take_answer(self, entry: _Entry, answer: Answer) -> None:
        match answer:
            case Lost():
                self._park(entry, Family.of(entry.batch.headers[entry.done]))
            case _ if entry.stale:
                entry.begin_anew()
                self._ready.append(entry)
            case Verdict():
                self._decide(entry, answer)
            case TransactionContext() as context:
                self._executed(entry, context)
                self._advance(entry)

    def _executed(self, entry: _Entry, context: TransactionContext) -> None:
        """Keep what the next transaction of a batch did."""
        name = entry.batch.batch.transactions[entry.done].header_signature
        entry.changes.update(context.changes)
        entry.receipts.append(context.receipt(name))
        entry.effects += context.size
        entry.done += 1

    def _park(self, entry: _Entry, family: Family) -> None:
        """Let a batch wait for a processor, and nobody for the batch."""
        forgotten = self._parked.add(entry.batch, family)
        if entry.pending:
            self._outcome.decided += forgotten
        self._leave(entry)

    def _decide(self, entry: _Entry, result: Verdict | Refusal | Orphan | None) -> None:
        """Say what became of a batch; when it is taken, let in those that waited for it."""
        if entry.pending:
            self._outcome.decided.append(entry.batch.id)
        self._leave(entry)
        self._settle(entry.batch, entry.place, result)

    def _settle(
        self, batch: VerifiedBatch, place: int, result: Verdict | Refusal | Orphan | None
    ) -> None:
        if result is None or isinstance(result, Verdict):
            self._room -= 1
        match result:
            case None:
                self._places[batch.id] = place
                for transaction in batch.batch.transactions:
                    for orphan in self._orphans.release(transaction.header_signature):
                        self._enter(orphan, None, pending=False)
            case Verdict() as verdict:
                self._outcome.invalid[batch.id] = verdict
            case Orphan(dependency):
                self._orphans.add(batch, dependency)
            case Refusal.STUCK:
                self._outcome.stuck.append(batch.id)

    def _leave(self, entry: _Entry) -> None:
        """Let go of an entry's claims and of its room in the queue."""
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
        """Say whether a batch must wait for `family`, or behind those that did when it came."""
        return self._parked.holds(family) or not self._processors.has(family)

    def _strangers(self, batch: VerifiedBatch) -> list[Family]:
        """Return the families of a batch that are not in this process."""
        return [family for family in map(Family.of, batch.headers) if family not in self._own]

    def _not_permitted(self, batch: VerifiedBatch) -> Verdict | None:
        """Say why the network does not permit a batch, before anyone is asked to execute it."""
        for transaction, header in zip(batch.batch.transactions, batch.headers, strict=True):
            try:
                TransactionContext(header, self._candidate.read)
                self._permitted.check(header)
            except InvalidTransactionError as error:
                return Verdict(transaction.header_signature, str(error)[:MESSAGE_CHARS_MAX])
        return None
