"""Storage at four points for each volume; the part io looks closer with the same tools."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storage.bench.disk import require_room
from storage.bench.io import fio
from storage.bench.io.content import BLOCK_BYTES, Content, working_engine
from storage.bench.io.ground import Ground
from storage.bench.io.layout import write_whole
from storage.bench.io.measured import Method
from storage.bench.io.sweep import FILE, Grid, SweepPoint, Swept
from storage.bench.run.plan import Step
from storage.bench.run.volumetarget import VolumeTarget

POINTS: Final = (
    SweepPoint("sequential", 1 << 20, 8, 0),
    SweepPoint("sequential", 1 << 20, 8, 100),
    SweepPoint("random", 4 << 10, 1, 0),
    SweepPoint("random", 4 << 10, 1, 100),
)
"""Sequential for the rate of a volume, single small requests for its latency."""
BLOCKS: Final = 1024
QUICK_BLOCKS: Final = 64
"""MiB of the file on each volume; all requests are within it."""
SPARE_BYTES: Final = 1 << 30
"""Left free on each volume for the file system."""
_LAYOUT_DEPTH: Final = 8


@dataclass(frozen=True, slots=True)
class Storage:
    """The four points on each volume.

    Attributes:
        blocks: MiB of each file.
        seconds: Of each point.
        seed: Of the files' first content.
    """

    grounds: Sequence[Ground]
    method: Method
    blocks: int
    seconds: int
    seed: int

    @classmethod
    def checked(
        cls, volumes: Sequence[VolumeTarget], work: Path, seed: int, seconds: int, *, quick: bool
    ) -> "Storage":
        """Check fio and the free space, and return the workload.

        Raises:
            RejectedError: A disk is too full.
            UnavailableError: fio is missing, or does not work here.
        """
        fio.version()
        blocks = QUICK_BLOCKS if quick else BLOCKS
        for volume in volumes:
            require_room(volume.work, blocks * BLOCK_BYTES * len(volumes) + SPARE_BYTES)
        grounds = tuple(Ground.of(volume, buffered=False) for volume in volumes)
        return cls(
            grounds, Method(working_engine(None, work), preconditioned=False), blocks, seconds, seed
        )

    @contextmanager
    def opened(self) -> Iterator[Sequence[Step]]:
        """Write the files, yield the steps, and remove the files.

        Raises:
            UnavailableError: fio failed.
        """
        grid = Grid((), (), (), (), self.seconds, 0, self.blocks * BLOCK_BYTES)
        content = Content(self.blocks, _LAYOUT_DEPTH, self.seed)
        try:
            for ground in self.grounds:
                write_whole(FILE, ground, self.method, content, 1)
            yield [
                Swept(ground, self.method, grid, point).step
                for ground in self.grounds
                for point in POINTS
            ]
        finally:
            for ground in self.grounds:
                ground.remove(FILE)
