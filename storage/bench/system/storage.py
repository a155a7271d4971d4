"""Storage in four points for each volume; the part io looks closer, with the same means."""

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
from storage.bench.io.sweep import FILE, Grid, Point, Swept
from storage.bench.run.plan import Step
from storage.bench.run.volumetarget import VolumeTarget

POINTS: Final = (
    Point("sequential", 1 << 20, 8, 0),
    Point("sequential", 1 << 20, 8, 100),
    Point("random", 4 << 10, 1, 0),
    Point("random", 4 << 10, 1, 100),
)
"""In sequence for what a volume carries, one small request at a time for how long it takes."""
BLOCKS: Final = 1024
QUICK_BLOCKS: Final = 64
"""MiB of the file on each volume, within which all requests are."""
SPARE_BYTES: Final = 1 << 30
"""Left free on each volume, for the file system's own sake."""
_LAYOUT_DEPTH: Final = 8


@dataclass(frozen=True, slots=True)
class Storage:
    """The four points on each volume.

    Attributes:
        blocks: MiB of each file.
        seconds: Of each point.
        seed: Of what is in the files at first.
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
        """Return it once fio is known to work, and that there is room.

        Raises:
            RejectedError: There is no room.
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
