"""Adapter: Camera whose film is pseudorandom bytes of any size, the same for the same seed."""

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.chunktree import BLOB_BYTES
from contracts.runtime.files import create
from device.camera.port import Footage

MEDIA_TYPE: Final = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class SeededCamera:
    """Films bytes that nothing can compress or deduplicate; for measurements only, not playable.

    Attributes:
        seed: Seed of the bytes.
        size: Number of bytes.
    """

    seed: int
    size: int

    @property
    def size_max(self) -> int:
        """See `Camera.size_max`."""
        return self.size

    @property
    def suffix(self) -> str:
        """See `Camera.suffix`."""
        return ".bin"

    def film(self, path: Path) -> Footage:
        """See `Camera.film`."""
        dice = random.Random(self.seed)  # noqa: S311 - must be repeatable, keeps no secret
        sha256 = hashlib.sha256()

        def piece(start: int) -> bytes:
            data = dice.randbytes(min(BLOB_BYTES, self.size - start))
            sha256.update(data)
            return data

        create(path, map(piece, range(0, self.size, BLOB_BYTES)))
        return Footage(path.name, MEDIA_TYPE, 0, sha256.digest())
