"""A queue of submitted batches, within limits; used by the event loop's thread only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.ledger.engine.ports import CannotWriteError, QueueFullError
from contracts.ledger.engine.statuses import Outcome, Statuses
from contracts.ledger.execution.verify import VerifiedBatch

QUEUED_BATCHES_MAX: Final = 4_000
QUEUED_BYTES_MAX: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Submission:
    """Batches that arrived together; they land in one block unless the network limits its batches.

    Attributes:
        batches: In order.
        size: Bytes of the queue that they hold.
    """

    batches: Sequence[VerifiedBatch]
    size: int


class Submissions(Statuses):
    """Hands batches to an engine that decides them later; implements `Submitter`.

    Args:
        put: Puts a submission at the end of the engine's queue.
        trouble: Says why no block can be written at the moment, if so.
        is_committed: Says whether a batch is durable in a block.
    """

    def __init__(
        self,
        put: Callable[[Submission], None],
        trouble: Callable[[], str | None],
        is_committed: Callable[[str], bool],
    ) -> None:
        super().__init__(is_committed)
        self._put = put
        self._trouble = trouble
        self._held_batches = 0
        self._held_bytes = 0

    def check(self, size: int) -> None:
        """See `Submitter.check`."""
        trouble = self._trouble()
        if trouble is not None:
            raise CannotWriteError(trouble)
        self._check_room(0, size)

    def hold(self, *, batches: int = 0, size: int = 0) -> None:
        """See `Submitter.hold`."""
        self._check_room(batches, size)
        self._held_batches += batches
        self._held_bytes += size

    def release(self, *, batches: int = 0, size: int = 0) -> None:
        """See `Submitter.release`."""
        self._held_batches -= batches
        self._held_bytes -= size

    def submit(self, batches: Sequence[VerifiedBatch], size: int) -> None:
        """See `Submitter.submit`."""
        self.add_pending(batch.id for batch in batches)
        self._put(Submission(batches, size))

    def apply(self, outcome: Outcome) -> None:
        """Remember what the engine decided, and free its room in the queue."""
        self.release(batches=outcome.queued_batches, size=outcome.queued_bytes)
        super().apply(outcome)

    def _check_room(self, batches: int, size: int) -> None:
        more_batches, more_bytes = self._held_batches + batches, self._held_bytes + size
        if more_batches > QUEUED_BATCHES_MAX or more_bytes > QUEUED_BYTES_MAX:
            raise QueueFullError(
                f"queue of {more_batches} batches with {more_bytes} bytes, at most "
                f"{QUEUED_BATCHES_MAX} with {QUEUED_BYTES_MAX} allowed"
            )
