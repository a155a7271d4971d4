"""How a chain is cut into the chunks of a snapshot: the same at every validator.

The cuts follow from the lengths of the log's records, from the first block on, so a longer chain
has the same cuts and a few more. The newest block goes first: each block names the one before by
its hash, so a receiver checks a chunk at once from the newest block's id, which it trusts.
"""

import hashlib
import struct
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

CHUNK_BYTES: Final = 4 << 20
"""A chunk takes no further block once its records have so many bytes."""
CHUNK_BLOCKS: Final = 512
"""Most blocks of a chunk. With what 100 validators signed for each, it stays below CometBFT's 16
million bytes."""
PART_BYTES: Final = 8 << 20
"""A longer record is sent in parts of about this length, each a chunk of its own."""
CHUNKS_MAX: Final = 100_000
"""CometBFT refuses a snapshot of more (its `max_snapshot_chunks`)."""
_CUT: Final = struct.Struct(">QI")


@dataclass(frozen=True, slots=True)
class Span:
    """What a chunk holds.

    Attributes:
        first: Its oldest block.
        last: Its newest block.
        part: Which part of the block, from 0, if there is only one block, in several parts.
        parts: How many parts that block has.
    """

    first: int
    last: int
    part: int = 0
    parts: int = 1


class Partition:
    """The cuts of a chain that grows."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._parts: dict[int, int] = {}
        self._open = False
        self._bytes = 0
        self.blocks = 0
        """How many blocks were added."""

    def add(self, length: int) -> None:
        """Add the next block, whose record has so many bytes."""
        number, self.blocks = self.blocks, self.blocks + 1
        if length > PART_BYTES:
            self._firsts.append(number)
            self._parts[number] = -(-length // PART_BYTES)
            self._open = False
            return
        full = self._open and (
            self._bytes + length > CHUNK_BYTES or number - self._firsts[-1] >= CHUNK_BLOCKS
        )
        if full or not self._open:
            self._firsts.append(number)
            self._bytes, self._open = 0, True
        self._bytes += length

    def spans(self, newest: int) -> list[Span]:
        """Return the chunks of the chain up to a block, the newest first."""
        groups = bisect_right(self._firsts, newest)
        found: list[Span] = []
        last = newest
        for first in reversed(self._firsts[:groups]):
            parts = self._parts.get(first, 1)
            found += [Span(first, last, part, parts) for part in range(parts)]
            last = first - 1
        return found

    def digest(self, newest: int) -> bytes:
        """Return a hash of the cuts: chunks of validators that cut otherwise do not fit."""
        groups = bisect_right(self._firsts, newest)
        hasher = hashlib.sha256(_CUT.pack(newest, groups))
        for first in self._firsts[:groups]:
            hasher.update(_CUT.pack(first, self._parts.get(first, 1)))
        return hasher.digest()


def part_of(record: bytes, part: int, parts: int) -> bytes:
    """Return one of the parts of a record."""
    return record[part * len(record) // parts : (part + 1) * len(record) // parts]
