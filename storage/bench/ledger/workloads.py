"""The workloads: kinds of transactions, their grouping and their family."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contracts.proto.sawtooth_pb2 import Batch
from storage.bench.ledger.papers import PaperLoad, Pattern
from storage.bench.trucks.fleet import Load, departures, network

BatchLoad = Load | PaperLoad
"""A load in the form of Sawtooth's batches, which each engine of another form translates."""
LANES: Final = 20
"""Each waits for the answer before it submits more."""
PER_RUN: Final = 60


@dataclass(frozen=True, slots=True)
class Translated:
    """A load in the form of another engine; has the plain part of `SignedLoad`.

    Attributes:
        inner: The load, as other ledgers get it.
    """

    inner: BatchLoad

    @property
    def name(self) -> str:
        """See `SignedLoad.name`."""
        return self.inner.name

    @property
    def lanes(self) -> int:
        """See `SignedLoad.lanes`."""
        return self.inner.lanes


@dataclass(frozen=True, slots=True)
class LedgerWorkload:
    """One kind of transaction.

    Attributes:
        name: Words with dashes.
        per_batch: Transactions in one batch.
        readings: In one transaction; 0 for family `wayseal_bench`.
        flat_out: Transactions submitted flat out in a quick run.
        records: Keys or accounts that exist before a quick run; see `PaperLoad.records`.
        pays: See `PaperLoad.pays`.
        lanes: Trucks, or clients, that submit at once.
        pattern: See `PaperLoad.pattern`.
    """

    name: str
    per_batch: int
    readings: int
    flat_out: int
    records: int = 0
    pays: bool = False
    lanes: int = LANES
    pattern: Pattern = Pattern.CHANCE

    def batches(self, transactions: float) -> int:
        """Return the number of batches of each lane for at least so many transactions."""
        return max(1, math.ceil(transactions / self.per_batch / self.lanes))

    def load(self, tag: str, batches: int, writes: float, seed: int, scale: int) -> BatchLoad:
        """Return the load to sign.

        Args:
            tag: Tells loads on the same ledger apart.
            batches: Of each lane.
            writes: Share of the transactions that write.
            seed: Of keys and values.
            scale: Records as a multiple of a quick run's.
        """
        name, count = f"{self.name}{tag}", batches * self.per_batch
        if self.readings:
            return Load(name, self.lanes, count * self.readings, self.readings, self.per_batch)
        return PaperLoad(
            name,
            self.lanes,
            count,
            self.per_batch,
            self.records * scale,
            writes,
            self.pays,
            seed,
            self.pattern,
        )


READINGS: Final = LedgerWorkload("readings", 10, 1, 2_000)
RUNS: Final = LedgerWorkload("reading-runs", 10, PER_RUN, 200)
SINGLES: Final = LedgerWorkload("single-readings", 1, 1, 500)
KEY_VALUE: Final = LedgerWorkload("key-value", 10, 0, 200, records=50)
SMALL_BANK: Final = LedgerWorkload("small-bank", 10, 0, 200, records=50, pays=True)
DEPENDENT: Final = LedgerWorkload(
    "dependent-payments", 10, 0, 400, records=400, pays=True, pattern=Pattern.ONE
)
INDEPENDENT: Final = LedgerWorkload(
    "independent-payments", 10, 0, 400, records=400, pays=True, pattern=Pattern.APART
)
DO_NOTHING: Final = LedgerWorkload("do-nothing", 10, 0, 200, pattern=Pattern.NONE)
BEP_23: Final = LedgerWorkload("bep-23", 1, 0, 100)
POET: Final = LedgerWorkload("poet-readings", 1, 1, 0, lanes=1)
"""Readings of one truck, all submitted at once: the pacing decides when they are committed."""
WORKLOADS: Final = (
    READINGS, RUNS, SINGLES, KEY_VALUE, SMALL_BANK, DEPENDENT, INDEPENDENT, DO_NOTHING, BEP_23,
)  # fmt: skip


def before(load: BatchLoad, *, known: bool) -> Sequence[Batch]:
    """Return the batches that must be committed before a load.

    Args:
        load: Committed afterwards.
        known: The fleet's parties and sites are on the ledger already.
    """
    if isinstance(load, Load):
        return [*(() if known else network()), *departures(load)]
    return list(load.filling())
