"""Blocks: batches in the ledger's order.

Source: Sawtooth 1.2 architecture guide, "Journal".
"""

from collections.abc import Sequence
from typing import Final

from contracts.encoding import canonical, parse_known
from contracts.errors import RejectedError
from contracts.keys import Signer, verify
from contracts.proto.sawtooth_pb2 import Batch, Block, BlockHeader

NULL_BLOCK_ID: Final = "0" * 16
"""Previous block id of the genesis block."""


def build_block(
    signer: Signer,
    batches: Sequence[Batch],
    *,
    block_num: int,
    previous_block_id: str,
    consensus: bytes,
    state_root_hash: str,
) -> Block:
    """Return a signed block; its id is its header signature."""
    header = BlockHeader(
        block_num=block_num,
        previous_block_id=previous_block_id,
        signer_public_key=signer.public_key,
        batch_ids=[batch.header_signature for batch in batches],
        consensus=consensus,
        state_root_hash=state_root_hash,
    )
    wire = canonical(header)
    return Block(header=wire, header_signature=signer.sign(wire), batches=batches)


def check_block_signature(header_bytes: bytes, block_id: str) -> BlockHeader:
    """Check that `block_id` signs a block's header, and return the header.

    Raises:
        RejectedError: Names the block and what does not hold.
    """
    header = parse_known(BlockHeader, header_bytes)
    if not verify(header.signer_public_key, block_id, header_bytes):
        raise RejectedError(
            f"block {header.block_num} ({block_id[:16]}…): signature does not match header and "
            f"key {header.signer_public_key[:66]!r}"
        )
    return header
