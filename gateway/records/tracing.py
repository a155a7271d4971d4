"""Tracing: a walk from a lot to the lots that it was made from, or that were made from it.

Parties put the graph on record, so it may have cycles and may be huge. The walk
visits each transformation once, and says where it stopped at a limit. It
ignores times and quantities, so it reaches too much rather than too little.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from gateway.index.projection import LotRole
from gateway.index.store import IndexStore


class LotId(NamedTuple):
    """A lot by its name."""

    gtin: str
    lot: str


class Direction(Enum):
    """Which way to walk: the role of the lot at hand, and the role of the lots to go to."""

    BACKWARD = (LotRole.OUTPUT, LotRole.INPUT)
    FORWARD = (LotRole.INPUT, LotRole.OUTPUT)


@dataclass(frozen=True, slots=True)
class Walk:
    """The lots and transformations that a walk reached.

    Attributes:
        steps: How many transformations away each lot is, nearest first; 0 for the first lots.
        transformations: Their ids, nearest first.
        cut_at: Lots with transformations that were left out at the limit.
    """

    steps: dict[LotId, int]
    transformations: list[str]
    cut_at: list[LotId]


def walk(index: IndexStore, starts: Iterable[LotId], direction: Direction, limit: int) -> Walk:
    """Follow lots, breadth first, up to `limit` transformations or as many further lots.

    No transformation is split: the last one may reach a few lots more than the limit.
    """
    near, far = direction.value
    steps = dict.fromkeys(starts, 0)
    begun, waiting = len(steps), deque(steps)
    found: dict[str, None] = {}
    cut_at: list[LotId] = []
    while waiting:
        here = waiting.popleft()
        for transformation_id in _named_in(index, here, near, limit + 1):
            if transformation_id in found:
                continue
            if max(len(found), len(steps) - begun) >= limit:
                cut_at.append(here)
                break
            found[transformation_id] = None
            for lot in _lots_of(index, transformation_id, far):
                if lot not in steps:
                    steps[lot] = steps[here] + 1
                    waiting.append(lot)
    return Walk(steps, list(found), cut_at)


def _named_in(index: IndexStore, lot: LotId, role: LotRole, count: int) -> list[str]:
    """Return up to `count` transformations that name a lot in a role, the oldest first."""
    rows = index.query(
        "SELECT id FROM lots WHERE gtin = ? AND lot = ? AND role = ? ORDER BY rowid LIMIT ?",
        lot.gtin,
        lot.lot,
        role,
        count,
    )
    return [transformation_id for (transformation_id,) in rows]


def _lots_of(index: IndexStore, transformation_id: str, role: LotRole) -> Sequence[LotId]:
    rows = index.query(
        "SELECT gtin, lot FROM lots WHERE id = ? AND role = ? ORDER BY rowid",
        transformation_id,
        role,
    )
    return [LotId(gtin, lot) for gtin, lot in rows]
