"""The bytes of a chunk: for each block its record of the log, and what the validators signed.

    u64  number of the block
    u16  which part of the record
    u16  how many parts it has
    u32  length of the record or its part, bytes
    u32  length of the seal, bytes; 0 for a block that has none of its own
    n    record
    n    seal, a SealedHeader

Blocks come one after the other, the newest first. A record is as the log has it: a block with the
receipts of the validator that sends it. A receiver makes receipts itself, and believes none.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError

CHUNK_MESSAGE_BYTES_MAX: Final = 15_900_000
"""CometBFT's messages with a chunk have 16 million bytes at most."""
_HEAD: Final = struct.Struct(">QHHII")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block in a chunk, or a part of one.

    Attributes:
        number: Of the block.
        record: Its record of the log, or a part of that.
        seal: A SealedHeader, serialised; empty for a block that has none of its own.
        part: Which part, from 0.
        parts: How many parts.
    """

    number: int
    record: bytes
    seal: bytes
    part: int = 0
    parts: int = 1


def encode_chunk(pieces: Iterable[Piece]) -> bytes:
    """Return the bytes of a chunk."""
    return b"".join(
        bytes_
        for each in pieces
        for bytes_ in (
            _HEAD.pack(each.number, each.part, each.parts, len(each.record), len(each.seal)),
            each.record,
            each.seal,
        )
    )


def decode_chunk(wire: bytes) -> list[Piece]:
    """Return the blocks of a chunk.

    Raises:
        RejectedError: It is empty, too long or cut short.
    """
    if not 0 < len(wire) <= CHUNK_MESSAGE_BYTES_MAX:
        raise RejectedError(
            f"expected a chunk of 1 to {CHUNK_MESSAGE_BYTES_MAX} bytes, got {len(wire)}"
        )
    return list(_pieces(wire))


def _pieces(wire: bytes) -> Iterator[Piece]:
    place = 0
    while place < len(wire):
        begin = place + _HEAD.size
        if begin > len(wire):
            raise RejectedError(f"chunk of {len(wire)} bytes is cut short at byte {place}")
        number, part, parts, of_record, of_seal = _HEAD.unpack_from(wire, place)
        middle, place = begin + of_record, begin + of_record + of_seal
        if place > len(wire):
            raise RejectedError(
                f"chunk of {len(wire)} bytes is cut short in block {number}, which ends at byte "
                f"{place}"
            )
        yield Piece(number, wire[begin:middle], wire[middle:place], part, parts)
