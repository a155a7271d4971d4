"""Checks each chunk of a snapshot as it comes, from the newest block's id downwards.

The engine's light client vouches for the id of the newest block. A block's header has that id as
its hash, and names the block before. So a chunk with another header is found at once, and so is its
sender. A header does not bind batches and the validators' signatures; they are checked at the
end.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.ledger.blocks.record import block_bytes
from contracts.ledger.cometbft.snapshots.chunks import Piece
from contracts.ledger.cometbft.snapshots.partition import PART_BYTES, Span
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX, StoredBlock
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.proto.sawtooth_pb2 import Block, BlockHeader
from contracts.sawtooth.blocks import NULL_BLOCK_ID, check_block_id, network_height
from contracts.sawtooth.counts import check_block

NO_HEIGHT: Final = 1 << 63
SENT_BLOCK_BYTES_MAX: Final = 2 * BLOCK_BATCH_BYTES_MAX
"""A block, expanded, without receipts: its header takes less than its batches."""


@dataclass(frozen=True, slots=True)
class Link:
    """The block that has to come next.

    Attributes:
        number: Of the block; -1 once the first one was there.
        block_id: Its id.
        below: Height of the block after it.
    """

    number: int
    block_id: str
    below: int = NO_HEIGHT


def follow(link: Link, piece: Piece, chain_id: str) -> Link:
    """Check that a block is the expected one; return which one has to come after it.

    Args:
        link: The expected one.
        piece: The block, whole.
        chain_id: Name of the network.

    Raises:
        RejectedError: It is another one.
    """
    stored = whole_block(link, piece)
    height = network_height(check_block_id(stored.block.header, link.block_id))
    if height is None or (height >= link.below and height + link.below > 0):
        raise RejectedError(f"block {link.number}: expected a height below {link.below}")
    _check_seal(link, piece.seal, height, chain_id)
    previous = stored.header.previous_block_id
    if (link.number == 0) != (previous == NULL_BLOCK_ID):
        raise RejectedError(f"block {link.number} names {previous[:16]} as the block before")
    return Link(link.number - 1, previous, height)


def check_cut(span: Span, pieces: Sequence[Piece]) -> None:
    """Check that a chunk holds the blocks, or the part of one, that the snapshot's cuts say.

    Raises:
        RejectedError: It begins or ends elsewhere.
    """
    found = [(each.number, each.part, each.parts) for each in pieces]
    numbers = range(span.last, span.first - 1, -1)
    if len(found) != len(numbers) or found != [(each, span.part, span.parts) for each in numbers]:
        raise RejectedError(
            f"expected blocks {span.last} to {span.first}, part {span.part} of {span.parts}, got "
            f"{len(found)} pieces, {found[0]} to {found[-1]} (block, part, parts)"
        )
    if span.parts > 1 and len(pieces[0].record) > PART_BYTES:
        raise RejectedError(
            f"expected a part of at most {PART_BYTES} bytes, got {len(pieces[0].record)}"
        )


def sent_block(record: bytes) -> Block:
    """Return the block in a record that somebody sent; a few bytes of it may expand to gigabytes.

    Raises:
        RejectedError: It is damaged or too long.
    """
    wire = block_bytes(record, SENT_BLOCK_BYTES_MAX)
    check_block(wire)
    return parse(Block, wire)


def whole_block(link: Link, piece: Piece) -> StoredBlock:
    """Return the block in a record, which has a number and an id; without receipts.

    Raises:
        RejectedError: It is damaged or too long, is another one, or its batches are not those of
            its header.
    """
    block = sent_block(piece.record)
    found = hashlib.sha512(block.header).hexdigest()
    if found != link.block_id:  # before the header is parsed: it may be anything
        raise RejectedError(
            f"expected block {link.number}, {link.block_id[:16]}…, got a header with the SHA-512 "
            f"{found[:16]}…"
        )
    stored = StoredBlock(block, parse(BlockHeader, block.header), ())
    if (stored.num, stored.id) != (link.number, link.block_id):
        raise RejectedError(
            f"expected block {link.number}, {link.block_id[:16]}…, got block {stored.num}, "
            f"{stored.id[:16]}…"
        )
    ids = [batch.header_signature for batch in block.batches]
    if ids != list(stored.header.batch_ids):
        raise RejectedError(f"block {stored.num}: its batches are not those that its header names")
    return stored


def _check_seal(link: Link, wire: bytes, height: int, chain_id: str) -> None:
    """Check that a seal is about a block; who signed it is checked at the end."""
    if bool(wire) != (height > 0 or link.below > 0):
        raise RejectedError(
            f"block {link.number}: expected {'a' if not wire else 'no'} seal of its own"
        )
    if not wire:
        return
    header = parse(SealedHeader, wire).header
    found = header.chain_id, header.height, header.app_hash.hex()
    if found != (chain_id, height + 1, link.block_id):
        raise RejectedError(
            f"block {link.number}: expected a seal of {chain_id!r}, height {height + 1}, for this "
            f"block, got one of {found[0][:80]!r}, height {found[1]}"
        )
