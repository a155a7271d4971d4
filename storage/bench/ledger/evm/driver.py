"""Driver for an EVM's JSON-RPC: groups of signed transactions, followed in blocks and receipts."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from contracts.errors import UnavailableError
from storage.bench.ledger.evm.jsonrpc import Call, JsonRpc
from storage.bench.ledger.evm.outbox import Outbox
from storage.bench.ledger.evm.receipts import Receipt, receipts_of, why_reverted
from storage.bench.ledger.evm.wire import Sent, group_id, parts
from storage.bench.ledger.port import Driver

BLOCKS_MAX: Final = 50
"""Blocks read in one look."""
STUCK_S: Final = 10.0
"""After so many seconds without a decided group, the node is asked why the oldest ones wait."""
BUSY_S: Final = (0.02, 0.04, 0.08, 0.16, 0.32)
"""Pauses, seconds, before a full pool is offered a transaction again; the last one from then on."""
REASONS_MAX: Final = 10
"""Reverts whose reason is asked for; each question costs the node an execution."""
_KNOWN: Final = ("already known", "known transaction", "already imported")
_FULL: Final = ("pool is full", "pool limit", "pool has reached", "too many requests")


@dataclass(slots=True)
class _Group:
    """A group that was submitted.

    Attributes:
        first: Its first transaction.
        left: Number of its transactions that are in no block yet.
        why: Reason why one of them will never be committed.
    """

    first: Sent
    left: int
    why: str = ""


@dataclass(slots=True)
class Book:
    """What all drivers of one load have submitted: one driver follows what the others sent.

    Attributes:
        groups: By id.
        by_digest: Ids of groups by the hashes of transactions that are in no block yet.
        outbox: Through which they all send.
        asked: Number of reasons that were asked for.
    """

    groups: dict[str, _Group] = field(default_factory=dict)
    by_digest: dict[bytes, str] = field(default_factory=dict)
    outbox: Outbox = field(default_factory=Outbox)
    asked: int = 0

    def add(self, wire: bytes) -> list[Sent]:
        """Note a group; return its transactions."""
        transactions, name = list(parts(wire)), group_id(wire)
        if name not in self.groups:
            self.groups[name] = _Group(transactions[0], len(transactions))
            self.by_digest.update((each.digest, name) for each in transactions)
        return transactions

    def refuse(self, transaction: Sent, why: str) -> None:
        """Note that the node does not take a transaction."""
        name = self.by_digest.get(transaction.digest)
        if name is not None:  # else it is in a block already
            self.groups[name].why = why

    def mined(self, digest: bytes) -> _Group | None:
        """Note that a transaction is in a block; return its group, None for a stranger's."""
        name = self.by_digest.pop(digest, None)
        if name is None:
            return None
        found = self.groups[name]
        found.left -= 1
        return found


