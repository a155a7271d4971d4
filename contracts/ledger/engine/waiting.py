"""Batches that wait, within limits, for a transaction or for a transaction processor.

Sawtooth keeps batches without a processor pending for good, and everything behind them too.
"""

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from contracts.ledger.execution.verify import VerifiedBatch
from contracts.sawtooth.batches import Family

ORPHANS_MAX: Final = 1_000
ORPHAN_BYTES_MAX: Final = 16 << 20
ORPHAN_S: Final = 1_200.0
"""Sawtooth's completer keeps orphans as long, seconds."""
PARKED_MAX: Final = 1_000
PARKED_BYTES_MAX: Final = 16 << 20

Need = TypeVar("Need", str, Family)


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Need]):
    batch: VerifiedBatch
    need: Need
    since_s: float


class _Waiting(Generic[Need]):
    """Holds batches in order of arrival, by the need of each of them."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, _Entry[Need]] = OrderedDict()
        self._by_need: dict[Need, list[str]] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def holds(self, need: Need) -> bool:
        """Say whether a batch waits for `need`."""
        return need in self._by_need

    def release(self, need: Need) -> list[VerifiedBatch]:
        """Hand out the batches that waited for `need`, oldest first."""
        return [self._drop(name) for name in tuple(self._by_need.get(need, ()))]

    def _keep(self, batch: VerifiedBatch, need: Need) -> None:
        self._entries[batch.id] = _Entry(batch, need, time.monotonic())
        self._by_need.setdefault(need, []).append(batch.id)
        self._bytes += batch.size

    def _drop(self, batch_id: str) -> VerifiedBatch:
        entry = self._entries.pop(batch_id)
        siblings = self._by_need[entry.need]
        siblings.remove(batch_id)
        if not siblings:
            del self._by_need[entry.need]
        self._bytes -= entry.batch.size
        return entry.batch

    def _drop_oldest(self) -> str:
        oldest = next(iter(self._entries))
        self._drop(oldest)
        return oldest


class Orphans(_Waiting[str]):
    """Holds batches that depend on a transaction which is not committed.

    Over a limit, or after `ORPHAN_S`, the oldest is forgotten.
    """

    def add(self, batch: VerifiedBatch, dependency: str) -> None:
        """Keep `batch` until the transaction `dependency` arrives."""
        if batch.id in self._entries:
            self._drop(batch.id)
        self._keep(batch, dependency)
        self._forget()

    def release(self, need: str) -> list[VerifiedBatch]:
        """Hand out the batches that waited for a transaction, oldest first."""
        self._forget()
        return super().release(need)

    def _forget(self) -> None:
        latest = time.monotonic() - ORPHAN_S
        while self._entries:
            full = len(self) > ORPHANS_MAX or self._bytes > ORPHAN_BYTES_MAX
            if not full and next(iter(self._entries.values())).since_s > latest:
                return
            self._drop_oldest()


class Parked(_Waiting[Family]):
    """Holds batches whose family has no processor; over a limit, the oldest is forgotten."""

    def add(self, batch: VerifiedBatch, family: Family, *, pending: bool = True) -> list[str]:
        """Keep `batch` until a processor of `family` registers.

        Args:
            batch: The batch.
            family: The family whose processor it needs.
            pending: Whether this copy's status is PENDING; else its id is not returned.

        Returns:
            Ids of batches of which a copy is not kept: this one, if it is here
            already and keeps its place, or those that are forgotten.
        """
        if batch.id in self._entries:
            return [batch.id] if pending else []
        self._keep(batch, family)
        gone: list[str] = []
        while len(self) > PARKED_MAX or self._bytes > PARKED_BYTES_MAX:
            gone.append(self._drop_oldest())
        return [each for each in gone if pending or each != batch.id]
