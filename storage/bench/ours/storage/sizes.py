"""How much is measured, and how much disk that takes."""

from dataclasses import dataclass
from typing import Final

from storage.bench.ours.storage.media import MIB

SLACK_MIB: Final = 2048
"""Commit logs, chains, and what a file system keeps for itself."""
COPIES: Final = 2
_BLOB_ROOM: Final = 8
"""Two recordings in Cassandra, each in commit log, tables, and tables being compacted."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes in MiB, and repetitions.

    Attributes:
        payload_mib: Of the recording that is uploaded, and read from the volume.
        uploads: Times.
        reads: Times that the volume's copy is read.
        memory_mib: Of the recording during which memory is watched.
        blobs_mib: Of the recordings in Cassandra.
        blob_runs: Times that they are written, and read.
        curve_mib: Of each point of the curve.
        curve_rounds: Times that each point is measured.
    """

    payload_mib: int
    uploads: int
    reads: int
    memory_mib: int
    blobs_mib: int
    blob_runs: int
    curve_mib: int
    curve_rounds: int

    @property
    def room(self) -> int:
        """Return the bytes of disk needed at once."""
        most_mib = max(
            (1 + COPIES) * self.payload_mib,
            COPIES * self.memory_mib,
            _BLOB_ROOM * max(self.blobs_mib, self.curve_mib),
        )
        return (most_mib + SLACK_MIB) * MIB


WHOLE: Final = Sizes(2048, 3, 5, 20 * 1024, 1024, 5, 256, 3)
QUICK: Final = Sizes(512, 2, 3, 1024, 256, 2, 64, 1)
SMALLEST: Final = Sizes(16, 1, 1, 32, 16, 1, 4, 1)
"""Of these three: what anyone is told, a look of two minutes, and whether it works at all."""
