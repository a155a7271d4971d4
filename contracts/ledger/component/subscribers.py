"""Event subscribers, and the next block for each of them.

Events are read from the chain when a subscriber can take more, so a slow one
costs no memory.

Source: Sawtooth 1.2 application developer's guide, "Subscribing to Events".
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from contracts.ledger.component.connections import Connections
from contracts.ledger.component.events import (
    FilterError,
    Subscription,
    compile_subscriptions,
    events_of,
)
from contracts.ledger.engine.ports import BlockReader
from contracts.proto.component_pb2 import (
    ClientEventsGetRequest,
    ClientEventsGetResponse,
    ClientEventsSubscribeRequest,
    ClientEventsSubscribeResponse,
    EventList,
    Message,
)
from contracts.sawtooth.blocks import NULL_BLOCK_ID

if TYPE_CHECKING:
    from contracts.proto.sawtooth_pb2 import Event

SUBSCRIBERS_MAX: Final = 100
KNOWN_BLOCKS_MAX: Final = 1_000
"""Known blocks that a subscriber may name."""
GET_BLOCKS_MAX: Final = 100
"""Blocks whose events one request may ask for."""
GET_BYTES_MAX: Final = 16 << 20
"""Events in one answer."""
PUMP_BLOCKS: Final = 10
"""Blocks read for one subscriber before the next one gets its turn."""


@dataclass(slots=True)
class _Subscriber:
    """One connection.

    Attributes:
        subscriptions: Select the events that it gets.
        next_num: Number of the first block whose events it has not got.
    """

    subscriptions: Sequence[Subscription]
    next_num: int


class Subscribers:
    """Answers requests about events; for the port's thread.

    Args:
        connections: Sends messages.
        blocks: The chain.
    """

    def __init__(self, connections: Connections, blocks: BlockReader) -> None:
        self._connections = connections
        self._blocks = blocks
        self._subscribers: dict[bytes, _Subscriber] = {}

    def subscribe(
        self, identity: bytes, request: ClientEventsSubscribeRequest
    ) -> ClientEventsSubscribeResponse:
        """Add a subscription; it replaces an earlier one of the same connection."""
        try:
            subscriptions = compile_subscriptions(request.subscriptions)
        except FilterError as error:
            return ClientEventsSubscribeResponse(
                status=ClientEventsSubscribeResponse.INVALID_FILTER, response_message=str(error)
            )
        next_num = self._next_num(request.last_known_block_ids)
        if next_num is None:
            return ClientEventsSubscribeResponse(status=ClientEventsSubscribeResponse.UNKNOWN_BLOCK)
        has_room = identity in self._subscribers or len(self._subscribers) < SUBSCRIBERS_MAX
        if not (has_room and self._connections.admit(identity)):
            return ClientEventsSubscribeResponse(response_message="too many subscribers already")
        self._subscribers[identity] = _Subscriber(subscriptions, next_num)
        return ClientEventsSubscribeResponse(status=ClientEventsSubscribeResponse.OK)

    def remove(self, identity: bytes) -> None:
        """Forget a connection."""
        self._subscribers.pop(identity, None)

    def get(self, request: ClientEventsGetRequest) -> ClientEventsGetResponse:
        """Return the events of some blocks."""
        try:
            subscriptions = compile_subscriptions(request.subscriptions)
        except FilterError:
            return ClientEventsGetResponse(status=ClientEventsGetResponse.INVALID_FILTER)
        if len(request.block_ids) > GET_BLOCKS_MAX:
            return ClientEventsGetResponse(status=ClientEventsGetResponse.INTERNAL_ERROR)
        events: list[Event] = []
        size = 0
        for name in request.block_ids:
            stored = self._blocks.by_id(name)
            if stored is None:
                return ClientEventsGetResponse(status=ClientEventsGetResponse.UNKNOWN_BLOCK)
            news = events_of(stored, subscriptions)
            size += sum(event.ByteSize() for event in news)
            if size > GET_BYTES_MAX:
                return ClientEventsGetResponse(status=ClientEventsGetResponse.INTERNAL_ERROR)
            events += news
        return ClientEventsGetResponse(status=ClientEventsGetResponse.OK, events=events)

    def pump(self, identity: bytes) -> bool:
        """Send a subscriber the events of the next blocks; return whether there are more."""
        subscriber = self._subscribers[identity]
        head = self._head()
        for number in range(subscriber.next_num, min(head, subscriber.next_num + PUMP_BLOCKS)):
            stored = self._blocks.by_num(number)
            events = [] if stored is None else events_of(stored, subscriber.subscriptions)
            subscriber.next_num = number + 1
            if events and not self._connections.send(
                identity, Message.CLIENT_EVENTS, EventList(events=events), uuid.uuid4().hex
            ):
                return False
        return subscriber.next_num < head

    def __iter__(self) -> Iterator[bytes]:
        return iter(tuple(self._subscribers))

    def _head(self) -> int:
        """Return the number of the block after the newest."""
        return 0 if self._blocks.head is None else self._blocks.head.num + 1

    def _next_num(self, known: Sequence[str]) -> int | None:
        """Return the number after the newest known block; None if no block is known."""
        if not known:
            return self._head()
        numbers = [0 for name in known if name == NULL_BLOCK_ID]
        for name in known[:KNOWN_BLOCKS_MAX]:
            stored = self._blocks.by_id(name)
            if stored is not None:
                numbers.append(stored.num + 1)
        return max(numbers, default=None)
