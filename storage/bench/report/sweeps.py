"""Workloads that are points of one sweep, told by their names."""

import re
from dataclasses import dataclass
from typing import Final

_NAME: Final = re.compile(r"(random|sequential)-(\d+)([km]?)-qd(\d+)-read(\d+)")
"""As the part io names them: `random-4k-qd32-read70`."""
_BYTES: Final = {"": 1, "k": 1 << 10, "m": 1 << 20}


@dataclass(frozen=True, order=True, slots=True)
class Point:
    """Where in a sweep a workload is.

    Attributes:
        sweep: Pattern and share of reads, in words; a chart has one of them.
        block_bytes: Of each request.
        block: The same in fio's words.
        depth: Requests under way.
    """

    sweep: str
    block_bytes: int
    block: str
    depth: int

    @property
    def name(self) -> str:
        """Return what tells it from the other points of its sweep."""
        return f"{self.block}, depth {self.depth}"


def by_numbers(name: str) -> list[str | int]:
    """Return what names are sorted by when the numbers in them count as numbers."""
    words = re.split(r"([0-9]+)", name)
    return [int(word) if word.isdecimal() else word for word in words]


def point_of(workload: str) -> Point | None:
    """Return which point a workload is; None for one that is no point of a sweep."""
    found = _NAME.fullmatch(workload)
    if found is None:
        return None
    pattern, count, unit, depth, reads = found.groups()
    share = {"0": "writes", "100": "reads"}.get(reads, f"{reads} % reads")
    return Point(
        f"sweep: {pattern}, {share}", int(count) * _BYTES[unit], f"{count}{unit}", int(depth)
    )
