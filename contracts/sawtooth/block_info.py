"""Family block_info: the time of a block, as a batch states it and as state holds it.

A block begins with a transaction about the block before it, with the time at
which the new block was begun. So the latest entry's time is, to a second, the
earliest time at which any batch of the block under way was decided.

Source: Sawtooth 1.2, BlockInfo transaction family specification.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from contracts import address
from contracts.encoding import canonical, parse
from contracts.keys import Signer
from contracts.proto.block_info_pb2 import BlockInfo, BlockInfoConfig, BlockInfoTxn
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader
from contracts.sawtooth.batches import Family, build_batch, build_transaction

FAMILY: Final = Family("block_info", "1.0")
_CONFIG: Final = address.block_info_config()
_REMEMBERED: Final = 16
"""Entries that are kept parsed."""
ADDRESSES: Final = (_CONFIG, address.BLOCK_INFO_NAMESPACE + "00")
"""Inputs of a transaction that reads the latest entry, whose number is not known before."""

TARGET_COUNT: Final = 256
"""Entries that state keeps besides the latest."""
SYNC_TOLERANCE_S: Final = 300
"""Time, seconds, by which a block's time may be ahead of a node's clock."""


def block_info_batch(signer: Signer, header: BlockHeader, block_id: str, time_s: int) -> Batch:
    """Return the batch with which the block after another one begins.

    Args:
        signer: Signs the new block.
        header: The header of the block before it.
        block_id: Id of that block.
        time_s: Now, seconds since 1970, UTC.
    """
    entry = BlockInfo(
        block_num=header.block_num,
        previous_block_id=header.previous_block_id,
        signer_public_key=header.signer_public_key,
        header_signature=block_id,
        timestamp=time_s,
    )
    transaction = build_transaction(
        signer,
        FAMILY,
        canonical(BlockInfoTxn(block=entry)),
        batcher_public_key=signer.public_key,
        inputs=ADDRESSES,
        outputs=ADDRESSES,
    )
    return build_batch(signer, [transaction])


def entries_of(block: BlockInfo) -> dict[str, bytes]:
    """Return what a reader of the latest entry finds in state after a block's entry was made."""
    config = BlockInfoConfig(latest_block=block.block_num)
    return {
        address.block_info_config(): canonical(config),
        address.block_info(block.block_num): canonical(block),
    }


def latest_block_info(get: Callable[[str], bytes | None]) -> BlockInfo | None:
    """Return the latest entry; None on a chain that records no times.

    Args:
        get: Returns the value at an address.

    Raises:
        RejectedError: The values there are not of family block_info.
    """
    latest = _latest(get)
    return None if latest is None else parse(BlockInfo, latest)


def latest_block_s(get: Callable[[str], bytes | None]) -> int:
    """Return the time of `latest_block_info`, seconds since 1970; 0 without an entry.

    Raises:
        RejectedError: See `latest_block_info`.
    """
    latest = _latest(get)
    return 0 if latest is None else _time_s(latest)


def _latest(get: Callable[[str], bytes | None]) -> bytes | None:
    wire = get(_CONFIG)
    return None if wire is None else get(_latest_place(wire))


# All readings of a block find the same entry.
@lru_cache(maxsize=_REMEMBERED)
def _latest_place(config: bytes) -> str:
    return address.block_info(parse(BlockInfoConfig, config).latest_block)


@lru_cache(maxsize=_REMEMBERED)
def _time_s(entry: bytes) -> int:
    return parse(BlockInfo, entry).timestamp


def block_info_places(get: Callable[[str], bytes | None]) -> list[str]:
    """Return the addresses that `latest_block_info` asks for; none on a chain without times.

    Raises:
        RejectedError: The value there is not of family block_info.
    """
    asked: list[str] = []

    def ask(place: str) -> bytes | None:
        value = get(place)
        if value is not None:
            asked.append(place)
        return value

    latest_block_info(ask)
    return asked
