"""The client of the replicas: signs requests, keeps some under way, and times the replies."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from storage.bench.ledger.pbft.authentication import KINDS, Authenticator, Signatures
from storage.bench.ledger.pbft.messages import CLIENT, Authenticated, Message, MessageKind, receive
from storage.bench.ledger.pbft.protocol import PRIMARY
from storage.bench.ledger.pbft.replica import connected

STALLED_S: Final = 60.0
"""Without a reply for so long, the replicas count as failed."""
NOTHING: Final = bytes(32)


@dataclass(slots=True)
class TimedRequest:
    """One request.

    Attributes:
        sent_s: When it was sent; seconds of the monotonic clock.
        decided_s: When f + 1 replicas had given the same reply; 0 until then.
    """

    sent_s: float
    decided_s: float = 0.0
    said: dict[bytes, set[int]] = field(default_factory=dict)


def signed_requests(count: int, size: int) -> list[Authenticated]:
    """Return signed requests, each with an operation of so many octets, numbered from 0."""
    client = Signatures(CLIENT, (CLIENT,))
    found = []
    for number in range(count):
        operation = number.to_bytes(8, "big").ljust(size, b"\x5a")
        body = Message(MessageKind.REQUEST, CLIENT, number, NOTHING, operation).encode()
        found.append(Authenticated(body, client.prove(body)))
    return found


async def drive(
    directory: Path, count: int, kind: str, requests: Sequence[Authenticated], window: int
) -> list[TimedRequest]:
    """Send all requests to the primary; return when each was decided.

    Args:
        directory: Of the replicas' sockets.
        count: How many replicas, 3f + 1.
        kind: Of authentication.
        requests: Signed before the clock runs.
        window: Requests under way at once, at most.

    Raises:
        UnavailableError: The replicas decide nothing, or one of them ends.
    """
    room = asyncio.Semaphore(window)
    timed: list[TimedRequest] = []
    own = KINDS[kind](CLIENT, (*range(count), CLIENT))
    links = [await connected(directory, number) for number in range(count)]
    hello = Message(MessageKind.REQUEST, CLIENT, 0, NOTHING).encode()
    needed = (count - 1) // 3 + 1
    try:
        async with asyncio.timeout(STALLED_S):
            for reader, writer in links:
                writer.write(Authenticated(hello, b"").encode())
                await receive(reader)  # it reaches all others now
        async with asyncio.TaskGroup() as tasks:
            hearing = [
                tasks.create_task(_hear(reader, number, own, timed, needed, room))
                for number, (reader, _) in enumerate(links)
            ]
            await _ask(links[PRIMARY][1], requests, timed, room, window)
            for task in hearing:
                task.cancel()
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from errors  # the first one ended the others
    except TimeoutError as error:
        raise UnavailableError(
            f"expected {count} replicas that reach each other, got fewer in {STALLED_S:.0f} s"
        ) from error
    finally:
        for _, writer in links:
            writer.close()
    return timed


async def _ask(
    primary: asyncio.StreamWriter,
    requests: Sequence[Authenticated],
    timed: list[TimedRequest],
    room: asyncio.Semaphore,
    window: int,
) -> None:
    """Send all requests; return when all are decided."""
    try:
        async with asyncio.timeout(STALLED_S) as patience:
            for each in requests:
                await room.acquire()
                patience.reschedule(asyncio.get_running_loop().time() + STALLED_S)
                timed.append(TimedRequest(time.monotonic()))
                primary.write(each.encode())
            for _ in range(window):
                await room.acquire()
    except TimeoutError as error:
        done = sum(bool(each.decided_s) for each in timed)
        raise UnavailableError(
            f"expected {len(requests)} requests decided, got {done} and none in {STALLED_S:.0f} s"
        ) from error


async def _hear(
    reader: asyncio.StreamReader,
    number: int,
    own: Authenticator,
    timed: Sequence[TimedRequest],
    needed: int,
    room: asyncio.Semaphore,
) -> None:
    """Take the replies of one replica."""
    while True:
        try:
            found = await receive(reader)
            reply = Message.decode(found.body)
        except (asyncio.IncompleteReadError, ConnectionError, RejectedError) as error:
            raise UnavailableError(f"replica {number} does not reply: {error}") from error
        if reply.sender != number or not own.holds(reply.head, found.proof, number):
            continue
        if reply.sequence >= len(timed):
            continue  # no such request was sent
        each = timed[reply.sequence]
        same = each.said.setdefault(reply.digest, set())
        same.add(number)
        if len(same) == needed and not each.decided_s:
            each.decided_s = time.monotonic()
            room.release()
