"""One replica as a process: python -m storage.bench.ledger.pbft.replica PLAN, a JSON object.

It listens at a socket of the plan's directory and ends at SIGTERM.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop

from contracts.errors import RejectedError
from storage.bench.ledger.pbft.authentication import KINDS, Authenticator, Signatures
from storage.bench.ledger.pbft.messages import CLIENT, Authenticated, Message, MessageKind, receive
from storage.bench.ledger.pbft.protocol import PRIMARY, OrderingReplica

POLL_S: Final = 0.02
ORDERED: Final = "ordered batches="
"""Begins the line of a log in which a replica says it."""


@dataclass(frozen=True, slots=True)
class ReplicaPlan:
    """The plan of one replica.

    Attributes:
        directory: For the sockets of all.
        own: Number of the replica.
        count: How many there are.
        kind: Of authentication between replicas and towards the client.
        batch: Requests that the primary orders at once, at most.
    """

    directory: str
    own: int
    count: int
    kind: str
    batch: int


class _Process:
    """Connects the protocol with the sockets."""

    def __init__(self, plan: ReplicaPlan) -> None:
        everyone = (*range(plan.count), CLIENT)
        self._plan = plan
        self._protocol = OrderingReplica(plan.own, plan.count, plan.batch)
        self._own: Authenticator = KINDS[plan.kind](plan.own, everyone)
        # A client always signs, so that what one replica takes from it all others take too.
        self._of_client = Signatures(plan.own, everyone)
        self._others: list[asyncio.StreamWriter] = []
        self._client: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        server = await asyncio.start_unix_server(
            self._connected, socket_of(Path(self._plan.directory), self._plan.own)
        )
        async with server:
            print(f"ready replica={self._plan.own}", flush=True)  # noqa: T201 - see `serving`
            for other in range(self._plan.count):
                if other != self._plan.own:
                    self._others.append((await connected(Path(self._plan.directory), other))[1])
            self._greet()
            await ended.wait()
            sys.stderr.write(f"{ORDERED}{self._protocol.ordered}\n")  # see `steps`
            for writer in self._others:
                writer.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                found = await receive(reader)
                message = Message.decode(found.body)
                if message.sender == CLIENT:
                    self._client = writer
                    self._requested(found, message)
                    if not message.payload:
                        self._greet()
                elif self._own.holds(message.head, found.proof, message.sender):
                    self._received(message)
        except (asyncio.IncompleteReadError, ConnectionError, RejectedError):
            writer.close()

    def _greet(self) -> None:
        """Answer the client's first message once this replica can reach all others."""
        if self._client is not None and len(self._others) == self._plan.count - 1:
            self._send([Message(MessageKind.REPLY, self._plan.own, 0, bytes(32))])

    def _requested(self, found: Authenticated, message: Message) -> None:
        """Take a request at the primary; an empty one only says where replies go."""
        if self._plan.own == PRIMARY and message.payload and self._signed(found):
            self._send(self._protocol.requested([found]))

    def _received(self, message: Message) -> None:
        if message.kind is MessageKind.PRE_PREPARE and not all(
            map(self._signed, Authenticated.split(message.payload))
        ):
            return  # the primary made it up
        self._send(self._protocol.received(message))

    def _signed(self, found: Authenticated) -> bool:
        return self._of_client.holds(found.body, found.proof, CLIENT)

    def _send(self, messages: Iterable[Message]) -> None:
        for each in messages:
            reply = each.kind is MessageKind.REPLY
            proof = self._own.prove(each.head, reply=reply)
            wire = Authenticated(each.encode(), proof).encode()
            if reply:
                if self._client is not None:
                    self._client.write(wire)
            else:
                for writer in self._others:
                    writer.write(wire)


def socket_of(directory: Path, number: int) -> str:
    """Return the path of a replica's socket."""
    return str(directory / f"{number}.sock")


async def connected(
    directory: Path, number: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a replica that is starting."""
    while True:
        try:
            return await asyncio.open_unix_connection(socket_of(directory, number))
        except (FileNotFoundError, ConnectionRefusedError):
            await asyncio.sleep(POLL_S)


def main() -> None:
    """Run until SIGTERM."""
    uvloop.run(_Process(ReplicaPlan(**json.loads(sys.argv[1]))).run())


if __name__ == "__main__":
    main()
