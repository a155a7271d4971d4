"""Port: transactions that are executed elsewhere than in this process.

Two implementations exist: the component port's processors, and none at all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from contracts.node.execution.executor import EFFECT_BYTES_MAX, Read, TransactionContext, Verdict
from contracts.proto.sawtooth_pb2 import Transaction, TransactionHeader
from contracts.sawtooth.transactions import Family


@dataclass(frozen=True, slots=True)
class Lost:
    """No processor of the transaction's family is left; nothing came of it."""


Answer = TransactionContext | Verdict | Lost
"""What became of a transaction; the context holds what it did."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One transaction to execute.

    Attributes:
        transaction: The transaction.
        header: Its header, parsed.
        read: Returns the value at an address before it; safe in any thread.
        done: Called once with the answer, in any thread.
        room: What its effects may take, bytes.
    """

    transaction: Transaction
    header: TransactionHeader
    read: Read
    done: Callable[[Answer], None]
    room: int = EFFECT_BYTES_MAX

    @property
    def family(self) -> Family:
        """Return the family whose processors may execute it."""
        return Family.of(self.header)


class Processors(Protocol):
    """Executes transactions of families that registered."""

    def has(self, family: Family) -> bool:
        """Say whether someone is registered for `family`; safe in any thread."""
        ...

    def process(self, job: Job) -> None:
        """Have `job` executed; return at once. Each job is answered once, however long it takes."""
        ...


class NoProcessors:
    """Nobody registers where there is no port."""

    def has(self, _: Family) -> bool:
        """See `Processors.has`."""
        return False

    def process(self, job: Job) -> None:
        """See `Processors.process`."""
        job.done(Lost())
