"""The blocks that the index has taken in."""

from dataclasses import dataclass

from gateway.index.store import IndexStore


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block of the ledger by number and id."""

    block_num: int
    block_id: str


class Blocks:
    """Answers questions about blocks."""

    def __init__(self, index: IndexStore) -> None:
        self._index = index

    def head(self) -> BlockRecord | None:
        """Return the newest block, or None while the index is empty."""
        head = self._index.head()
        return BlockRecord(*head) if head else None

    def upto(self, block_num: int | None) -> BlockRecord | None:
        """Return the block at this height, or the newest if none is asked for or is that high.

        None while the index is empty.
        """
        head = self.head()
        if head is None or block_num is None or block_num >= head.block_num:
            return head
        block_id = self._index.block_id(block_num)
        return None if block_id is None else BlockRecord(block_num, block_id)

    def has(self, block_num: int, block_id: str) -> bool:
        """Say whether the block at this height is the one with this id."""
        self._index.require()
        return self._index.block_id(block_num) == block_id

    def genesis_id(self) -> str | None:
        """Return the id of the ledger's first block, or None while the index is empty."""
        self._index.require()
        return self._index.block_id(0)

    def newest(self, count: int) -> list[BlockRecord]:
        """Return up to `count` blocks, the newest first."""
        rows = self._index.query(
            "SELECT block_num, block_id FROM blocks ORDER BY block_num DESC LIMIT ?", count
        )
        return [BlockRecord(*row) for row in rows]
