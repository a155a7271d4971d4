"""A chain whose batches are executed by the test itself, when it wants."""

import queue
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.engine.statuses import Outcome
from contracts.ledger.engine.submissions import Submission
from contracts.ledger.execution.executor import TransactionContext
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.execution.jobs import Job
from contracts.ledger.execution.verify import verify_batch
from contracts.ledger.solo.publisher import Publisher, found
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Family, build_batch
from contracts.sawtooth.settings import propose
from support.ledgers.intkey_node import INTKEY
from support.ledgers.nodes import intkey

SIGNER = Signer.from_hex("11" * 32)
WAIT_S = 30
SIZE = 1_000
NUMBERS = count()
"""Make transactions differ."""


class Elsewhere:
    """Executes nothing until told to."""

    def __init__(self) -> None:
        self.families = {INTKEY}
        self.jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()

    def has(self, family: Family) -> bool:
        return family in self.families

    def process(self, job: Job) -> None:
        self.jobs.put(job)

    def job(self) -> Job:
        return self.jobs.get(timeout=WAIT_S)


class Ledger:
    """A chain with its publisher, and what it reports."""

    def __init__(self, directory: Path, genesis: Batch) -> None:
        self.chain = Chain.open(directory)
        found(self.chain, SIGNER, BUILT_IN, [genesis])
        self.elsewhere = Elsewhere()
        self.outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self.publisher = Publisher(
            self.chain,
            SIGNER,
            BUILT_IN,
            self.outcomes.put,
            lambda error: self.outcomes.put(Outcome(stuck=[str(error)])),
            processors=self.elsewhere,
        )
        self.publisher.start()

    def submit(self, *batches: Batch) -> None:
        self.publisher.submit(Submission([verify_batch(batch) for batch in batches], SIZE))

    def until(self, *batches: Batch) -> Outcome:
        """Return all outcomes together, once these batches are decided."""
        total = Outcome()
        wanted = {batch.header_signature for batch in batches}
        while wanted - set(total.decided):
            outcome = self.outcomes.get(timeout=WAIT_S)
            total.decided += outcome.decided
            total.invalid |= outcome.invalid
            total.stuck += outcome.stuck
            total.queued_batches += outcome.queued_batches
            total.queued_bytes += outcome.queued_bytes
        assert not total.stuck
        return total

    def blocks(self) -> list[list[str]]:
        """Return the batch ids of every block after the genesis."""
        assert self.chain.head is not None
        found_ = [self.chain.by_num(number) for number in range(1, self.chain.head.num + 1)]
        return [list(each.header.batch_ids) for each in found_ if each is not None]


def answer(job: Job, value: bytes = b"1") -> None:
    """Execute a transaction: write at its first output what was there, and `value`."""
    context = TransactionContext(job.header, job.read)
    place = job.header.outputs[0]
    context.set(place, (context.get(place) or b"") + value)
    job.done(context)


def setting(*names: str, dependencies: Sequence[str] = ()) -> Batch:
    return build_batch(
        SIGNER,
        [intkey(SIGNER, "set", name, next(NUMBERS), dependencies=dependencies) for name in names],
    )


def own(value: str) -> Batch:
    return build_batch(SIGNER, [propose(SIGNER, "a.b.c", value)])


def ids(*batches: Batch) -> list[str]:
    return [batch.header_signature for batch in batches]
