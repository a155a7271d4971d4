"""The messages of PBFT's normal case, and how they follow each other on a connection."""

import asyncio
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct, error
from typing import Final

from contracts.errors import RejectedError

CLIENT: Final = 255
"""Sender of requests; replicas are numbered from 0."""
MESSAGE_BYTES_MAX: Final = 8 << 20
"""Of one message with its authenticator: more than any batch here has."""
_HEAD: Final = Struct(">BBI32s")
_SIZES: Final = Struct(">II")


class MessageKind(IntEnum):
    """The kinds. Source: Castro and Liskov, "Practical Byzantine Fault Tolerance", 4.1 and 4.2."""

    REQUEST = 1
    PRE_PREPARE = 2
    PREPARE = 3
    COMMIT = 4
    REPLY = 5


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes:
        kind: Of the message.
        sender: Number of a replica, or CLIENT.
        sequence: Place of the batch in the order; of a request and a reply, the request's number.
        digest: SHA-256, 32 octets: of the batch; of a reply, of all that was executed so far.
        payload: A request's operation; of a pre-prepare, its requests.
    """

    kind: MessageKind
    sender: int
    sequence: int
    digest: bytes
    payload: bytes = b""

    @property
    def head(self) -> bytes:
        """Return what a replica proves: all but the requests, of which it has the digest.

        Source: Castro and Liskov, 4.2: the requests go along with a pre-prepare, outside of it.
        """
        return _HEAD.pack(self.kind, self.sender, self.sequence, self.digest)

    def encode(self) -> bytes:
        """Return the whole message; of a request the client signs all of it."""
        return self.head + self.payload

    @classmethod
    def decode(cls, body: bytes) -> "Message":
        """Read a message.

        Raises:
            RejectedError: It is malformed.
        """
        try:
            kind, sender, sequence, digest = _HEAD.unpack_from(body)
            return cls(MessageKind(kind), sender, sequence, digest, body[_HEAD.size :])
        except (error, ValueError) as wrong:
            raise RejectedError(f"expected a message of PBFT, got {body[:40]!r}") from wrong


@dataclass(frozen=True, slots=True)
class Authenticated:
    """A message as it is sent.

    Attributes:
        body: The encoded message.
        proof: Its MACs, or its signature.
    """

    body: bytes
    proof: bytes

    def encode(self) -> bytes:
        """Return sizes, body and proof."""
        return _SIZES.pack(len(self.body), len(self.proof)) + self.body + self.proof

    @classmethod
    def split(cls, wire: bytes) -> list["Authenticated"]:
        """Read messages that follow each other.

        Raises:
            RejectedError: The last one is cut short.
        """
        found, at = [], 0
        while at < len(wire):
            if len(wire) < at + _SIZES.size:
                raise RejectedError("a batch of requests is cut short")
            body, proof = _SIZES.unpack_from(wire, at)
            at += _SIZES.size
            if len(wire) < at + body + proof:
                raise RejectedError("a batch of requests is cut short")
            found.append(cls(wire[at : at + body], wire[at + body : at + body + proof]))
            at += body + proof
        return found


async def receive(reader: asyncio.StreamReader) -> Authenticated:
    """Return the next message of a connection.

    Raises:
        asyncio.IncompleteReadError: The connection ended.
        RejectedError: The message is larger than any here.
    """
    body, proof = _SIZES.unpack(await reader.readexactly(_SIZES.size))
    if body + proof > MESSAGE_BYTES_MAX:
        raise RejectedError(f"expected at most {MESSAGE_BYTES_MAX} bytes, got {body + proof}")
    wire = await reader.readexactly(body + proof)
    return Authenticated(wire[:body], wire[body:])
