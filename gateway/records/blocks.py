"""The blocks that the index has taken in."""

from dataclasses import dataclass

from contracts.encoding import parse
from contracts.proto.sawtooth_pb2 import BlockHeader
from gateway.index.store import IndexStore
from gateway.records.pages import Listed, listed


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block of the ledger by number and id."""

    block_num: int
    block_id: str


@dataclass(frozen=True, slots=True)
class ListedBlock:
    """A block with what its header says.

    Attributes:
        block_num: Its number.
        block_id: Its id.
        at_ms: When it was begun by its own word, UTC; None if it has no time.
        batches: How many it has.
        signer_public_key: Of its signer; empty if a network of validators made it.
    """

    block_num: int
    block_id: str
    at_ms: int | None
    batches: int
    signer_public_key: str


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

    def listed(self, after: int, count: int, *, newest_first: bool = False) -> Listed[ListedBlock]:
        """Return a page of the blocks; the place of each is its number plus one."""
        sql = (
            "SELECT block_num + 1 AS at, block_num, block_id, header, time_s FROM blocks"
            " LEFT JOIN block_times USING (block_num)"
        )
        return listed(
            self._index, sql, (), _listed, after=after, count=count, newest_first=newest_first
        )


def _listed(block_num: int, block_id: str, wire: bytes, time_s: int | None) -> ListedBlock:
    header = parse(BlockHeader, wire)
    return ListedBlock(
        block_num=block_num,
        block_id=block_id,
        at_ms=None if time_s is None else time_s * 1000,
        batches=len(header.batch_ids),
        signer_public_key=header.signer_public_key,
    )
