"""Passes submitted batches on to the engine, and remembers them until a height decides them.

The mempool of CometBFT lives in memory; so does this queue. A client that submitted a batch submits
it again until it is committed, as with `solo`.
"""

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.encoding import canonical
from contracts.errors import UnavailableError
from contracts.ledger.cometbft.application import Application
from contracts.ledger.cometbft.batches import carried
from contracts.ledger.cometbft.checks import Check
from contracts.ledger.cometbft.decisions import Code, Decision
from contracts.ledger.cometbft.rpc import Rpc
from contracts.ledger.engine.candidate import Orphan, OwnDependency, Refusal
from contracts.ledger.engine.statuses import Outcome
from contracts.ledger.engine.submissions import Submission
from contracts.ledger.engine.waiting import Orphans, Parked
from contracts.ledger.execution.executor import MESSAGE_CHARS_MAX, InvalidTransaction
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.ledger.state.reader import NotKeptError
from contracts.sawtooth.batches import Family

_LOG = logging.getLogger(__name__)

AT_ONCE: Final = 100
"""Batches of one request to the engine."""
AT_ONCE_BYTES: Final = 4 << 20
"""No further batch joins a request whose batches are longer together."""
FULL_S: Final = 0.05
"""Pause, seconds, when the mempool is full, or the engine gets blocks from the others."""
SILENT_S: Final = 0.5
"""Pause, seconds, when the engine does not answer."""
PENDING_S: Final = 600.0
"""After so long, seconds, a batch that no height decided is forgotten: its status is UNKNOWN."""
_IN_CACHE: Final = "already exists in cache"
_NOT_NOW: Final = ("mempool is full", "endpoint is closed while node is catching up")
"""It takes the same batch later. CometBFT 0.39 says the second until it has the others' blocks."""


@dataclass(slots=True)
class _Item:
    """A batch on its way to the engine.

    Attributes:
        batch: The batch.
        size: Bytes of the queue that it holds: its submission's, if it is the last one of that.
        queued: Whether it holds a place in the queue.
        pending: Whether its status is PENDING until something is decided about it.
        tx: As the engine carries it; empty until it is sent for the first time.
    """

    batch: VerifiedBatch
    size: int
    queued: bool = True
    pending: bool = True
    tx: bytes = b""


@dataclass(frozen=True, slots=True)
class _Sent:
    item: _Item
    since_s: float


