"""What became of submitted batches, and waiting for it; used by the event loop's thread only.

Source: Sawtooth 1.2, REST API specification, `/batch_statuses`.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from contracts.node.execution.executor import Verdict
from contracts.sawtooth.batches import Status

INVALID_KEPT: Final = 10_000
"""So many invalid batches are remembered with their reason."""
STUCK_KEPT: Final = 10_000
"""So many batches that can never be decided are remembered as pending."""


Value = TypeVar("Value")


@dataclass(slots=True)
class Outcome:
    """What one round of the publisher decided.

    Attributes:
        decided: Batches that left the queue, whatever became of them.
        invalid: Those that were refused, and why.
        stuck: Those that hold a transaction which another batch has committed.
        queued_batches: How many places in the queue became free.
        queued_bytes: How many bytes became free.
    """

    decided: list[str] = field(default_factory=list)
    invalid: dict[str, Verdict] = field(default_factory=dict)
    stuck: list[str] = field(default_factory=list)
    queued_batches: int = 0
    queued_bytes: int = 0


class Statuses:
    """Remembers, within limits, what is not on the chain.

    Args:
        is_committed: Says whether a batch is durable in a block.
    """

    def __init__(self, is_committed: Callable[[str], bool]) -> None:
        self._is_committed = is_committed
        self._pending: dict[str, int] = {}
        self._invalid: OrderedDict[str, Verdict] = OrderedDict()
        self._stuck: OrderedDict[str, None] = OrderedDict()
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._closed = False

    def add_pending(self, batch_ids: Iterable[str]) -> None:
        """Take note of batches that were put into the queue."""
        for batch_id in batch_ids:
            self._pending[batch_id] = self._pending.get(batch_id, 0) + 1
            self._invalid.pop(batch_id, None)

    def apply(self, outcome: Outcome) -> None:
        """Take note of what the publisher decided, and wake who waits for it."""
        for batch_id in outcome.decided:
            count = self._pending.pop(batch_id, 1)
            if count > 1:
                self._pending[batch_id] = count - 1
        _remember(self._invalid, outcome.invalid, INVALID_KEPT)
        _remember(self._stuck, dict.fromkeys(outcome.stuck), STUCK_KEPT)
        for batch_id in (*outcome.decided, *outcome.invalid):
            for event in self._waiting.get(batch_id, ()):
                event.set()

    def get(self, batch_id: str) -> Status:
        """Return the status of one batch."""
        if self._is_committed(batch_id):
            return Status.COMMITTED
        if batch_id in self._invalid:
            return Status.INVALID
        if batch_id in self._pending or batch_id in self._stuck:
            return Status.PENDING
        return Status.UNKNOWN

    def verdict(self, batch_id: str) -> Verdict | None:
        """Return why a batch is invalid, if it is."""
        return self._invalid.get(batch_id)

    async def wait(self, batch_ids: Sequence[str], timeout_s: float) -> None:
        """Return once none of the batches is pending, or after `timeout_s` seconds."""
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
        """Let go of everyone who waits."""
        self._closed = True
        for events in self._waiting.values():
            for event in events:
                event.set()

    def _has_pending(self, batch_ids: Sequence[str]) -> bool:
        return not self._closed and any(
            self.get(batch_id) is Status.PENDING for batch_id in batch_ids
        )


def _remember(memory: OrderedDict[str, Value], news: Mapping[str, Value], limit: int) -> None:
    for key, value in news.items():
        memory[key] = value
        memory.move_to_end(key)
    while len(memory) > limit:
        memory.popitem(last=False)
