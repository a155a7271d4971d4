"""How a chain is cut into the chunks of a snapshot: the same at every validator.

The cuts follow from the lengths of the log's records, from the first block on, so a longer chain
has the same cuts and a few more. The newest block goes first: each block names the one before by
its hash, so a receiver checks a chunk at once from the newest block's id, which it trusts.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from contracts.errors import RejectedError
from contracts.ledger.blocks.log import RECORD_BYTES_MAX

CHUNK_BYTES: Final = 4 << 20
"""A chunk takes no further block once its records have so many bytes."""
CHUNK_BLOCKS: Final = 512
"""Most blocks of a chunk. With what 100 validators signed for each, it stays below CometBFT's 16
million bytes."""
PART_BYTES: Final = 8 << 20
"""A longer record is sent in parts of about this length, each a chunk of its own."""
PARTS_MAX: Final = RECORD_BYTES_MAX // PART_BYTES
"""Parts in which one block may come: as many as the longest record has."""
CHUNKS_MAX: Final = 100_000
"""CometBFT refuses a snapshot of more (its `max_snapshot_chunks`)."""
_CUT: Final = struct.Struct(">QI")
"""A number of a block, and how many chunks begin with it, from the oldest block on."""
_NUMBERS: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class Span:
    """The content of a chunk.

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
        return _spans(self._cuts(newest), newest)

    def metadata(self, newest: int) -> bytes:
        """Return the cuts of the chain up to a block, as a snapshot has them.

        Per cut `u64` oldest block of a chunk, `u32` in how many parts that one comes, each a chunk;
        the oldest first. Then `u64` the newest block, `u32` 0. CometBFT takes messages of 4 MB.
        """
        return b"".join(_CUT.pack(*cut) for cut in [*self._cuts(newest), (newest, 0)])

    def _cuts(self, newest: int) -> list[tuple[int, int]]:
        groups = bisect_right(self._firsts, newest)
        return [(first, self._parts.get(first, 1)) for first in self._firsts[:groups]]


def read_metadata(wire: bytes, chunks: int) -> list[Span]:
    """Return the chunks that a snapshot says it has, the newest first.

    Args:
        wire: As `Partition.metadata` has it.
        chunks: How many the snapshot has.

    Raises:
        RejectedError: It cuts no chain into so many chunks.
    """
    if len(wire) % _CUT.size or not 1 < len(wire) // _CUT.size <= CHUNKS_MAX + 1:
        raise RejectedError(
            f"expected the cuts of a snapshot, {_CUT.size} bytes for each, got {len(wire)} bytes"
        )
    *cuts, (newest, end) = _CUT.iter_unpack(wire)
    if end or cuts[0][0] or any(one[0] >= other[0] for one, other in pairwise(cuts)):
        raise RejectedError("expected the cuts of a snapshot to go up from block 0")
    if cuts[-1][0] > newest or newest >= _NUMBERS:
        raise RejectedError(f"expected a cut up to block {newest}, got one at block {cuts[-1][0]}")
    if not all(0 < parts <= PARTS_MAX for _, parts in cuts):
        raise RejectedError(f"expected 1 to {PARTS_MAX} parts of each block of a snapshot")
    if (said := sum(parts for _, parts in cuts)) != chunks:
        raise RejectedError(f"expected the cuts of {chunks} chunks, got those of {said}")
    spans = _spans(cuts, newest)
    if any(each.parts > 1 and each.first != each.last for each in spans):
        raise RejectedError("expected a block that comes in parts alone in its chunks")
    return spans


def _spans(cuts: Iterable[tuple[int, int]], newest: int) -> list[Span]:
    found: list[Span] = []
    last = newest
    for first, parts in reversed(list(cuts)):
        found += [Span(first, last, part, parts) for part in range(parts)]
        last = first - 1
    return found


def part_of(record: bytes, part: int, parts: int) -> bytes:
    """Return one of the parts of a record."""
    return record[part * len(record) // parts : (part + 1) * len(record) // parts]
