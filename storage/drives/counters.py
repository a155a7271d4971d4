"""The I/O counters of a device since it appeared, summed over its paths."""

from dataclasses import astuple, dataclass
from typing import Self

from storage.drives.kernel import SECTOR_BYTES, Kernel, text
from storage.drives.nvme import paths


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals since the device appeared.

    Attributes:
        reads: Requests; merged ones count once.
        read_ms: Sum of their durations, milliseconds.
        busy_ms: Time with a request under way.
    """

    reads: int = 0
    read_bytes: int = 0
    read_ms: int = 0
    writes: int = 0
    written_bytes: int = 0
    write_ms: int = 0
    busy_ms: int = 0

    def __add__(self, other: Self) -> "Counters":
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Counters(*(mine + theirs for mine, theirs in pairs))


def counters(kernel: Kernel, name: str) -> Counters:
    """Return a device's counters, by its name.

    The head of a multipath device counts nothing on older kernels (such as 6.1). There the result
    is the sum over its paths, in which the times of paths that are busy together add up. The sum
    gets smaller when a path is removed. Partitions of such a head count nothing at all.
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
