"""What the next block obeys, read again only once a block may have changed it."""

from contracts.ledger.engine.ports import BlockReader
from contracts.ledger.execution.obeyed import Obeyed, obeyed_after


class Governed:
    """Remembers what the chain tells; for one thread.

    Args:
        blocks: The chain.
    """

    def __init__(self, blocks: BlockReader) -> None:
        self._blocks = blocks
        self._known = (-1, Obeyed())

    def now(self) -> Obeyed:
        """Return what the block after the newest one obeys."""
        since, head = self._blocks.governed_since, self._blocks.head
        if head is not None and since != self._known[0]:
            self._known = since, obeyed_after(self._blocks.state_after(head.num))
        return self._known[1]
