"""The outcomes of submitted batches, and waiting for them; for the event loop's thread only.

Source: Sawtooth 1.2, REST API specification, `/batch_statuses`.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from contracts.ledger.execution.executor import InvalidTransaction
from contracts.sawtooth.batches import Status

_LOG = logging.getLogger(__name__)

INVALID_KEPT: Final = 10_000
"""Invalid batches that are remembered with their reason; as many that are never decided."""
STUCK_KEPT: Final = 10_000
"""Batches that are remembered as pending because they can never be decided."""


Value = TypeVar("Value")


@dataclass(slots=True)
class Outcome:
    """The decisions of one round of an engine.

    Attributes:
        decided: Ids of batches that left the queue, valid or not.
        invalid: Reasons by id of invalid batches.
        stuck: Ids of batches with a transaction that another batch has committed.
        undecided: Reasons by id of batches that wait for one of their own transactions.
        queued_batches: Places in the queue that became free.
        queued_bytes: Bytes of the queue that became free.
    """

    decided: list[str] = field(default_factory=list)
    invalid: dict[str, InvalidTransaction] = field(default_factory=dict)
    stuck: list[str] = field(default_factory=list)
    undecided: dict[str, InvalidTransaction] = field(default_factory=dict)
    queued_batches: int = 0
    queued_bytes: int = 0

    def never_decided(self, batch_id: str, transaction_id: str, why: str) -> None:
        """Record that a batch waits for one of its own transactions, and say so in the log."""
        _LOG.warning("batch %s is never decided: %s", batch_id, why, extra={"batch_id": batch_id})
        self.undecided[batch_id] = InvalidTransaction(transaction_id, why)


class Statuses:
    """Remembers, within limits, the batches that are not on the chain.

    Args:
        is_committed: Says whether a batch is durable in a block.
    """

    def __init__(self, is_committed: Callable[[str], bool]) -> None:
        self._is_committed = is_committed
        self._pending: dict[str, int] = {}
        self._invalid: OrderedDict[str, InvalidTransaction] = OrderedDict()
        self._stuck: OrderedDict[str, None] = OrderedDict()
        self._undecided: OrderedDict[str, InvalidTransaction] = OrderedDict()
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._closed = False

    def add_pending(self, batch_ids: Iterable[str]) -> None:
        """Remember batches that were put into the queue."""
        for batch_id in batch_ids:
            self._pending[batch_id] = self._pending.get(batch_id, 0) + 1
            self._invalid.pop(batch_id, None)

    def apply(self, outcome: Outcome) -> None:
        """Remember what the engine decided, and wake every `wait` that it concerns."""
        for batch_id in outcome.decided:
            count = self._pending.pop(batch_id, 1)
            if count > 1:
                self._pending[batch_id] = count - 1
        _remember(self._invalid, outcome.invalid, INVALID_KEPT)
        _remember(self._stuck, dict.fromkeys(outcome.stuck), STUCK_KEPT)
        _remember(self._undecided, outcome.undecided, INVALID_KEPT)
        for batch_id in (*outcome.decided, *outcome.invalid):
            for event in self._waiting.get(batch_id, ()):
                event.set()

    def status(self, batch_id: str) -> Status:
        """See `Submitter.status`."""
        if self._is_committed(batch_id):
            return Status.COMMITTED
        if batch_id in self._invalid:
            return Status.INVALID
        if batch_id in self._pending or batch_id in self._stuck:
            return Status.PENDING
        return Status.UNKNOWN

    def refusal(self, batch_id: str) -> InvalidTransaction | None:
        """See `Submitter.refusal`."""
        return self._invalid.get(batch_id) or self._undecided.get(batch_id)

    async def wait(self, batch_ids: Sequence[str], timeout_s: float) -> None:
        """See `Submitter.wait`."""
        event = asyncio.Event()
        for batch_id in batch_ids:
            self._waiting.setdefault(batch_id, set()).add(event)
        try:
            async with asyncio.timeout(timeout_s):
                while self._has_pending(batch_ids):
                    await event.wait()
                    event.clear()
        except TimeoutError:
            return
        finally:
            for batch_id in set(batch_ids):
                self._waiting[batch_id].discard(event)
                if not self._waiting[batch_id]:
                    del self._waiting[batch_id]

    def close(self) -> None:
        """End every `wait`."""
        self._closed = True
        for events in self._waiting.values():
            for event in events:
                event.set()

    def _has_pending(self, batch_ids: Sequence[str]) -> bool:
        return not self._closed and any(
            self.status(batch_id) is Status.PENDING for batch_id in batch_ids
        )


def _remember(memory: OrderedDict[str, Value], news: Mapping[str, Value], limit: int) -> None:
    for key, value in news.items():
        memory[key] = value
        memory.move_to_end(key)
    while len(memory) > limit:
        memory.popitem(last=False)
