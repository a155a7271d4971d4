"""The next block of any engine: the batches that it takes so far, and their effect on the state."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from typing import TYPE_CHECKING, Final

from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX, BLOCK_EFFECT_BYTES_SOFT
from contracts.ledger.engine.ports import BlockReader
from contracts.ledger.execution.executor import (
    MESSAGE_CHARS_MAX,
    Changes,
    Execution,
    InvalidTransaction,
    Read,
    TransactionContext,
    execute,
    reader,
    remembering,
)
from contracts.ledger.execution.families import Families, Handler
from contracts.ledger.execution.obeyed import Obeyed
from contracts.ledger.execution.reserved import check_outputs
from contracts.ledger.execution.verify import BATCH_ADDRESSES_MAX, VerifiedBatch
from contracts.rules.context import InvalidTransactionError
from contracts.sawtooth.batches import Family

if TYPE_CHECKING:
    from contracts.proto.sawtooth_pb2 import Batch, TransactionReceipt

_NOTHING_OBEYED: Final = Obeyed()


class Refusal(Enum):
    """Why a batch is not taken, although it may be valid.

    A batch is stuck if another batch has committed one of its transactions: it can never be
    committed. Sawtooth drops it silently.
    """

    COMMITTED = auto()
    STUCK = auto()


@dataclass(frozen=True, slots=True)
class Orphan:
    """A batch is not taken because it depends on a transaction that is not committed.

    Attributes:
        dependency: Id of that transaction.
    """

    dependency: str


@dataclass(frozen=True, slots=True)
class OwnDependency:
    """A batch is not taken because one of its transactions depends on another one of them.

    Sawtooth never decides such a batch, except in a genesis block, where it does not look.

    Source: sawtooth-core 1.2.6, journal/completer.py, `_complete_batch`: the transactions of a
    batch count as seen only once all of its dependencies have been seen.

    Attributes:
        transaction: Id of the transaction that depends.
        dependency: Id of the other one.
    """

    transaction: str
    dependency: str

    def __str__(self) -> str:
        """Say why the batch is never decided."""
        return (
            f"it depends on transaction {self.dependency[:16]}… of its own batch; a batch is "
            "decided once its dependencies are committed, so this one never is. The order in a "
            "batch needs no dependencies"
        )


Obstacle = Refusal | Orphan | OwnDependency
"""The reason why a batch cannot be executed."""


class Candidate:
    """Takes one batch after another.

    Args:
        blocks: The committed blocks.
        read: Returns the value at an address after the previous block.
        families: The rules of each family.
        obeyed: The settings on the chain that this block must obey.
    """

    def __init__(
        self,
        blocks: BlockReader,
        read: Read,
        families: Families,
        obeyed: Obeyed = _NOTHING_OBEYED,
    ) -> None:
        self._blocks = blocks
        self._batch_ids: set[str] = set()
        self._transaction_ids: set[str] = set()
        self._size = self._addresses = self._effects = self._injected = 0
        self._counts: Counter[str] = Counter()
        self.obeyed = obeyed
        self.families = obeyed.permitted.restrict(families)
        self.batches: list[Batch] = []
        self.receipts: list[TransactionReceipt] = []
        self.changes: Changes = {}
        self.read = reader(remembering(read), self.changes)
        """Returns the value at an address after the batches taken so far."""

    def has_room_for(self, batch: VerifiedBatch) -> bool:
        """Say whether `batch` fits the block's limits."""
        return self.is_empty or (
            self._effects < BLOCK_EFFECT_BYTES_SOFT
            and self._size + batch.size <= BLOCK_BATCH_BYTES_MAX
            and self._addresses + batch.addresses <= BATCH_ADDRESSES_MAX
            and self._keeps_to_limits_with(batch)
        )

    @property
    def is_empty(self) -> bool:
        """Say whether the block holds no batch but the injected ones; then it is not made."""
        return len(self.batches) == self._injected

    @property
    def injected(self) -> list[str]:
        """Return the ids of the injected batches."""
        return [batch.header_signature for batch in self.batches[: self._injected]]

    @property
    def submitted(self) -> "Sequence[Batch]":
        """Return the batches that clients submitted."""
        return self.batches[self._injected :]

    def inject(self, batch: VerifiedBatch, handler: Handler) -> InvalidTransaction | None:
        """Begin the block with the node's own batch, or return why it is invalid.

        Args:
            batch: All of its transactions are of one family.
            handler: The rules of that family for the node itself.
        """
        result = execute(batch, {Family.of(batch.headers[0]): handler}, self.read)
        if isinstance(result, InvalidTransaction):
            return result
        self.take(batch, result)
        self._injected += 1
        return None

    def add(self, batch: VerifiedBatch) -> InvalidTransaction | Obstacle | None:
        """Execute and take `batch`, or return why not."""
        return self.obstacle(batch) or self.violation(batch) or self.execute(batch)

    def violation(self, batch: VerifiedBatch) -> InvalidTransaction | None:
        """Return which of the chain's demands `batch` violates in any such block, if any."""
        try:
            self.obeyed.permissions.check(batch)
            if self.obeyed.rules.limits:
                self.obeyed.rules.check(self.obeyed.rules.count(batch.headers))
        except InvalidTransactionError as error:
            name = batch.batch.transactions[0].header_signature
            return InvalidTransaction(name, str(error)[:MESSAGE_CHARS_MAX])
        return None

    def not_permitted(
        self, batch: VerifiedBatch, own: Container[Family]
    ) -> InvalidTransaction | None:
        """Return why the network does not permit a batch, before a processor executes it.

        Args:
            batch: Has transactions of families that are not in this process.
            own: Families in this process.
        """
        if violation := self.violation(batch):
            return violation
        for transaction, header in zip(batch.batch.transactions, batch.headers, strict=True):
            try:
                TransactionContext(header, self.read)
                self.obeyed.permitted.check(header)
                if Family.of(header) not in own:
                    check_outputs(header)
            except InvalidTransactionError as error:
                return InvalidTransaction(
                    transaction.header_signature, str(error)[:MESSAGE_CHARS_MAX]
                )
        return None

    def execute(self, batch: VerifiedBatch) -> InvalidTransaction | None:
        """Execute and take a batch without obstacle, or return why it is invalid."""
        result = execute(batch, self.families, self.read)
        if isinstance(result, InvalidTransaction):
            return result
        self.take(batch, result)
        return None

    def obstacle(self, batch: VerifiedBatch) -> Obstacle | None:
        """Return what keeps `batch` from being executed, if anything.

        It is committed, or one of its transactions is, or a dependency is not or is its own.
        """
        names = {transaction.header_signature for transaction in batch.batch.transactions}
        if any(self._has_transaction(name) for name in names):  # as all of a committed batch are
            return Refusal.COMMITTED if self._has_batch(batch.id) else Refusal.STUCK
        orphan: Orphan | None = None
        for transaction, header in zip(batch.batch.transactions, batch.headers, strict=True):
            for dependency in header.dependencies:
                if dependency in names:
                    return OwnDependency(transaction.header_signature, dependency)
                if orphan is None and not self._has_transaction(dependency):
                    orphan = Orphan(dependency)
        return orphan

    def take(self, batch: VerifiedBatch, execution: Execution) -> None:
        """Take a batch that was executed after all taken batches with which it conflicts."""
        self._batch_ids.add(batch.id)
        self._transaction_ids.update(each.header_signature for each in batch.batch.transactions)
        self.batches.append(batch.batch)
        self.receipts += execution.receipts
        self.changes.update(execution.changes)
        self._size += batch.size
        self._addresses += batch.addresses
        self._effects += execution.size
        if self.obeyed.rules.limits:
            self._counts += self.obeyed.rules.count(batch.headers)

    def arrange(self, places: Mapping[str, int]) -> None:
        """Sort the batches by `places`, which are by batch id; that order must be valid too.

        Injected batches stay first.
        """
        receipts = iter(self.receipts)
        taken = [(batch, list(islice(receipts, len(batch.transactions)))) for batch in self.batches]
        taken.sort(key=lambda each: places.get(each[0].header_signature, -1))
        self.batches = [batch for batch, _ in taken]
        self.receipts = [receipt for _, group in taken for receipt in group]

    def _keeps_to_limits_with(self, batch: VerifiedBatch) -> bool:
        rules = self.obeyed.rules
        return not rules.limits or rules.permit(self._counts + rules.count(batch.headers))

    def _has_batch(self, name: str) -> bool:
        return name in self._batch_ids or self._blocks.find_batch(name) is not None

    def _has_transaction(self, name: str) -> bool:
        return name in self._transaction_ids or self._blocks.find_transaction(name) is not None
