"""Tracing: a walk from a lot to the lots that it was made from, or that were made from it.

Parties put the graph on record, so it may have cycles and may be huge. The walk
visits each transformation once, and says where it stopped at a limit. It
ignores times and quantities, so it reaches too much rather than too little.
"""

import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

from gateway.index.projection import LotRole
from gateway.index.store import IndexStore

ASKED_AT_ONCE: Final = 64
"""Lots of a walk that one question to the index names."""


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
        level = [waiting.popleft() for _ in range(min(len(waiting), ASKED_AT_ONCE))]
        named = _named_in(index, level, near, limit + 1)
        new = (name for names in named for name in names if name not in found)
        reached = _lots_of(index, islice(dict.fromkeys(new), limit + 1), far)
        for here, names in zip(level, named, strict=True):
            for transformation_id in names:
                if transformation_id in found:
                    continue
                if max(len(found), len(steps) - begun) >= limit:
                    cut_at.append(here)
                    break
                found[transformation_id] = None
                for lot in reached[transformation_id]:
                    if lot not in steps:
                        steps[lot] = steps[here] + 1
                        waiting.append(lot)
    return Walk(steps, list(found), cut_at)


def asked_lots(lots: Iterable[LotId]) -> str:
    """Return lots as JSON, for a question about all of them: `value ->> 0` and `->> 1` of each."""
    return json.dumps(list(lots))


def _named_in(
    index: IndexStore, lots: Sequence[LotId], role: LotRole, count: int
) -> list[list[str]]:
    """Return up to `count` transformations that name each lot in a role, the oldest first."""
    rows = index.query(
        "SELECT asked.key, named.id FROM json_each(?1) AS asked CROSS JOIN lots AS named"
        " WHERE named.rowid IN (SELECT rowid FROM lots WHERE gtin = asked.value ->> 0"
        " AND lot = asked.value ->> 1 AND role = ?2 ORDER BY rowid LIMIT ?3)"
        " ORDER BY asked.key, named.rowid",
        asked_lots(lots),
        role,
        count,
    )
    found: list[list[str]] = [[] for _ in lots]
    for key, transformation_id in rows:
        found[key].append(transformation_id)
    return found


def _lots_of(
    index: IndexStore, transformation_ids: Iterable[str], role: LotRole
) -> dict[str, list[LotId]]:
    found: dict[str, list[LotId]] = {name: [] for name in transformation_ids}
    rows = index.query(
        "SELECT id, gtin, lot FROM lots WHERE id IN (SELECT value FROM json_each(?))"
        " AND role = ? ORDER BY rowid",
        json.dumps(list(found)),
        role,
    )
    for transformation_id, gtin, lot in rows:
        found[transformation_id].append(LotId(gtin, lot))
    return found
