"""The bytes of a video, made from a seed; no drive can compress or deduplicate them."""

import os
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.runtime.files import disk_errors

PIECE_BYTES: Final = 1_000_000
"""The papers' blob of 1 MB. Source: paper 002, Table I."""
_RING_BYTES: Final = 64 << 20
_BLOCK_BYTES: Final = 4096
_BEGINS: Final = (_RING_BYTES - PIECE_BYTES) // _BLOCK_BYTES * _BLOCK_BYTES
"""Windows begin before this."""
_STEP: Final = 7_650_137
"""From one window to the next. Odd, it lays each of 4,096 pieces otherwise on a drive's blocks; the
piece after those begins 251 blocks on in the ring, more than a piece has: up to 250 GB no block of
a drive is like another."""


@dataclass(frozen=True, slots=True)
class Payload:
    """A video of whole pieces, each a different window into one ring of random bytes.

    The ring is in memory and a window costs one copy, so a sender never waits for a disk or a
    generator. Windows begin at odd distances, so that no two blocks of a drive are alike.

    Args:
        seed: The same seed makes the same bytes.
        pieces: How many, at least one.
    """

    seed: int
    pieces: int
    _ring: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make the ring."""
        if self.pieces < 1:
            raise RejectedError(f"expected a video of at least one piece, got {self.pieces}")
        chance = random.Random(self.seed)  # noqa: S311 - to be repeated, no secret
        object.__setattr__(self, "_ring", chance.randbytes(_RING_BYTES))

    @property
    def size(self) -> int:
        """Return its bytes."""
        return self.pieces * PIECE_BYTES

    def piece(self, index: int) -> bytes:
        """Return the bytes of one piece."""
        start = self._start(index)
        return self._ring[start : start + PIECE_BYTES]

    def holds(self, index: int, came: bytes) -> bool:
        """Say whether a piece came back as it was written: every byte is compared."""
        return len(came) == PIECE_BYTES and self._ring.startswith(came, self._start(index))

    def write_to(self, path: Path) -> Path:
        """Write the video to a file; it is durable, and cached, when this returns.

        Raises:
            UnavailableError: The medium failed or is full.
        """
        with disk_errors("write", path), path.open("wb") as file:
            for index in range(self.pieces):
                file.write(self.piece(index))
            file.flush()
            os.fsync(file.fileno())
        return path

    def _start(self, index: int) -> int:
        return index * _STEP % _BEGINS


def pieces_of(gb: float) -> int:
    """Return how many pieces make so many GB, rounded; at least one."""
    return max(1, round(gb * 1_000_000_000 / PIECE_BYTES))
