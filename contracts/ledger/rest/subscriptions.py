"""`/subscriptions`: one message per block over a WebSocket, with the block's state changes.

A subscriber has a place on the chain and no queue: the next blocks are read
from the chain when it is ready for more. A subscriber that does not read is
dropped, and only a few messages are in memory at a time.

Source: Sawtooth 1.2, REST API specification, "State delta subscriptions"; recorded conversations.
"""

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from contracts.errors import WaysealError
from contracts.keys import is_signature
from contracts.ledger.engine.blocks import StoredBlock, net_changes
from contracts.ledger.engine.ports import BlockReader
from contracts.ledger.rest import errors
from contracts.ledger.rest.envelope import error_response
from contracts.ledger.rest.views import Json, delta_view
from contracts.ledger.state.cache import Cache
from contracts.runtime.seldom import Seldom
from contracts.runtime.serving.connections import network_of

if TYPE_CHECKING:
    from contracts.proto.sawtooth_pb2 import StateChange

_LOG = logging.getLogger(__name__)
_LOG.addFilter(Seldom())

SUBSCRIBERS_MAX: Final = 100
SUBSCRIBERS_PER_ADDRESS_MAX: Final = 50
"""Subscribers of one address, so that nobody takes all places."""
SUBSCRIBE_TIMEOUT_S: Final = 60.0
"""Time, seconds, that a client may stay without a subscription."""
SUBSCRIPTIONS_MAX: Final = 8
"""Subscriptions of one subscriber; each one adds a message per block."""
PREFIXES_MAX: Final = 100
"""Address prefixes of one subscription."""
SENDING_MAX: Final = 8
"""Messages being sent at a time, to all subscribers together."""
SEND_TIMEOUT_S: Final = 10.0
"""Time, seconds, for a subscriber to take a message."""
BEHIND_MAX: Final = 10_000
"""Most blocks that a subscriber may be behind the head."""
CACHED_DELTAS: Final = 2
GOING_AWAY: Final = 1001


class _OverError(Exception):
    """The connection ends, for the reason given."""


class Subscriptions:
    """Sends subscribers the changes of new blocks; for the event loop's thread only.

    Args:
        blocks: The chain.
    """

    def __init__(self, blocks: BlockReader) -> None:
        self._blocks = blocks
        self._deltas: Cache[int, list[StateChange]] = Cache(CACHED_DELTAS)
        self._sending = asyncio.Semaphore(SENDING_MAX)
        self._subscribers: set[_Subscriber] = set()
        self.closed = False

    @property
    def head(self) -> StoredBlock | None:
        """Return the newest block."""
        return self._blocks.head

    def notice(self) -> None:
        """Make subscribers look for new blocks."""
        for subscriber in self._subscribers:
            subscriber.news.set()

    def close(self) -> None:
        """End all connections."""
        self.closed = True
        self.notice()

    async def refuse(self, _: Request) -> Response:
        """Answer a `GET /subscriptions` without a WebSocket handshake."""
        return PlainTextResponse("400: a WebSocket is served here", 400)

    async def serve(self, socket: WebSocket) -> None:
        """Serve one client until it leaves, is dropped, or the node ends."""
        subscriber = _Subscriber(socket, self)
        most = self._most_for(subscriber.network)
        if most is not None:
            full = errors.TOO_MANY_SUBSCRIBERS.error(most)
            await socket.send_denial_response(error_response(full))
            return
        self._subscribers.add(subscriber)
        try:
            await socket.accept()
            async with asyncio.TaskGroup() as both:
                both.create_task(subscriber.listen())
                both.create_task(subscriber.follow())
        except* (_OverError, WaysealError, WebSocketDisconnect) as ended:
            _LOG.info("subscriber %s: %s", socket.client, *ended.exceptions[:1])
        finally:
            self._subscribers.discard(subscriber)

    def _most_for(self, network: str) -> str | None:
        """Return the limit that keeps a newcomer out, if one does."""
        if self.closed or len(self._subscribers) >= SUBSCRIBERS_MAX:
            return str(SUBSCRIBERS_MAX)
        own = sum(each.network == network for each in self._subscribers)
        if own >= SUBSCRIBERS_PER_ADDRESS_MAX:
            return f"{SUBSCRIBERS_PER_ADDRESS_MAX} of one address"
        return None

    async def send(self, socket: WebSocket, block: int | str, prefixes: tuple[str, ...]) -> None:
        """Send one subscriber a block's changes at addresses with one of `prefixes`.

        Args:
            socket: The subscriber's connection.
            block: Number or id of the block.
            prefixes: Beginnings of addresses.

        Raises:
            _OverError: The subscriber does not take them in time, or the block is unknown.
            UnavailableError: The block cannot be read.
        """
        async with self._sending:
            text = await run_in_threadpool(self._render, block, prefixes)
            await _send(socket, text)

    def _render(self, block: int | str, prefixes: tuple[str, ...]) -> str:
        blocks = self._blocks
        stored = blocks.by_num(block) if isinstance(block, int) else blocks.by_id(block)
        if stored is None:
            raise _OverError(f"asked for the unknown block {block}")
        changes = self._deltas.get(stored.num)
        if changes is None:
            changes = net_changes(list(stored.receipts()))
            self._deltas.put(stored.num, changes)
        shown: list[Json] = [
            delta_view(change) for change in changes if change.address.startswith(prefixes)
        ]
        return json.dumps(
            {
                "block_id": stored.id,
                "block_num": str(stored.num),
                "previous_block_id": stored.header.previous_block_id,
                "state_changes": shown,
            }
        )


