"""Settings and roles, read again only once a block may have changed them."""

from collections.abc import Callable
from typing import Generic, TypeVar

from contracts.ledger.engine.ports import BlockReader
from contracts.ledger.state.reader import StateReader

_Said = TypeVar("_Said")


class Governed(Generic[_Said]):
    """Remembers what the chain says; for one thread.

    Args:
        blocks: The chain.
        read: Reads it from the state after a block.
        before: The value before the first block.
    """

    def __init__(
        self, blocks: BlockReader, read: Callable[[StateReader], _Said], before: _Said
    ) -> None:
        self._blocks = blocks
        self._read = read
        self._known = (-1, before)

    def now(self) -> _Said:
        """Return what the state after the newest block says.

        Raises:
            RejectedError: A value in that state cannot be honoured.
            UnavailableError: The state cannot be read.
        """
        since, head = self._blocks.governed_since, self._blocks.head
        if head is not None and since != self._known[0]:
            self._known = since, self._read(self._blocks.state_after(head.num))
        return self._known[1]
