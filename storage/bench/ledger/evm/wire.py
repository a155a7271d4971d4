"""Signed transactions of an EVM in groups: a group is what a batch is on Sawtooth.

A group is one octet string: for each transaction its hash (32 octets), its sender (20), its nonce
(u64), the size of the rest (u32), and the signed transaction as the network takes it. All of one
group have one sender and consecutive nonces, so an EVM executes them in this order.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Final

from contracts.errors import RejectedError

_FRAME: Final = Struct(">32s20sQI")


@dataclass(frozen=True, slots=True)
class Sent:
    """One signed transaction.

    Attributes:
        digest: Its hash, 32 octets: its name on the chain.
        sender: 20 octets.
        nonce: Number of transactions that its sender made before it.
        raw: As `eth_sendRawTransaction` takes it.
    """

    digest: bytes
    sender: bytes
    nonce: int
    raw: bytes

    @property
    def account(self) -> str:
        """Return the sender as JSON has it."""
        return "0x" + self.sender.hex()


def group(transactions: Iterable[Sent]) -> tuple[str, bytes]:
    """Return id and octets of a group."""
    wire = b"".join(
        _FRAME.pack(each.digest, each.sender, each.nonce, len(each.raw)) + each.raw
        for each in transactions
    )
    return group_id(wire), wire


def group_id(wire: bytes) -> str:
    """Return the id of a group: as long as one of Sawtooth's batches, and never the same twice."""
    return hashlib.sha512(wire).hexdigest()


def parts(wire: bytes) -> Iterator[Sent]:
    """Yield the transactions of a group.

    Raises:
        RejectedError: It is cut short.
    """
    at = 0
    while at < len(wire):
        if len(wire) - at < _FRAME.size:
            raise RejectedError("a group of transactions is cut short")
        digest, sender, nonce, size = _FRAME.unpack_from(wire, at)
        at += _FRAME.size
        raw = wire[at : at + size]
        if len(raw) != size:
            raise RejectedError("a group of transactions is cut short")
        at += size
        yield Sent(digest, sender, nonce, raw)