class _Subscriber:
    """One client and its subscriptions.

    Args:
        socket: The client's connection.
        hub: Reads the chain.
    """

    def __init__(self, socket: WebSocket, hub: Subscriptions) -> None:
        self._socket = socket
        self._hub = hub
        self._subscribed: list[tuple[str, ...]] = []
        self._next = 0
        self._turn = asyncio.Lock()
        self._leave_s = 0.0
        self._patience()
        self.network = network_of(socket.client.host) if socket.client else ""
        self.news = asyncio.Event()

    async def listen(self) -> None:
        """Answer the client's messages until it leaves, sends an invalid one, or wants nothing."""
        while True:
            message = await self._heard()
            if message["type"] == "websocket.disconnect":
                raise _OverError("left")
            text = message.get("text")
            if text is not None:  # Sawtooth ignores binary messages
                async with self._turn:
                    await self._answer(text)

    async def _heard(self) -> Message:
        """Return the client's next message; one without a subscription has limited time."""
        try:
            async with asyncio.timeout_at(None if self._subscribed else self._leave_s):
                return await self._socket.receive()
        except TimeoutError as error:
            raise _OverError(f"had no subscription for {SUBSCRIBE_TIMEOUT_S} s") from error

    def _patience(self) -> None:
        """Let the client stay a while without a subscription."""
        self._leave_s = asyncio.get_running_loop().time() + SUBSCRIBE_TIMEOUT_S

    async def follow(self) -> None:
        """Send new blocks as they are committed."""
        while True:
            await self.news.wait()
            self.news.clear()
            async with self._turn:
                if self._hub.closed:
                    await self._socket.close(GOING_AWAY, "Server shutdown")
                    raise _OverError("the node ends")
                await self._catch_up()

    async def _answer(self, text: str) -> None:
        try:
            request = json.loads(text)
        except json.JSONDecodeError:
            await self._complain(f'Invalid input: "{text}"')
            return
        except (ValueError, RecursionError) as error:
            raise _OverError(f"sent invalid JSON: {error}") from error
        if not isinstance(request, dict):
            raise _OverError(f"sent JSON that is not an object: {text[:80]!r}")
        action = request.get("action", "")
        if action == "subscribe":
            await self._subscribe(request)
        elif action == "unsubscribe":
            if self._subscribed:
                self._patience()
            del self._subscribed[:1]
        elif action == "get_block_deltas":
            await self._get_deltas(request)
        else:
            await self._complain(f'Unknown action "{action}"')

    async def _subscribe(self, request: dict[str, object]) -> None:
        """Add a subscription; its first message is the newest block sent so far."""
        prefixes = _prefixes_of(request)
        if len(self._subscribed) >= SUBSCRIPTIONS_MAX:
            await self._complain(f"Too many subscriptions: at most {SUBSCRIPTIONS_MAX}")
            return
        if len(prefixes) > PREFIXES_MAX:
            await self._complain(f"Too many address prefixes: at most {PREFIXES_MAX}")
            return
        await self._catch_up()
        head = self._hub.head
        if head is None:
            raise _OverError("there is no block yet")
        if not self._subscribed:
            self._next = head.num + 1
        self._subscribed.append(prefixes)
        await self._hub.send(self._socket, self._next - 1, prefixes)

    async def _get_deltas(self, request: dict[str, object]) -> None:
        if "block_id" not in request:
            await self._complain("Must specify a block id")
            return
        block_id, prefixes = request["block_id"], _prefixes_of(request)
        if not isinstance(block_id, str) or not is_signature(block_id):
            raise _OverError("asked for the changes of an invalid block id")
        if len(prefixes) > PREFIXES_MAX:
            await self._complain(f"Too many address prefixes: at most {PREFIXES_MAX}")
            return
        await self._hub.send(self._socket, block_id, prefixes)
        self._patience()

    async def _catch_up(self) -> None:
        """Send all blocks not sent yet, each to every subscription."""
        while self._subscribed and (head := self._hub.head) is not None and self._next <= head.num:
            if head.num - self._next > BEHIND_MAX:
                raise _OverError(f"is more than {BEHIND_MAX} blocks behind")
            for prefixes in self._subscribed:
                await self._hub.send(self._socket, self._next, prefixes)
            self._next += 1

    async def _complain(self, message: str) -> None:
        await _send(self._socket, json.dumps({"error": message}))


async def _send(socket: WebSocket, text: str) -> None:
    try:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            await socket.send_text(text)
    except TimeoutError as error:
        raise _OverError(f"took no message for {SEND_TIMEOUT_S} s") from error


def _prefixes_of(request: dict[str, object]) -> tuple[str, ...]:
    """Return the address prefixes of a request; without any, all addresses count.

    Any JSON value that Python can iterate over is accepted, as in Sawtooth: the
    letters of a string, the keys of an object.
    """
    given = request.get("address_prefixes") or [""]
    prefixes = tuple(given) if isinstance(given, list | str | dict) else (given,)
    if not all(isinstance(prefix, str) for prefix in prefixes):
        raise _OverError("sent address prefixes that are not strings")
    return tuple(map(str, prefixes))
