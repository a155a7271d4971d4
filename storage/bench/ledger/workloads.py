"""The workloads: what is signed, how it is grouped, and whose rules it obeys."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contracts.proto.sawtooth_pb2 import Batch
from storage.bench.ledger.fleet import Load, departures, network
from storage.bench.ledger.papers import PaperLoad
from storage.bench.ledger.signed import SignedLoad

LANES: Final = 20
"""Each waits for the answer before it submits more."""
PER_RUN: Final = 60


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of transaction.

    Attributes:
        name: Words with dashes.
        per_batch: Transactions in one batch.
        readings: In one transaction; 0 where there are none, and `wayseal_bench` is the family.
        flat_out: Transactions submitted as fast as the ledger takes them, in a quick run.
        records: Keys or accounts that are there before, in a quick run; see `PaperLoad.records`.
        pays: See `PaperLoad.pays`.
        lanes: Trucks, or clients, that submit at once.
    """

    name: str
    per_batch: int
    readings: int
    flat_out: int
    records: int = 0
    pays: bool = False
    lanes: int = LANES

    def batches(self, transactions: float) -> int:
        """Return how many batches of each lane hold at least so many transactions."""
        return max(1, math.ceil(transactions / self.per_batch / self.lanes))

    def load(self, tag: str, batches: int, writes: float, seed: int, scale: int) -> SignedLoad:
        """Return what is to be signed.

        Args:
            tag: Tells it from others on the same ledger.
            batches: Of each lane.
            writes: Share of the transactions that write.
            seed: Of keys and values.
            scale: Times the records of a quick run.
        """
        name, count = f"{self.name}{tag}", batches * self.per_batch
        if self.readings:
            return Load(name, self.lanes, count * self.readings, self.readings, self.per_batch)
        return PaperLoad(
            name, self.lanes, count, self.per_batch, self.records * scale, writes, self.pays, seed
        )


READINGS: Final = Workload("readings", 10, 1, 2_000)
RUNS: Final = Workload("reading-runs", 10, PER_RUN, 200)
SINGLES: Final = Workload("single-readings", 1, 1, 500)
KEY_VALUE: Final = Workload("key-value", 10, 0, 200, records=50)
SMALL_BANK: Final = Workload("small-bank", 10, 0, 200, records=50, pays=True)
BEP_23: Final = Workload("bep-23", 1, 0, 100)
POET: Final = Workload("poet-readings", 1, 1, 0, lanes=1)
"""One truck's, all there at once: how they get in is up to the pacing."""
WORKLOADS: Final = (READINGS, RUNS, SINGLES, KEY_VALUE, SMALL_BANK, BEP_23)


def before(load: SignedLoad, *, known: bool) -> Sequence[Batch]:
    """Return what must be committed before a load.

    Args:
        load: What follows.
        known: The fleet's parties and sites are on the ledger.
    """
    if isinstance(load, Load):
        return [*(() if known else network()), *departures(load)]
    return list(load.filling()) if isinstance(load, PaperLoad) else ()
