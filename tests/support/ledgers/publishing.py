"""A chain with its publisher in this process, whose clock the test sets."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.engine.blocks import StoredBlock
from contracts.ledger.engine.statuses import Outcome
from contracts.ledger.engine.submissions import Submission
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.verify import verify_batch
from contracts.ledger.solo.publisher import Publisher, found
from contracts.proto.sawtooth_pb2 import Batch
from support.ledgers.intkey_node import FAMILIES

SIGNER = Signer.from_hex("11" * 32)
WAIT_S = 30


@dataclass
class Clock:
    """The publisher's clock."""

    now_s: float = 1_700_000_000.5


@dataclass(frozen=True)
class Running:
    """A publisher, and what it says."""

    chain: Chain
    publisher: Publisher
    said: "queue.SimpleQueue[Outcome | Exception]"
    clock: Clock = field(default_factory=Clock)

    def submit(self, *batches: Batch) -> None:
        self.publisher.submit(Submission([verify_batch(batch) for batch in batches], 1))

    def outcome(self) -> Outcome:
        said = self.said.get(timeout=WAIT_S)
        assert isinstance(said, Outcome), said
        return said

    def decide(self, batch: Batch) -> Outcome:
        self.submit(batch)
        return self.outcome()

    def why_invalid(self, batch: Batch) -> str:
        """Return why a batch is invalid; "" if it is not."""
        refused = self.decide(batch).invalid.get(batch.header_signature)
        return "" if refused is None else refused.message

    @property
    def head(self) -> StoredBlock:
        head = self.chain.head
        assert head is not None
        return head


@contextmanager
def publishing(directory: Path, genesis: Batch, families: Families = FAMILIES) -> Iterator[Running]:
    """Run a publisher on the chain in `directory`, which `genesis` founds if it is new."""
    chain = Chain.open(directory)
    if chain.head is None:
        found(chain, SIGNER, families, [genesis])
    said: queue.SimpleQueue[Outcome | Exception] = queue.SimpleQueue()
    clock = Clock()
    publisher = Publisher(chain, SIGNER, families, said.put, said.put, now=lambda: clock.now_s)
    publisher.start()
    try:
        yield Running(chain, publisher, said, clock)
    finally:
        publisher.stop()
        chain.close()
