"""Batches that wait, for a while and within limits, for a transaction they depend on."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from contracts.node.verify import VerifiedBatch

ORPHANS_MAX: Final = 1_000
ORPHAN_BYTES_MAX: Final = 16 << 20
ORPHAN_S: Final = 1_200.0
"""Sawtooth's completer keeps them as long, seconds."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    batch: VerifiedBatch
    dependency: str
    since_s: float


class Orphans:
    """Holds orphaned batches; over a limit, the oldest is forgotten."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._by_dependency: dict[str, list[str]] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, batch: VerifiedBatch, dependency: str) -> None:
        """Keep `batch` until the transaction `dependency` arrives."""
        self._drop(batch.id)
        self._waiting[batch.id] = _Waiting(batch, dependency, time.monotonic())
        self._by_dependency.setdefault(dependency, []).append(batch.id)
        self._bytes += batch.size
        self._forget()

    def release(self, transaction_id: str) -> list[VerifiedBatch]:
        """Hand out the batches that waited for a transaction, oldest first."""
        self._forget()
        names = list(self._by_dependency.get(transaction_id, ()))
        return [batch for batch in map(self._drop, names) if batch is not None]

    def _forget(self) -> None:
        latest = time.monotonic() - ORPHAN_S
        while self._waiting:
            batch_id, oldest = next(iter(self._waiting.items()))
            full = len(self._waiting) > ORPHANS_MAX or self._bytes > ORPHAN_BYTES_MAX
            if not full and oldest.since_s > latest:
                return
            self._drop(batch_id)

    def _drop(self, batch_id: str) -> VerifiedBatch | None:
        waiting = self._waiting.pop(batch_id, None)
        if waiting is None:
            return None
        siblings = self._by_dependency[waiting.dependency]
        siblings.remove(batch_id)
        if not siblings:
            del self._by_dependency[waiting.dependency]
        self._bytes -= waiting.batch.size
        return waiting.batch
