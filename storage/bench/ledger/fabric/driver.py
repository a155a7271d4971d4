"""Driver for a Fabric network: transactions are endorsed, signed, submitted and followed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.proto.fabric_pb2 import VALID, CommitStatusResponse, TxValidationCode
from storage.bench.ledger.fabric.gateway import Gateway, patiently
from storage.bench.ledger.fabric.settings import FabricPlace
from storage.bench.ledger.fabric.wire import name_of, taken_apart
from storage.bench.ledger.port import Driver
from storage.bench.ledger.refusals import refused_by

FOLLOWED_MAX: Final = 200
"""Transactions whose status is asked for at once. Source: a peer serves 500 requests at once, those
that wait included (core.yaml, `peer.limits.concurrency.gatewayService`)."""
FILLING_MAX: Final = 100
"""Transactions under way at once before a load."""
FILLED_S: Final = 60.0
"""How long one of them may take."""
LOOK_S: Final = 1.0
"""See `Driver.decided`."""


@dataclass(slots=True)
class Submitted:
    """The transactions of one load: one driver follows those that the others submitted.

    Attributes:
        digests: Ids of the transactions, by name.
        refused: Why a transaction was not endorsed or not taken, by name.
    """

    digests: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


class FabricDriver:
    """Implements `port.Driver`: each batch is one transaction.

    Args:
        gateway: The connection.
        sent: Shared by the drivers of one load.
    """

    def __init__(self, gateway: Gateway, sent: Submitted) -> None:
        self._gateway = gateway
        self._sent = sent
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._found: dict[str, str] = {}
        self._error: WaysealError | None = None
        self._news = asyncio.Event()
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    def opener(cls) -> Callable[[str], Awaitable[Driver]]:
        """Return a function that connects the drivers of a load by the path of a settings file."""
        sent = Submitted()
        places: dict[str, FabricPlace] = {}

        async def connect(url: str) -> Driver:
            if url not in places:
                places[url] = FabricPlace.read(Path(url))
            return cls(await Gateway.open(places[url]), sent)

        return connect

    def close(self) -> None:
        """See `Driver.close`."""
        for task in self._followed.values():
            task.cancel()
        self._closing = asyncio.get_running_loop().create_task(self._gateway.aclose())

    async def submit(self, batches: Sequence[bytes]) -> int:
        """See `Driver.submit`; a transaction that is not endorsed is told by `decided`."""
        busy = 0
        for wire in batches:
            name, (digest, request) = name_of(wire), taken_apart(wire)
            self._sent.digests[name] = digest
            try:
                busy += await submit(self._gateway, request)
            except RejectedError as error:
                self._sent.refused[name] = str(error)
        return busy

    async def decided(self, batch_ids: Sequence[str]) -> Mapping[str, str]:
        """See `Driver.decided`; the oldest FOLLOWED_MAX are asked for."""
        found = {name: why for name in batch_ids if (why := self._sent.refused.get(name))}
        for name in batch_ids:
            if len(self._followed) >= FOLLOWED_MAX:
                break
            if name not in found and name not in self._found and name not in self._followed:
                self._followed[name] = asyncio.create_task(self._follow(name))
        if not found and not self._found and self._error is None:
            self._news.clear()
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._news.wait()
            except TimeoutError:
                return {}
        if self._error is not None:
            raise self._error
        found |= self._found
        self._found = {}
        return found

    async def _follow(self, name: str) -> None:
        try:
            status, _ = await patiently(partial(self._gateway.status, self._sent.digests[name]))
            self._found[name] = fate_of(status)
        except WaysealError as error:
            self._error = error
        finally:
            del self._followed[name]
            self._news.set()


def fate_of(status: CommitStatusResponse) -> str:
    """Return why a transaction in a block is not committed; empty if it is."""
    if status.result == VALID:
        return ""
    known = TxValidationCode.values()
    name = TxValidationCode.Name(status.result) if status.result in known else str(status.result)
    return refused_by(name, status.block_number)


async def submit(gateway: Gateway, request: bytes) -> int:
    """Have a transaction endorsed, sign it, and hand it over to be ordered.

    Returns:
        The number of answers that the peer was too busy.

    Raises:
        RejectedError: It is not endorsed, or the ordering nodes refuse it.
        UnavailableError: No answer.
    """
    endorsed, first = await patiently(partial(gateway.endorsed, request))
    _, second = await patiently(partial(gateway.submit, endorsed))
    return first + second


async def commit(place: FabricPlace, wires: Iterable[bytes]) -> None:
    """Commit transactions that do not depend on each other.

    Raises:
        RejectedError: One of them is refused.
        UnavailableError: The peer does not answer, or one is not committed in time.
    """
    room = asyncio.Semaphore(FILLING_MAX)

    async def one(gateway: Gateway, wire: bytes) -> None:
        digest, request = taken_apart(wire)
        async with room, asyncio.timeout(FILLED_S):
            await submit(gateway, request)
            status, _ = await patiently(partial(gateway.status, digest))
        if why := fate_of(status):
            raise RejectedError(f"{place.target}: what the load needs is not committed: {why}")

    async with aclosing(await Gateway.open(place)) as gateway:
        tasks = [asyncio.create_task(one(gateway, wire)) for wire in wires]
        try:
            await asyncio.gather(*tasks)
        except TimeoutError as error:
            raise UnavailableError(
                f"{place.target}: what the load needs was not committed in {FILLED_S:.0f} s; does "
                "the channel make blocks?"
            ) from error
        finally:
            for task in tasks:
                task.cancel()
