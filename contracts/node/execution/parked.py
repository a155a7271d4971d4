"""Batches that wait, within limits, for a transaction processor of their family.

Sawtooth keeps them pending for good, and everything behind them too.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import Final

from contracts.node.verify import VerifiedBatch
from contracts.sawtooth.transactions import Family

PARKED_MAX: Final = 1_000
PARKED_BYTES_MAX: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class _Waiting:
    batch: VerifiedBatch
    family: Family


class Parked:
    """Holds batches in order; over a limit, the oldest is forgotten."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._families: Counter[Family] = Counter()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def holds(self, family: Family) -> bool:
        """Say whether a batch waits for `family`: then later ones wait behind it."""
        return self._families[family] > 0

    def add(self, batch: VerifiedBatch, family: Family) -> list[str]:
        """Keep `batch` until a processor of `family` registers.

        Returns:
            Ids of batches of which a copy is not kept: of this one, when it is here
            already and keeps its place, or of those that are forgotten.
        """
        if batch.id in self._waiting:
            return [batch.id]
        gone: list[str] = []
        self._waiting[batch.id] = _Waiting(batch, family)
        self._families[family] += 1
        self._bytes += batch.size
        while len(self._waiting) > PARKED_MAX or self._bytes > PARKED_BYTES_MAX:
            oldest = next(iter(self._waiting))
            self._drop(oldest)
            gone.append(oldest)
        return gone

    def release(self, family: Family) -> list[VerifiedBatch]:
        """Hand out the batches that waited for a family, oldest first."""
        names = [name for name, each in self._waiting.items() if each.family == family]
        return [batch for batch in map(self._drop, names) if batch is not None]

    def _drop(self, batch_id: str) -> VerifiedBatch | None:
        waiting = self._waiting.pop(batch_id, None)
        if waiting is None:
            return None
        self._bytes -= waiting.batch.size
        self._families[waiting.family] -= 1
        if not self._families[waiting.family]:
            del self._families[waiting.family]
        return waiting.batch
