"""Blocks: batches in the ledger's order.

One signer makes a block, and the block's id is its signature. Or a network of CometBFT's validators
makes it: nobody signs it alone, its id is the SHA-512 of its header, and the validators' commit
for the engine's next header seals that id (`contracts.cometbft`).

Source: Sawtooth 1.2 architecture guide, "Journal".
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from contracts.encoding import canonical, parse_known
from contracts.errors import RejectedError
from contracts.keys import Signer, verify
from contracts.proto.sawtooth_pb2 import Batch, Block, BlockHeader

NULL_BLOCK_ID: Final = "0" * 16
"""Previous block id of the genesis block."""
NETWORK_MARK: Final = b"CometBFT"
"""How the consensus bytes of a block begin that a network made; the engine's height follows."""
HEIGHT_BYTES: Final = 8


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


def build_network_block(
    batches: Sequence[Batch],
    *,
    block_num: int,
    previous_block_id: str,
    height: int,
    state_root_hash: str,
) -> Block:
    """Return the block that each validator of a network makes of a height of the engine's chain.

    Args:
        batches: What the height holds, without the batches that were refused.
        block_num: Number of the block.
        previous_block_id: Id of the block before.
        height: The engine's height, 0 for the genesis block.
        state_root_hash: State root after the block.
    """
    header = BlockHeader(
        block_num=block_num,
        previous_block_id=previous_block_id,
        batch_ids=[batch.header_signature for batch in batches],
        consensus=NETWORK_MARK + height.to_bytes(HEIGHT_BYTES, "big"),
        state_root_hash=state_root_hash,
    )
    wire = canonical(header)
    return Block(header=wire, header_signature=_digest(wire), batches=batches)


def network_height(header: BlockHeader) -> int | None:
    """Return the engine's height of a block that a network made; None if one signer made it."""
    mark, height = header.consensus[: len(NETWORK_MARK)], header.consensus[len(NETWORK_MARK) :]
    if header.signer_public_key or mark != NETWORK_MARK or len(height) != HEIGHT_BYTES:
        return None
    return int.from_bytes(height, "big")


def check_block_id(header_bytes: bytes, block_id: str) -> BlockHeader:
    """Check that `block_id` belongs to a block's header, and return the header.

    It signs the header, or is the header's digest if a network made the block. A digest alone
    proves nothing about who made it.

    Raises:
        RejectedError: Names the block and what does not hold.
    """
    header = parse_known(BlockHeader, header_bytes)
    if network_height(header) is not None:
        if block_id != _digest(header_bytes):
            raise RejectedError(
                f"block {header.block_num} ({block_id[:16]}…): expected the SHA-512 of its header "
                f"as its id, {_digest(header_bytes)[:16]}…, since a network of validators made it"
            )
    elif not verify(header.signer_public_key, block_id, header_bytes):
        raise RejectedError(
            f"block {header.block_num} ({block_id[:16]}…): signature does not match header and "
            f"key {header.signer_public_key[:66]!r}"
        )
    return header


def _digest(header_bytes: bytes) -> str:
    return hashlib.sha512(header_bytes).hexdigest()