class EvmDriver:
    """Implements `port.Driver`.

    A group is committed when each of its transactions has a receipt with status 1.

    Args:
        rpc: To the node.
        book: Shared by the drivers of one load.
        seen: Number of the newest block before the load.
    """

    def __init__(self, rpc: JsonRpc, book: Book, seen: int) -> None:
        self._rpc = rpc
        self._book = book
        self._seen = seen
        self._moved_s = time.monotonic()

    @classmethod
    def opener(cls) -> Callable[[str], Awaitable[Driver]]:
        """Return what connects the drivers of one load."""
        book = Book()

        async def connect(url: str) -> Driver:
            rpc = await JsonRpc.open(url)
            try:
                return cls(rpc, book, await _head(rpc))
            except BaseException:
                rpc.close()
                raise

        return connect

    def close(self) -> None:
        """See `Driver.close`."""
        self._rpc.close()

    async def submit(self, batches: Sequence[bytes]) -> int:
        """See `Driver.submit`; a group that the node refuses is told by `decided`."""
        transactions = [each for wire in batches for each in self._book.add(wire)]
        busy = 0
        while transactions := await self._offer(transactions):
            await asyncio.sleep(BUSY_S[min(busy, len(BUSY_S) - 1)])
            busy += 1
        return busy

    async def _offer(self, transactions: Sequence[Sent]) -> list[Sent]:
        """Send transactions; return those that a full pool did not take."""
        left = []
        for each, refusal in await self._book.outbox.send(self._rpc, transactions):
            if refusal is None:
                continue
            words = refusal.words.lower()
            if any(known in words for known in _FULL):
                left.append(each)
            elif not any(known in words for known in _KNOWN):
                self._book.refuse(each, f"{refusal.words} (nonce {each.nonce} of {_hex(each)})")
        return left

    async def decided(self, batch_ids: Sequence[str]) -> Mapping[str, str]:
        """See `Driver.decided`; this driver looks once, and the caller pauses."""
        await self._look()
        found = {}
        for name in batch_ids:
            group = self._book.groups[name]
            if group.why or not group.left:
                found[name] = group.why
        if found:
            self._moved_s = time.monotonic()
        elif time.monotonic() - self._moved_s > STUCK_S:
            found = await self._stuck(batch_ids)
        return found

    async def _look(self) -> None:
        """Read the blocks since the last look."""
        head = await _head(self._rpc)
        numbers = range(self._seen + 1, min(head, self._seen + BLOCKS_MAX) + 1)
        if not numbers:
            return
        found = await receipts_of(self._rpc, numbers, self._book.by_digest)
        self._seen += len(found)
        for receipts in found:
            for receipt in receipts:
                group = self._book.mined(receipt.digest)
                if group is not None and not receipt.succeeded and not group.why:
                    group.why = await self._reason(receipt)

    async def _reason(self, receipt: Receipt) -> str:
        self._book.asked += 1
        if self._book.asked > REASONS_MAX:
            return "reverted"
        return await why_reverted(self._rpc, receipt)

    async def _stuck(self, batch_ids: Sequence[str]) -> dict[str, str]:
        """Return the groups that will never be committed as things are, with the reason."""
        self._moved_s = time.monotonic()  # asked again only after as long a time
        oldest: dict[bytes, str] = {}
        for name in batch_ids:
            oldest.setdefault(self._book.groups[name].first.sender, name)
        calls: list[Call] = [
            ("eth_getTransactionCount", ["0x" + sender.hex(), "latest"]) for sender in oldest
        ]
        gaps: dict[bytes, str] = {}
        answers = await self._rpc.many(calls) if calls else []
        for (sender, name), answer in zip(oldest.items(), answers, strict=True):
            nonce = self._book.groups[name].first.nonce
            if isinstance(answer, str) and int(answer, 16) < nonce:
                gaps[sender] = (
                    f"nonce gap: the chain expects nonce {int(answer, 16)} of 0x{sender.hex()}, "
                    f"which sent {nonce}; one before it was dropped or never came"
                )
        return {
            name: gaps[group.first.sender]
            for name in batch_ids
            if (group := self._book.groups[name]).first.sender in gaps
        }


async def commit(url: str, groups: Iterable[bytes]) -> None:
    """Commit groups in their order.

    Raises:
        RejectedError: The node refuses one, or it reverts.
        UnavailableError: The node does not answer, or does not commit them.
    """
    connect = EvmDriver.opener()
    driver = await connect(url)
    try:
        waiting = []
        for wire in groups:
            await driver.submit([wire])
            waiting.append(group_id(wire))
        moved_s = time.monotonic()
        while waiting:
            found = await driver.decided(waiting)
            for why in filter(None, found.values()):
                raise UnavailableError(f"{url}: what the load needs is not committed: {why}")
            waiting = [name for name in waiting if name not in found]
            if found:
                moved_s = time.monotonic()
            elif time.monotonic() - moved_s > 2 * STUCK_S:
                raise UnavailableError(f"{url}: nothing was committed in {2 * STUCK_S:.0f} s")
            else:
                await asyncio.sleep(BUSY_S[0])
    finally:
        driver.close()


async def _head(rpc: JsonRpc) -> int:
    found: Any = await rpc.call("eth_blockNumber")
    return int(found, 16)


def _hex(transaction: Sent) -> str:
    return "0x" + transaction.sender.hex()
