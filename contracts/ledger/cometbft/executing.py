"""Executes the batches of a height one after the other, also those of other processes' families.

A transaction processor registers at the component port of each validator. While a
validator has none for a family, it lets no such batch into its mempool and refuses proposals with
them. A height that the others decided all the same waits here until a processor is back: skipping
it would lead to another state.
"""

import logging
import threading
from collections.abc import Container
from itertools import starmap
from typing import Final

from contracts.errors import UnavailableError
from contracts.ledger.engine.candidate import Candidate, Obstacle
from contracts.ledger.execution.executor import (
    Execution,
    InvalidTransaction,
    TransactionContext,
    execute_transaction,
    reader,
    refused_settings,
)
from contracts.ledger.execution.jobs import Answer, Job, Lost, Processors
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.sawtooth.batches import Family

_LOG = logging.getLogger(__name__)

LOOK_S: Final = 1.0
"""How often, seconds, a height that waits for a processor looks for one."""


class Executing:
    """Executes batches in the consensus thread.

    Args:
        own: Families in this process.
        processors: Execute transactions of other families.
        stopping: Ends waiting for a processor.
    """

    def __init__(
        self, own: Container[Family], processors: Processors, stopping: threading.Event
    ) -> None:
        self._own = own
        self._processors = processors
        self._stopping = stopping

    def missing(self, batch: VerifiedBatch) -> Family | None:
        """Return a family of the batch that nobody here can execute, if any; any thread."""
        strangers = (
            family for family in self._strangers(batch) if not self._processors.has(family)
        )
        return next(strangers, None)

    def add(
        self, candidate: Candidate, batch: VerifiedBatch
    ) -> InvalidTransaction | Obstacle | None:
        """Execute and take a batch, or return why not.

        Raises:
            UnavailableError: The node stops while a processor is awaited.
        """
        if not self._strangers(batch):
            return candidate.add(batch)
        obstacle = candidate.obstacle(batch) or candidate.not_permitted(batch, self._own)
        return obstacle or self._execute(candidate, batch)

    def _execute(self, candidate: Candidate, batch: VerifiedBatch) -> InvalidTransaction | None:
        execution = Execution()
        read = reader(candidate.read, execution.changes)
        for transaction, header in zip(batch.batch.transactions, batch.headers, strict=True):
            result: TransactionContext | InvalidTransaction
            if Family.of(header) in self._own:
                result = execute_transaction(
                    transaction, header, candidate.families, read, execution.room
                )
            else:
                answered = _Answered()
                job = Job(transaction, header, read, answered.take, execution.room)
                result = self._asked(job, answered)
            if isinstance(result, InvalidTransaction):
                return result
            execution.add(transaction.header_signature, result)
        if refused := refused_settings(execution, candidate.read):
            return refused
        candidate.take(batch, execution)
        return None

    def _asked(self, job: Job, answered: "_Answered") -> TransactionContext | InvalidTransaction:
        """Return what a processor answers; one that is lost is waited for."""
        family = Family.of(job.header)
        while True:
            self._processors.process(job)
            answer = answered.wait(self._stopping)
            if not isinstance(answer, Lost):
                return answer
            _LOG.error(
                "a height waits for a transaction processor of %s %s", family.name, family.version
            )
            while not self._processors.has(family):
                if self._stopping.wait(LOOK_S):
                    raise UnavailableError("stopped while waiting for a transaction processor")

    def _strangers(self, batch: VerifiedBatch) -> list[Family]:
        named = dict.fromkeys((each.family_name, each.family_version) for each in batch.headers)
        return [family for family in starmap(Family, named) if family not in self._own]


class _Answered:
    """One answer of a processor, from another thread."""

    def __init__(self) -> None:
        self._there = threading.Event()
        self._answer: Answer

    def take(self, answer: Answer) -> None:
        self._answer = answer
        self._there.set()

    def wait(self, stopping: threading.Event) -> Answer:
        while not self._there.wait(LOOK_S):
            if stopping.is_set():
                raise UnavailableError("stopped while a transaction processor was at work")
        self._there.clear()
        return self._answer
