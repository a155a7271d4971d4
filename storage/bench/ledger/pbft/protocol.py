"""The three phases of PBFT's normal case, in view 0, without input and output.

Source: Castro and Liskov, "Practical Byzantine Fault Tolerance", 4.2.
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from storage.bench.ledger.pbft.messages import Authenticated, Message, MessageKind

PRIMARY: Final = 0
"""Of view 0, the only one here."""
AHEAD: Final = 4
"""Batches that a batching primary has under way; requests that come later wait."""


@dataclass(slots=True)
class _Slot:
    """What is known of one place in the order."""

    digest: bytes = b""
    requests: Sequence[Authenticated] = ()
    prepared_by: set[int] = field(default_factory=set)
    committed_by: set[int] = field(default_factory=set)
    prepared: bool = False
    waiting: list[Message] = field(default_factory=list)


class OrderingReplica:
    """One replica; messages that it is given are authentic.

    Args:
        own: Its number.
        count: Of replicas, 3f + 1.
        batch: Requests that the primary orders at once, at most; 1 without batching.
    """

    def __init__(self, own: int, count: int, batch: int) -> None:
        self._own = own
        self._faulty = (count - 1) // 3
        self._batch = batch
        self._slots: dict[int, _Slot] = {}
        self._next = 1
        self._executed = 0
        self._state = bytes(32)
        self._queue: deque[Authenticated] = deque()

    @property
    def ordered(self) -> int:
        """Return the number of batches that this primary has ordered."""
        return self._next - 1

    def requested(self, requests: Iterable[Authenticated]) -> Iterator[Message]:
        """Take requests at the primary; yield what it sends to all."""
        self._queue.extend(requests)
        yield from self._order()

    def received(self, message: Message) -> Iterator[Message]:
        """Take a message of another replica; yield what this one sends: to all, or a reply."""
        if message.sequence <= self._executed:
            return  # it is done; the slowest one's vote was not needed
        slot = self._slots.setdefault(message.sequence, _Slot())
        if message.kind is MessageKind.PRE_PREPARE:
            yield from self._pre_prepared(message, slot)
        elif not slot.digest:
            slot.waiting.append(message)  # it overtook the primary's
        elif message.digest == slot.digest:
            if message.kind is MessageKind.PREPARE and message.sender != PRIMARY:
                slot.prepared_by.add(message.sender)  # the primary's word is the pre-prepare
            elif message.kind is MessageKind.COMMIT:
                slot.committed_by.add(message.sender)
            yield from self._advance(message.sequence, slot)

    def _order(self) -> Iterator[Message]:
        batching = self._batch > 1
        while self._queue and not (batching and self._next - 1 - self._executed >= AHEAD):
            size = min(self._batch, len(self._queue))
            requests = [self._queue.popleft() for _ in range(size)]
            payload = b"".join(each.encode() for each in requests)
            slot = self._slots.setdefault(self._next, _Slot())
            slot.digest, slot.requests = hashlib.sha256(payload).digest(), requests
            message = Message(MessageKind.PRE_PREPARE, self._own, self._next, slot.digest, payload)
            self._next += 1
            yield message

    def _pre_prepared(self, message: Message, slot: _Slot) -> Iterator[Message]:
        right = hashlib.sha256(message.payload).digest() == message.digest
        if message.sender != PRIMARY or slot.digest or not right:
            return  # another one for the same place would be a lie of the primary
        slot.digest, slot.requests = message.digest, Authenticated.split(message.payload)
        slot.prepared_by.add(self._own)
        yield Message(MessageKind.PREPARE, self._own, message.sequence, slot.digest)
        yield from self._advance(message.sequence, slot)
        for each in slot.waiting:
            yield from self.received(each)
        slot.waiting.clear()

    def _advance(self, sequence: int, slot: _Slot) -> Iterator[Message]:
        if not slot.prepared and len(slot.prepared_by) >= 2 * self._faulty:
            slot.prepared = True
            slot.committed_by.add(self._own)
            yield Message(MessageKind.COMMIT, self._own, sequence, slot.digest)
        yield from self._execute()

    def _committed(self, slot: _Slot) -> bool:
        return slot.prepared and len(slot.committed_by) > 2 * self._faulty

    def _execute(self) -> Iterator[Message]:
        """Execute committed batches in their order; yield the replies, and at the primary more."""
        while (slot := self._slots.get(self._executed + 1)) is not None and self._committed(slot):
            self._executed += 1
            for each in slot.requests:
                request = Message.decode(each.body)
                self._state = hashlib.sha256(self._state + each.body).digest()
                yield Message(MessageKind.REPLY, self._own, request.sequence, self._state)
            del self._slots[self._executed]
        if self._own == PRIMARY:
            yield from self._order()
