"""Transactions of all lanes on their way to a node: one request at a time takes what waits."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from contracts.errors import WaysealError
from storage.bench.ledger.evm.jsonrpc import BODY_BYTES_MAX, CALLS_MAX, Call, JsonRpc, NodeError
from storage.bench.ledger.evm.wire import Sent


@dataclass(slots=True, eq=False)
class _Entry:
    """One transaction; its refusal, or the error of its request, once it was sent."""

    transaction: Sent
    done: bool = False
    refusal: NodeError | None = None
    error: WaysealError | None = None


@dataclass(slots=True)
class Outbox:
    """Sends for several drivers, each lane's transactions in their order.

    With 20 requests under way at once anvil takes seconds for each and uses a tenth of a core; one
    after another, with the transactions of several lanes in each, no node has to be waited for.
    """

    _waiting: deque[_Entry] = field(default_factory=deque)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def send(
        self, rpc: JsonRpc, transactions: Sequence[Sent]
    ) -> list[tuple[Sent, NodeError | None]]:
        """Send transactions; return each with the node's refusal, None if the node took it.

        Args:
            rpc: The caller's own connection.
            transactions: In order.

        Raises:
            RejectedError: The server is not a JSON-RPC node.
            UnavailableError: No answer.
        """
        own = [_Entry(each) for each in transactions]
        self._waiting.extend(own)
        async with self._lock:
            while not own[-1].done:  # another lane's request may have had them all
                await self._request(rpc)
        for each in own:
            if each.error is not None:
                raise each.error
        return [(each.transaction, each.refusal) for each in own]

    async def _request(self, rpc: JsonRpc) -> None:
        some: list[_Entry] = []
        size = 0
        while self._waiting and len(some) < CALLS_MAX:
            size += 2 * len(self._waiting[0].transaction.raw)
            if some and size > BODY_BYTES_MAX:
                break
            some.append(self._waiting.popleft())
        calls: list[Call] = [
            ("eth_sendRawTransaction", ["0x" + each.transaction.raw.hex()]) for each in some
        ]
        try:
            answers = await rpc.many(calls)
            for each, answer in zip(some, answers, strict=True):
                each.refusal = answer if isinstance(answer, NodeError) else None
        except WaysealError as error:
            for each in some:
                each.error = error
        finally:  # also when this lane is cancelled: no other one may wait for its answers
            for each in some:
                each.done = True
