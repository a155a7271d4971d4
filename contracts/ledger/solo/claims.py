"""Which batches must wait for which, by the addresses that they declare.

Batches arrive in order. Two of them conflict when one writes what the other
reads or writes. A declared address is a prefix: it means everything below it.

Source: Sawtooth 1.2 architecture guide, "Transaction Scheduling", the
parallel scheduler's predecessor tree.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from contracts.ledger.execution.executor import NAMESPACE
from contracts.ledger.execution.verify import VerifiedBatch

CLAIMS_MAX: Final = 20_000
"""With more addresses claimed, a batch waits for all before it, whatever they declare."""

Holder = TypeVar("Holder")


@dataclass(slots=True)
class _Claim(Generic[Holder]):
    """Readers of an address since its last writer, that writer, and how many hold the claim."""

    holders: int = 0
    readers: set[Holder] = field(default_factory=set)
    writers: set[Holder] = field(default_factory=set)


class Claims(Generic[Holder]):
    """The addresses that undecided batches declare; a holder stands for one batch."""

    def __init__(self) -> None:
        self._at: dict[str, _Claim[Holder]] = {}
        self._below: dict[str, set[str]] = {}
        self._held: dict[Holder, set[str]] = {}
        self._count = 0
        self._wall: Holder | None = None

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, holder: Holder) -> bool:
        return holder in self._held

    def __iter__(self) -> Iterator[Holder]:
        return iter(self._held)

    def enter(self, holder: Holder, batch: VerifiedBatch) -> set[Holder]:
        """Add the claims of one more batch; return the holders that it must wait for.

        Those wait for earlier ones in turn, so only the last writer of an address is returned.
        """
        reads, writes = _reads(batch), _writes(batch)
        if self._count + len(reads) + len(writes) > CLAIMS_MAX:
            before = set(self._held)
            self._wall = holder
            self._held[holder] = set()
            return before
        before = set() if self._wall is None else {self._wall}
        for key in writes:
            before |= self._touching(key, writing=True)
        for key in reads - writes:
            before |= self._touching(key, writing=False)
        self._hold(holder, reads, writes)
        return before

    def leave(self, holder: Holder) -> None:
        """Drop the claims of a decided batch."""
        if self._wall == holder:
            self._wall = None
        keys = self._held.pop(holder)
        self._count -= len(keys)
        for key in keys:
            claim = self._at[key]
            claim.holders -= 1
            claim.readers.discard(holder)
            claim.writers.discard(holder)
            if not claim.holders:
                del self._at[key]
                self._forget(key)

    def _touching(self, key: str, *, writing: bool) -> set[Holder]:
        found: set[Holder] = set()
        for other in (key, *_prefixes(key), *self._below.get(key, ())):
            claim = self._at.get(other)
            if claim is not None:
                found |= claim.writers
                if writing:
                    found |= claim.readers
        return found

    def _hold(self, holder: Holder, reads: set[str], writes: set[str]) -> None:
        self._held[holder] = reads | writes
        self._count += len(reads | writes)
        for key in reads | writes:
            claim = self._at.get(key)
            if claim is None:
                claim = self._at[key] = _Claim()
                for prefix in _prefixes(key):
                    self._below.setdefault(prefix, set()).add(key)
            claim.holders += 1
            if key in writes:
                claim.readers, claim.writers = set(), {holder}
            else:
                claim.readers.add(holder)

    def _forget(self, key: str) -> None:
        for prefix in _prefixes(key):
            below = self._below[prefix]
            below.discard(key)
            if not below:
                del self._below[prefix]


def _reads(batch: VerifiedBatch) -> set[str]:
    """Return what a batch reads; its dependencies count as reads."""
    reads = {f"#{name}" for header in batch.headers for name in header.dependencies}
    return reads | {place for header in batch.headers for place in header.inputs if _valid(place)}


def _writes(batch: VerifiedBatch) -> set[str]:
    """Return what a batch writes; its transactions count, as another batch may hold them too."""
    writes = {f"#{each.header_signature}" for each in batch.batch.transactions}
    return writes | {place for header in batch.headers for place in header.outputs if _valid(place)}


def _valid(place: str) -> bool:
    return NAMESPACE.fullmatch(place) is not None


def _prefixes(key: str) -> Iterator[str]:
    """Yield all prefixes of an address."""
    if not key.startswith("#"):
        for length in range(0, len(key), 2):
            yield key[:length]
