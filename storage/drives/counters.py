"""What went through a device since it came: its I/O counters, added up over its paths."""

from dataclasses import dataclass
from typing import Self

from storage.drives.kernel import SECTOR_BYTES, Kernel, text
from storage.drives.nvme import paths


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals since the device came.

    Attributes:
        reads: Requests, merged ones counted once.
        read_ms: Sum of their times, milliseconds.
        busy_ms: Time with any request under way.
    """

    reads: int = 0
    read_bytes: int = 0
    read_ms: int = 0
    writes: int = 0
    written_bytes: int = 0
    write_ms: int = 0
    busy_ms: int = 0

    def __add__(self, other: Self) -> "Counters":
        return Counters(
            self.reads + other.reads,
            self.read_bytes + other.read_bytes,
            self.read_ms + other.read_ms,
            self.writes + other.writes,
            self.written_bytes + other.written_bytes,
            self.write_ms + other.write_ms,
            self.busy_ms + other.busy_ms,
        )


def counters(kernel: Kernel, name: str) -> Counters:
    """Return a device's counters, by its name.

    The head of a multipath device counts nothing on older kernels (6.1 among them): there it is
    the sum of its paths, in which times of paths that are busy together add up. A sampler must
    expect less than before when a path has gone. Partitions of such a head count nothing at all.
    """
    own = _counted(kernel, name)
    if own.reads or own.writes:
        return own
    hidden = (path.disk for path in paths(kernel, name) if path.disk not in (None, name))
    return sum((_counted(kernel, disk) for disk in hidden if disk), own)


def _counted(kernel: Kernel, name: str) -> Counters:
    """Return the counters of one disk. Source: kernel documentation, block/stat."""
    fields = [int(field) for field in text(kernel.block(name) / "stat").split()]
    if not fields:
        return Counters()
    reads, _, read, read_ms, writes, _, written, write_ms, _, busy_ms, *_ = fields
    return Counters(
        reads, read * SECTOR_BYTES, read_ms, writes, written * SECTOR_BYTES, write_ms, busy_ms
    )
