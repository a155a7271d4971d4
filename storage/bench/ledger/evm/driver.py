"""Driver for an EVM's JSON-RPC: groups of signed transactions, followed in blocks and receipts."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from contracts.errors import UnavailableError
from storage.bench.ledger.evm.jsonrpc import Call, JsonRpc, number_of
from storage.bench.ledger.evm.outbox import Outbox
from storage.bench.ledger.evm.receipts import Receipt, receipts_of, why_reverted
from storage.bench.ledger.evm.urls import shown
from storage.bench.ledger.evm.wire import Sent, group_id, parts
from storage.bench.ledger.port import Driver, busy_s

BLOCKS_MAX: Final = 5
"""Blocks read in one look. Source: geth gives 25 MB at most in answer to one request."""
STUCK_S: Final = 10.0
"""After so many seconds without a decided group, the node is asked why the oldest ones wait."""
REFUSED_S: Final = 60.0
"""If a full pool takes nothing for so long, it counts as refusing what it does not take."""
GROUPS_AHEAD: Final = 5
"""Undecided groups of one account, before a load: 100 transactions. Source: Besu refuses nonces
that are more than 200 ahead (`--tx-pool-max-future-by-sender`)."""
REASONS_MAX: Final = 10
"""Reverts whose reason is asked for; each question costs the node an execution."""
_KNOWN: Final = ("already known", "known transaction", "transaction already imported")
"""Begins the refusal of what the node has: geth's, Besu's, anvil's."""
_PAST: Final = "nonce too low"
"""Begins the refusal of what is in a block, as when a request was sent twice: receipts decide."""
_FULL: Final = (
    "pool is full",
    "pool limit",
    "pool has reached",
    "too many requests",
    "too distant",
)
"""In the refusal of what the node takes later."""


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
        doubts: Refusals by the hashes of transactions that may be in a block anyway.
        outbox: Through which they all send.
        asked: Number of reasons that were asked for.
        full_s: Since when the node has taken nothing, seconds of the monotonic clock; None if it
            took something last.
    """

    groups: dict[str, _Group] = field(default_factory=dict)
    by_digest: dict[bytes, str] = field(default_factory=dict)
    doubts: dict[bytes, str] = field(default_factory=dict)
    outbox: Outbox = field(default_factory=Outbox)
    asked: int = 0
    full_s: float | None = None

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
        """Note that a transaction is in a block; return its group, None if no load sent it."""
        self.doubts.pop(digest, None)
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
        self._moved_s = _now()

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
        while left := await self._offer(transactions):
            if self._book.full_s is not None and _now() - self._book.full_s > REFUSED_S:
                for each, why in left:
                    self._book.refuse(each, f"{why}: nothing was taken in {REFUSED_S:.0f} s")
                break
            transactions = [each for each, _ in left]
            await asyncio.sleep(busy_s(busy))
            busy += 1
        return busy

    async def _offer(self, transactions: Sequence[Sent]) -> list[tuple[Sent, str]]:
        """Send transactions; return those that a full pool did not take, with its words."""
        left = []
        for each, refusal in await self._book.outbox.send(self._rpc, transactions):
            if refusal is None:
                continue
            words = refusal.words.lower()
            why = f"{refusal.words} (nonce {each.nonce} of {each.account})"
            if any(known in words for known in _FULL):
                left.append((each, why))
            elif words.startswith(_PAST):
                self._book.doubts[each.digest] = why
            elif not words.startswith(_KNOWN):
                self._book.refuse(each, why)
        if len(left) < len(transactions):
            self._book.full_s = None
        elif self._book.full_s is None:
            self._book.full_s = _now()
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
            self._moved_s = _now()
        elif _now() - self._moved_s > STUCK_S:
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
        self._moved_s = _now()  # asked again only after as long a time
        doubted = {self._book.by_digest.get(each): why for each, why in self._book.doubts.items()}
        if found := {name: doubted[name] for name in batch_ids if name in doubted}:
            return found
        firsts = {name: self._book.groups[name].first for name in batch_ids}
        oldest: dict[str, Sent] = {}
        for each in firsts.values():
            oldest.setdefault(each.account, each)
        calls: list[Call] = [("eth_getTransactionCount", [name, "latest"]) for name in oldest]
        gaps: dict[str, str] = {}
        for each, answer in zip(oldest.values(), await self._rpc.many(calls), strict=True):
            if isinstance(answer, str) and number_of(answer) < each.nonce:
                gaps[each.account] = (
                    f"nonce gap: the chain expects nonce {number_of(answer)} of {each.account}, "
                    f"which sent {each.nonce}; one before it was dropped or never came"
                )
        return {name: gaps[each.account] for name, each in firsts.items() if each.account in gaps}


async def commit(url: str, groups: Iterable[bytes]) -> None:
    """Commit groups in their order.

    Raises:
        RejectedError: The node refuses one, or it reverts.
        UnavailableError: The node does not answer, or does not commit them.
    """
    connect = EvmDriver.opener()
    with closing(await connect(url)) as driver:
        waiting: list[str] = []
        for wire in groups:
            while len(waiting) >= GROUPS_AHEAD:
                waiting = await _undecided(driver, url, waiting)
            await driver.submit([wire])
            waiting.append(group_id(wire))
        while waiting:
            waiting = await _undecided(driver, url, waiting)


async def _undecided(driver: Driver, url: str, waiting: Sequence[str]) -> list[str]:
    """Wait until one of these groups is committed; return the others."""
    began_s = _now()
    while not (found := await driver.decided(waiting)):
        if _now() - began_s > 2 * STUCK_S:
            raise UnavailableError(f"{shown(url)}: nothing was committed in {2 * STUCK_S:.0f} s")
        await asyncio.sleep(busy_s(0))
    for why in filter(None, found.values()):
        raise UnavailableError(f"{shown(url)}: what the load needs is not committed: {why}")
    return [name for name in waiting if name not in found]


async def _head(rpc: JsonRpc) -> int:
    return number_of(await rpc.call("eth_blockNumber"))


def _now() -> float:
    return time.monotonic()