class Sender:
    """Sends in a thread of its own.

    Args:
        application: Checks what the mempool asks it.
        rpc: The engine; for this thread.
        report: Called with what became of batches, in any thread.
    """

    def __init__(
        self, application: Application, rpc: Rpc, report: Callable[[Outcome], None]
    ) -> None:
        self._application = application
        self._rpc = rpc
        self._report = report
        self._changed = threading.Condition()
        self._queue: deque[_Item] = deque()
        self._sent: OrderedDict[str, _Sent] = OrderedDict()
        self._orphans = Orphans()
        self._parked = Parked()
        self._compressed = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sender")
        self.trouble: str | None = None
        """Why the engine takes no batches; None while it answers."""

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; unsent batches are lost, and their senders repeat them."""
        with self._changed:
            self._stopping.set()
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def submit(self, submission: Submission) -> None:
        """Put batches at the end of the queue; any thread."""
        last = len(submission.batches) - 1
        self._put(
            _Item(batch, submission.size if number == last else 0)
            for number, batch in enumerate(submission.batches)
        )

    def registered(self, family: Family) -> None:
        """Continue with batches that waited for a processor of `family`; any thread."""
        with self._changed:
            released = self._parked.release(family)
        self._put(_again(batch, pending=True) for batch in released)

    def decided(self, decisions: Sequence[Decision]) -> None:
        """Take what a height decided; in the consensus thread."""
        outcome = Outcome()
        with self._changed:
            for decision in decisions:
                self._settle(decision, outcome)
            self._changed.notify()
        self._report(outcome)

    def _put(self, items: Iterable[_Item]) -> None:
        with self._changed:
            self._queue.extend(items)
            self._changed.notify()

    def _settle(self, decision: Decision, outcome: Outcome) -> None:
        batch, result = decision.batch, decision.result
        sent = self._sent.pop(batch.id, None)
        if sent is not None and result is Code.NO_ROOM:
            self._queue.append(sent.item)
            return
        if sent is not None:
            _leave(sent.item, outcome)
        match result:
            case None:
                for transaction in batch.batch.transactions:
                    self._queue.extend(
                        map(_again, self._orphans.release(transaction.header_signature))
                    )
            case InvalidTransaction() as verdict:
                outcome.invalid[batch.id] = verdict
            case Orphan(dependency) if sent is not None:
                self._orphans.add(batch, dependency)
            case OwnDependency(transaction_id, dependency) as why if sent is not None:
                outcome.never_decided(batch.id, transaction_id, str(why))
                self._orphans.add(batch, dependency)
            case Refusal.STUCK:
                outcome.stuck.append(batch.id)

    def _run(self) -> None:
        while (items := self._next()) is not None:
            if items and not self._stopping.is_set():
                self._send(items)
            self._forget()

    def _next(self) -> list[_Item] | None:
        """Return what to send next, nothing after a while without any; None to stop."""
        items: list[_Item] = []
        outcome, size = Outcome(), 0
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopping.is_set(), SILENT_S)
            if self._stopping.is_set():
                return None
            while self._queue and len(items) < AT_ONCE and size <= AT_ONCE_BYTES:
                item = self._queue.popleft()
                if (sent := self._sent.get(item.batch.id)) is not None:
                    self._join(item, sent, outcome)
                    continue
                size += item.batch.size
                items.append(item)
                self._sent[item.batch.id] = _Sent(item, time.monotonic())
        if outcome.decided:
            self._report(outcome)
        return items

    def _join(self, item: _Item, sent: _Sent, outcome: Outcome) -> None:
        """Take a batch that is on its way already: its status stays pending until it is decided."""
        if sent.item.pending:
            _leave(item, outcome)
        else:  # it had waited for a dependency
            self._sent[item.batch.id] = _Sent(item, sent.since_s)

    def _send(self, items: Sequence[_Item]) -> None:
        try:
            answers = self._offered(items)
        except UnavailableError as error:
            if self.trouble is None:
                _LOG.error("%s", error)
            self.trouble = str(error)
            self._take_back(items)
            self._stopping.wait(SILENT_S)
            return
        self.trouble = None
        outcome, full = Outcome(), list[_Item]()
        for item, check in zip(items, answers, strict=True):
            if check.code is Code.NO_ROOM or (full and check.code is Code.EARLY):
                full.append(item)  # an early one may depend on one for which there was no room
            else:
                self._act_on(check, item, outcome)
        self._report(outcome)
        if full:
            self._take_back(full)
            self._stopping.wait(FULL_S)

    def _offered(self, items: Sequence[_Item]) -> list[Check]:
        """Offer batches to the mempool; return for each whether it took it."""
        compress, checks = self._compresses(), self._application.checks
        txs = [self._tx(item, compress=compress) for item in items]
        checks.expect(txs)
        refusals = self._rpc.offer(txs)
        return [
            self._answer(item.batch, refusal, check)
            for item, refusal, check in zip(items, refusals, checks.take(txs), strict=True)
        ]

    def _answer(self, batch: VerifiedBatch, refusal: str, check: Check | None) -> Check:
        """Return whether the mempool took a batch.

        Args:
            batch: The batch.
            refusal: Why CometBFT did not ask about it now; empty if it did. It does not ask about
                those that it holds, and those that a height has committed.
            check: What was said of it, now or before.
        """
        if check is not None and not (refusal and check.code is Code.TAKEN):
            return check
        if any(words in refusal for words in _NOT_NOW):
            return Check(Code.NO_ROOM, refusal)
        if refusal and _IN_CACHE not in refusal:
            return Check(Code.INVALID, refusal)
        committed = self._application.admission.is_committed(batch)
        return Check(Code.COMMITTED if committed else Code.TAKEN)

    def _compresses(self) -> bool:
        try:
            compresses = self._application.compressing.now()
        except NotKeptError:  # newer blocks came in the meantime; the next call reads theirs
            return self._compressed
        if compresses != self._compressed:
            self._compressed = compresses
            form = "compressed" if compresses else "as they are"
            _LOG.info("the network carries batches %s", form)
        return compresses

    def _tx(self, item: _Item, *, compress: bool) -> bytes:
        """Return a batch as the engine carries it, made once: the event loop has no time for it."""
        if not item.tx:
            batch = item.batch.batch
            item.tx = carried(batch) if compress else canonical(batch)
            self._application.batches.add(item.tx, item.batch)
        return item.tx

    def _take_back(self, items: Sequence[_Item]) -> None:
        """Put what was not taken at the front again, unless a height has decided it since."""
        with self._changed:
            kept = [item for item in items if self._sent.pop(item.batch.id, None) is not None]
            self._queue.extendleft(reversed(kept))

    def _act_on(self, check: Check, item: _Item, outcome: Outcome) -> None:
        """Act on whether the mempool took a batch."""
        if check.code is Code.TAKEN:
            return  # a height will decide it
        batch = item.batch
        with self._changed:
            if self._sent.pop(batch.id, None) is None:
                return  # a height has decided it
            if check.code is Code.NO_PROCESSOR:
                self._park(item, outcome)
                return
            _leave(item, outcome)
            match check.code:
                case Code.COMMITTED:
                    pass
                case Code.EARLY:
                    self._wait_for(batch)
                case _:
                    name = batch.batch.transactions[0].header_signature
                    why = check.why[:MESSAGE_CHARS_MAX]
                    outcome.invalid[batch.id] = InvalidTransaction(name, why)

    def _park(self, item: _Item, outcome: Outcome) -> None:
        """Keep a batch, which stays pending, until its family has a processor."""
        family = self._application.missing(item.batch)
        if family is None:  # one has registered since
            self._queue.append(item)
            return
        outcome.decided += self._parked.add(item.batch, family, pending=item.pending)
        _free(item, outcome)

    def _wait_for(self, batch: VerifiedBatch) -> None:
        """Keep an early batch until what it depends on is committed."""
        missing = self._application.admission.missing_dependency(batch)
        if missing is None:  # it has come since
            self._queue.append(_again(batch))
        else:
            self._orphans.add(batch, missing)

    def _forget(self) -> None:
        """Forget batches that no height decides."""
        outcome, latest_s = Outcome(), time.monotonic() - PENDING_S
        with self._changed:
            while self._sent and (first := next(iter(self._sent.values()))).since_s < latest_s:
                del self._sent[first.item.batch.id]
                _leave(first.item, outcome)
        if outcome.decided:
            _LOG.warning(
                "%d batches are not decided after %d s and are forgotten",
                len(outcome.decided),
                PENDING_S,
            )
            self._report(outcome)


def _again(batch: VerifiedBatch, *, pending: bool = False) -> _Item:
    """Return an item for a batch that has left the queue before."""
    return _Item(batch, 0, queued=False, pending=pending)


def _leave(item: _Item, outcome: Outcome) -> None:
    """Record that a batch is no longer pending, and free its place in the queue."""
    if item.pending:
        outcome.decided.append(item.batch.id)
    _free(item, outcome)


def _free(item: _Item, outcome: Outcome) -> None:
    """Free a batch's place in the queue."""
    if item.queued:
        outcome.queued_batches += 1
        outcome.queued_bytes += item.size
