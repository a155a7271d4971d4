"""`/subscriptions`: one message per block over a WebSocket, with what it changed in state.

A subscriber has a place on the chain and no queue: whatever it has not been
sent yet is read from the store when it is ready for more. One that does not
read is dropped, and no more than a few messages are in memory at a time.

Source: Sawtooth 1.2, REST API specification, "State delta subscriptions"; recorded conversations.
"""

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from contracts.errors import WaysealError
from contracts.keys import is_signature
from contracts.node.rest import errors
from contracts.node.rest.envelope import error_response
from contracts.node.rest.views import Json, delta_view
from contracts.node.store.blockstore import StoredBlock
from contracts.node.store.cache import Cache
from contracts.node.store.chain import Chain
from contracts.node.store.deltas import net_changes

if TYPE_CHECKING:
    from contracts.proto.sawtooth_pb2 import StateChange

_LOG = logging.getLogger(__name__)

SUBSCRIBERS_MAX: Final = 100
SUBSCRIPTIONS_MAX: Final = 8
"""Of one subscriber; each brings a message of its own per block."""
PREFIXES_MAX: Final = 100
"""Address prefixes of one subscription."""
SENDING_MAX: Final = 8
"""Messages on their way at a time, to all subscribers together."""
SEND_TIMEOUT_S: Final = 10.0
"""A subscriber must take a message within so many seconds."""
BEHIND_MAX: Final = 10_000
"""Blocks that a subscriber may be behind the head."""
CACHED_DELTAS: Final = 2
GOING_AWAY: Final = 1001


class _OverError(Exception):
    """The conversation is over, for the reason given."""


class Subscriptions:
    """Knows who is subscribed, and tells them of blocks; used by the event loop's thread only.

    Args:
        chain: Where blocks are read.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._deltas: Cache[int, list[StateChange]] = Cache(CACHED_DELTAS)
        self._sending = asyncio.Semaphore(SENDING_MAX)
        self._subscribers: set[_Subscriber] = set()
        self.closed = False

    @property
    def head(self) -> StoredBlock | None:
        """Return the newest block."""
        return self._chain.head

    def notice(self) -> None:
        """Take note that there may be a new block."""
        for subscriber in self._subscribers:
            subscriber.news.set()

    def close(self) -> None:
        """Say good-bye to all subscribers."""
        self.closed = True
        self.notice()

    async def refuse(self, _: Request) -> Response:
        """Answer to a `GET /subscriptions` that asks for no WebSocket."""
        return PlainTextResponse("400: a WebSocket is served here", 400)

    async def serve(self, socket: WebSocket) -> None:
        """Talk with one client until it leaves, is dropped, or the node ends."""
        if self.closed or len(self._subscribers) >= SUBSCRIBERS_MAX:
            full = errors.TOO_MANY_SUBSCRIBERS.error(str(SUBSCRIBERS_MAX))
            await socket.send_denial_response(error_response(full))
            return
        subscriber = _Subscriber(socket, self)
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

    async def send(self, socket: WebSocket, block: int | str, prefixes: tuple[str, ...]) -> None:
        """Send one subscriber what a block changed at addresses with one of `prefixes`.

        Args:
            socket: Leads to the subscriber.
            block: Number or id of the block.
            prefixes: Beginnings of addresses.

        Raises:
            _OverError: It does not take them in time, or there is no such block.
            UnavailableError: The block cannot be read.
        """
        async with self._sending:
            text = await run_in_threadpool(self._render, block, prefixes)
            await _send(socket, text)

    def _render(self, block: int | str, prefixes: tuple[str, ...]) -> str:
        blocks = self._chain.blocks
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
    """One client and what it has subscribed to.

    Args:
        socket: Leads to the client.
        hub: Knows the chain.
    """

    def __init__(self, socket: WebSocket, hub: Subscriptions) -> None:
        self._socket = socket
        self._hub = hub
        self._subscribed: list[tuple[str, ...]] = []
        self._next = 0
        self._turn = asyncio.Lock()
        self.news = asyncio.Event()

    async def listen(self) -> None:
        """Answer what the client says, until it leaves or says what ends the conversation."""
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise _OverError("left")
            text = message.get("text")
            if text is not None:  # Sawtooth ignores binary messages
                async with self._turn:
                    await self._answer(text)

    async def follow(self) -> None:
        """Send new blocks as they come."""
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
            raise _OverError(f"sent what cannot be parsed: {error}") from error
        if not isinstance(request, dict):
            raise _OverError(f"sent JSON that is no object: {text[:80]!r}")
        action = request.get("action", "")
        if action == "subscribe":
            await self._subscribe(request)
        elif action == "unsubscribe":
            del self._subscribed[:1]
        elif action == "get_block_deltas":
            await self._get_deltas(request)
        else:
            await self._complain(f'Unknown action "{action}"')

    async def _subscribe(self, request: dict[str, object]) -> None:
        """Add a subscription; its first message is the newest block that was sent to others."""
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
            raise _OverError("asked for the changes of what is no block id")
        if len(prefixes) > PREFIXES_MAX:
            await self._complain(f"Too many address prefixes: at most {PREFIXES_MAX}")
            return
        await self._hub.send(self._socket, block_id, prefixes)

    async def _catch_up(self) -> None:
        """Send all blocks that are not sent yet, each to every subscription."""
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

    Whatever Python can walk through is taken, as Sawtooth does: a string's
    letters, an object's keys.
    """
    given = request.get("address_prefixes") or [""]
    prefixes = tuple(given) if isinstance(given, list | str | dict) else (given,)
    if not all(isinstance(prefix, str) for prefix in prefixes):
        raise _OverError("sent address prefixes that are no strings")
    return tuple(map(str, prefixes))
