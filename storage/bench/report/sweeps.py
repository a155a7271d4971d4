"""Workloads that are points of a sweep; their names show it."""

import re
from dataclasses import dataclass
from typing import Final

_NAME: Final = re.compile(r"(random|sequential)-(\d+)([km]?)-qd(\d+)-read(\d+)")
"""As the part io names them: `random-4k-qd32-read70`."""
_BYTES: Final = {"": 1, "k": 1 << 10, "m": 1 << 20}


@dataclass(frozen=True, order=True, slots=True)
class PlottedPoint:
    """The place of a workload in a sweep.

    Attributes:
        sweep: Pattern and share of reads, in words; one chart for each.
        block_bytes: Of each request.
        block: The same as fio writes it.
        depth: Requests under way.
    """

    sweep: str
    block_bytes: int
    block: str
    depth: int

    @property
    def name(self) -> str:
        """Return its name among the points of its sweep."""
        return f"{self.block}, depth {self.depth}"


def by_numbers(name: str) -> list[str | int]:
    """Return a sort key that orders the numbers in names as numbers."""
    words = re.split(r"([0-9]+)", name)
    return [int(word) if word.isdecimal() else word for word in words]


def point_of(workload: str) -> PlottedPoint | None:
    """Return the point of a workload; None for a workload outside sweeps."""
    found = _NAME.fullmatch(workload)
    if found is None:
        return None
    pattern, count, unit, depth, reads = found.groups()
    share = {"0": "writes", "100": "reads"}.get(reads, f"{reads} % reads")
    return PlottedPoint(
        f"sweep: {pattern}, {share}", int(count) * _BYTES[unit], f"{count}{unit}", int(depth)
    )
