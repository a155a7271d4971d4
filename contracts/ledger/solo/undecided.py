"""One batch on its way to a decision, and which others it waits for."""

from dataclasses import dataclass, field

from contracts.ledger.execution.executor import Execution
from contracts.ledger.execution.verify import VerifiedBatch


@dataclass(eq=False, slots=True)
class Undecided:
    """A batch that is not decided at once.

    Attributes:
        batch: The batch.
        place: Its number in the order of arrival, which is its order in the block.
        size: Bytes of the queue that it holds; None if it has waited outside the queue.
        pending: Whether its status is PENDING until it is decided.
        late: Whether no block waits for it.
        waits_for: Batches that must be decided before it begins.
        followers: Batches that wait for it.
        execution: The effects of its transactions that are executed.
        stale: Whether it read a value of a dropped block, so that it must start again.
    """

    batch: VerifiedBatch
    place: int
    size: int | None
    pending: bool
    late: bool = False
    waits_for: "set[Undecided]" = field(default_factory=set)
    followers: "list[Undecided]" = field(default_factory=list)
    execution: Execution = field(default_factory=Execution)
    stale: bool = False

    @property
    def done(self) -> int:
        """Return how many of its transactions are executed."""
        return len(self.execution.receipts)

    def start_again(self) -> None:
        """Forget what was executed."""
        self.execution, self.stale = Execution(), False

    def reads(self, namespace: str) -> bool:
        """Say whether the batch declares inputs that reach into `namespace`."""
        return any(
            declared.startswith(namespace) or namespace.startswith(declared)
            for header in self.batch.headers
            for declared in header.inputs
        )
