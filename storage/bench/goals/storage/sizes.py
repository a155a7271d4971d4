"""The sizes of the measurements, and the disk space that they need."""

from dataclasses import dataclass
from typing import Final

from storage.bench.disk import MIB

SLACK_MIB: Final = 2048
"""For commit logs, chains and the file system."""
COPIES: Final = 2
_BLOB_ROOM: Final = 8
"""Two recordings in Cassandra, each in commit log, tables, and tables being compacted."""


@dataclass(frozen=True, slots=True)
class StorageSizes:
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
            (1 + COPIES * (self.uploads + 1)) * self.payload_mib,  # the last one of dd's
            COPIES * self.memory_mib,
            _BLOB_ROOM * max(self.blobs_mib, self.curve_mib),
        )
        return (most_mib + SLACK_MIB) * MIB


WHOLE: Final = StorageSizes(2048, 3, 5, 20 * 1024, 1024, 5, 256, 3)
QUICK: Final = StorageSizes(512, 2, 3, 1024, 256, 2, 64, 1)
SMALLEST: Final = StorageSizes(16, 1, 1, 32, 16, 1, 4, 1)
"""These three: the published figures, a look of two minutes, and a test that it works."""
