"""Begins blocks with the time, as `solo` does; here the time is the engine's.

The validator that proposes a height puts a batch of family `block_info` first. The time in it is
that of the height: the median of the validators' clocks when they signed the height before. One
validator's clock, however wrong, does not move it. Each validator checks it.

Source: CometBFT 0.38 specification, "BFT Time"; Sawtooth 1.2, BlockInfo transaction family.
"""

from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.engine.blocks import StoredBlock
from contracts.ledger.execution.executor import Read
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.proto.block_info_pb2 import BlockInfoTxn
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader
from contracts.sawtooth.batches import Family
from contracts.sawtooth.block_info import FAMILY, block_info_batch, latest_block_info

NO_SIGNER: Final = "00" * 33
"""The signer in an entry about a block that a network made."""


def time_batch(signer: Signer, head: StoredBlock, read: Read, time_s: int) -> Batch:
    """Return the batch with which the block after `head` begins.

    Args:
        signer: The proposer's key; the batch has to be signed, and any key will do.
        head: The newest block.
        read: Returns the value at an address after it.
        time_s: Time of the height, seconds since 1970, UTC.
    """
    latest = latest_block_info(read)
    header = BlockHeader()
    header.CopyFrom(head.header)
    header.signer_public_key = header.signer_public_key or NO_SIGNER
    if latest is not None:  # after a replay, entries name the blocks of the old chain
        header.previous_block_id = latest.header_signature
    return block_info_batch(signer, header, head.id, time_s)


def is_time(batch: VerifiedBatch) -> bool:
    """Say whether a batch has a transaction of family block_info, which only a proposer sends."""
    named = (header for header in batch.headers if header.family_name == FAMILY.name)
    return any(Family.of(header) == FAMILY for header in named)


def check_time(batch: VerifiedBatch, head: StoredBlock, time_s: int) -> None:
    """Check that a batch tells the time of the height, and nothing else.

    The family's rules check the facts in it about the block before.

    Raises:
        RejectedError: It does not.
    """
    if len(batch.headers) != 1 or Family.of(batch.headers[0]) != FAMILY:
        raise RejectedError("expected one transaction of family block_info alone in its batch")
    told = parse(BlockInfoTxn, batch.batch.transactions[0].payload)
    entry = told.block
    if told.target_count or told.sync_tolerance:
        raise RejectedError("block_info: a proposer changes no configuration")
    if (entry.block_num, entry.header_signature) != (head.num, head.id):
        raise RejectedError(
            f"block_info: expected block {head.num}, {head.id[:16]}…, got {entry.block_num}, "
            f"{entry.header_signature[:16]!r}…"
        )
    if entry.timestamp != time_s:
        raise RejectedError(
            f"block_info: expected the height's time, {time_s} s since 1970, got {entry.timestamp}"
        )
