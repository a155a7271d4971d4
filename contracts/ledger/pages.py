"""Committed blocks in Protocol Buffers, for an index that reads thousands of them whole.

A block as JSON, with its receipts requested separately, costs both sides ten times as much. A
Sawtooth node knows only JSON and ignores an Accept header that names more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.encoding import canonical, parse, sized, tag_of, varint
from contracts.errors import RejectedError
from contracts.proto.ledger_pb2 import BlockPage, CommittedBlock
from contracts.proto.sawtooth_pb2 import Block, TransactionReceipt

MEDIA_TYPE: Final = "application/x-protobuf"
_ENTRY: Final = tag_of(BlockPage.BLOCKS_FIELD_NUMBER, is_sized=True)
_BLOCK: Final = tag_of(CommittedBlock.BLOCK_FIELD_NUMBER, is_sized=True)


@dataclass(frozen=True, slots=True)
class Committed:
    """A block and the receipts of its transactions.

    Attributes:
        block: The block.
        receipts: One for each of its transactions, in order.
    """

    block: Block
    receipts: Sequence[TransactionReceipt]


def encode_page(blocks: Iterable[tuple[bytes, Sequence[bytes]]], following: str | None) -> bytes:
    """Return a page of serialised blocks, each with its serialised receipts."""
    parts: list[bytes] = []
    for block, receipts in blocks:
        entry = (*sized(_BLOCK, block), canonical(CommittedBlock(receipts=receipts)))
        parts += (_ENTRY, varint(sum(map(len, entry))), *entry)
    return b"".join((*parts, canonical(BlockPage(next_position=following or ""))))


def decode_page(wire: bytes) -> tuple[list[Committed], str | None]:
    """Parse a page; return its blocks, and where the next page starts.

    Raises:
        RejectedError: The bytes are not a page, the page is empty but names a next one, or a
            block has more or fewer receipts than transactions.
    """
    page = parse(BlockPage, wire)
    if page.next_position and not page.blocks:
        raise RejectedError("page without blocks names a next page")
    return [_committed(entry) for entry in page.blocks], page.next_position or None


def _committed(entry: CommittedBlock) -> Committed:
    block = parse(Block, entry.block)
    names = [item.header_signature for batch in block.batches for item in batch.transactions]
    if len(names) != len(entry.receipts):
        raise RejectedError(
            f"block {block.header_signature[:16]}…: {len(entry.receipts)} receipts for "
            f"{len(names)} transactions"
        )
    receipts = [parse(TransactionReceipt, receipt) for receipt in entry.receipts]
    for name, receipt in zip(names, receipts, strict=True):
        receipt.transaction_id = name
    return Committed(block, receipts)
