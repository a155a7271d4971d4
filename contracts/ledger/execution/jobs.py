"""Port: transaction processors, which execute transactions outside this process.

Two implementations exist: the component port, and one without processors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from contracts.ledger.execution.executor import (
    InvalidTransaction,
    Read,
    TransactionContext,
)
from contracts.proto.sawtooth_pb2 import Transaction, TransactionHeader
from contracts.sawtooth.batches import Family


@dataclass(frozen=True, slots=True)
class Lost:
    """The transaction was not executed: no processor of its family is left."""


Answer = TransactionContext | InvalidTransaction | Lost
"""The context with the transaction's effects, why it is invalid, or that it is lost."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One transaction to execute.

    Attributes:
        transaction: The transaction.
        header: Its header, parsed.
        read: Returns the value at an address before it; safe in any thread.
        done: Called once with the answer, in any thread.
        room: How large its effects may be, bytes.
    """

    transaction: Transaction
    header: TransactionHeader
    read: Read
    done: Callable[[Answer], None]
    room: int

    @property
    def family(self) -> Family:
        """Return the family whose processors may execute it."""
        return Family.of(self.header)


class Processors(Protocol):
    """Executes transactions of families that registered."""

    def has(self, family: Family) -> bool:
        """Say whether a processor is registered for `family`; safe in any thread."""
        ...

    def process(self, job: Job) -> None:
        """Have `job` executed; return at once. Each job is answered exactly once."""
        ...


class NoProcessors:
    """No processor ever registers: there is no component port."""

    def has(self, _: Family) -> bool:
        """See `Processors.has`."""
        return False

    def process(self, job: Job) -> None:
        """See `Processors.process`."""
        job.done(Lost())
