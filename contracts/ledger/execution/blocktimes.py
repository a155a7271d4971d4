"""The time of each block: family `block_info` 1.0.

The node itself begins each block with a transaction about the block before it.
A client's transaction of this family is refused: it could only say something
else, or say it twice.

Source: Sawtooth 1.2.6, BlockInfo transaction family; messages as its processor's.
"""

import re
from typing import Final

from contracts import address
from contracts.encoding import canonical, parse
from contracts.proto.block_info_pb2 import BlockInfo, BlockInfoConfig, BlockInfoTxn
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.block_info import SYNC_TOLERANCE_S, TARGET_COUNT
from contracts.sawtooth.blocks import NULL_BLOCK_ID

_ID: Final = re.compile(r"[0-9a-fA-F]{128}")
_KEY: Final = re.compile(r"[0-9a-fA-F]{66}")


def refuse(_: TransactionHeader, __: bytes, ___: str, ____: Context) -> None:
    """Refuse a client's transaction.

    Raises:
        InvalidTransactionError: Always.
    """
    raise InvalidTransactionError(
        "family block_info is the node's own: it begins each block with such a transaction if "
        "sawtooth.validator.batch_injectors names block_info"
    )


def apply(_: TransactionHeader, payload: bytes, __: str, context: Context) -> None:
    """Add the entry of one block, and drop the oldest ones beyond the number to keep.

    The clock is the caller's concern: here, a time counts as later than the last if it is not
    earlier.

    Raises:
        InvalidTransactionError: The payload does not continue the entries in state.
    """
    wanted = parse(BlockInfoTxn, payload)
    block = wanted.block
    _check_form(block)
    wire = context.get(address.block_info_config())
    if wire is None:
        config = BlockInfoConfig(oldest_block=block.block_num)
    else:
        config = parse(BlockInfoConfig, wire)
        _check_next(block, config.latest_block, context)
    config.latest_block = block.block_num
    config.target_count = wanted.target_count or config.target_count or TARGET_COUNT
    config.sync_tolerance = wanted.sync_tolerance or config.sync_tolerance or SYNC_TOLERANCE_S
    while block.block_num - config.oldest_block > config.target_count:
        context.delete(address.block_info(config.oldest_block))
        config.oldest_block += 1
    context.set(address.block_info_config(), canonical(config))
    context.set(address.block_info(block.block_num), canonical(block))


def _check_form(block: BlockInfo) -> None:
    if not (_ID.fullmatch(block.previous_block_id) or block.previous_block_id == NULL_BLOCK_ID):
        raise InvalidTransactionError(f"Invalid previous block id '{block.previous_block_id}'")
    if not _KEY.fullmatch(block.signer_public_key):
        raise InvalidTransactionError(f"Invalid signer public_key '{block.signer_public_key}'")
    if not _ID.fullmatch(block.header_signature):
        raise InvalidTransactionError(f"Invalid header signature '{block.header_signature}'")


def _check_next(block: BlockInfo, latest: int, context: Context) -> None:
    """Check that an entry follows the one of block `latest`."""
    if block.block_num != latest + 1:
        raise InvalidTransactionError(
            f"Current block is {block.block_num}, but latest block calculated from config is "
            f"{latest + 1}"
        )
    wire = context.get(address.block_info(latest))
    if wire is None:
        raise InvalidTransactionError(
            "Config and state out of sync. Latest block not found in state."
        )
    before = parse(BlockInfo, wire)
    if block.previous_block_id != before.header_signature:
        raise InvalidTransactionError(
            "Previous block id must match header signature of previous block. Expected "
            f"{before.header_signature}, Found {block.previous_block_id}"
        )
    if block.timestamp < before.timestamp:
        raise InvalidTransactionError(
            f"Timestamp must be greater than previous block's. Got {block.timestamp}, "
            f"expected >{before.timestamp}"
        )
