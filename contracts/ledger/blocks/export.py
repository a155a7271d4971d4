"""The whole chain as one file, which a successor ledger takes over, whatever engine it runs.

Layout, big-endian:

    15   magic, b"WAYSEAL CHAIN 1"
    then per block, in order: u32 length, the signed block as a Sawtooth `Block`
    u32  0
    32   SHA-256 of every byte before

The headers are there because they prove the state root after each block, which a successor must
reach, and the ids that receipts and evidence of this ledger name.
"""

import hashlib
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.ledger.blocks.log import RECORD_BYTES_MAX
from contracts.proto.sawtooth_pb2 import Block, BlockHeader
from contracts.runtime.files import created, disk_errors
from contracts.sawtooth.blocks import NULL_BLOCK_ID, check_block_id

MAGIC: Final = b"WAYSEAL CHAIN 1"
_LENGTH: Final = struct.Struct(">I")
_END: Final = _LENGTH.pack(0)
_DIGEST_BYTES: Final = hashlib.sha256().digest_size


def write_export(path: Path, blocks: Iterable[Block]) -> tuple[int, str]:
    """Write blocks to a new file, which appears once it is whole; return count and digest.

    Raises:
        RejectedError: The file exists.
        UnavailableError: The disk is full or failed.
    """
    count, digest = 0, hashlib.sha256(MAGIC)
    with created(path) as part, part.open("wb") as file:
        file.write(MAGIC)
        for block in blocks:
            wire = block.SerializeToString()
            for piece in (_LENGTH.pack(len(wire)), wire):
                file.write(piece)
                digest.update(piece)
            count += 1
        digest.update(_END)
        file.write(_END + digest.digest())
    return count, digest.hexdigest()


def read_export(path: Path) -> Iterator[tuple[Block, BlockHeader]]:
    """Yield each block with its header: signed, and next to the one before.

    Raises:
        RejectedError: The file is not an export, or is damaged or cut short; blocks before that
            were yielded.
        UnavailableError: It cannot be read.
    """
    with disk_errors("read", path), path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise RejectedError(f"{path} is not an export of a chain of version 1")
        digest = hashlib.sha256(MAGIC)
        number, previous = 0, NULL_BLOCK_ID
        while wire := _next(path, file, digest):
            block = parse(Block, wire)
            header = check_block_id(block.header, block.header_signature)
            if (header.block_num, header.previous_block_id) != (number, previous):
                raise RejectedError(
                    f"{path}: expected block {number} after {previous[:16]}…, got block "
                    f"{header.block_num} after {header.previous_block_id[:16]}…"
                )
            yield block, header
            number, previous = number + 1, block.header_signature
        found = file.read(_DIGEST_BYTES + 1)
        if found != digest.digest():
            raise RejectedError(f"{path}: its bytes do not match their SHA-256: it is damaged")


def _next(path: Path, file: BinaryIO, digest: "hashlib._Hash") -> bytes:
    """Return the next block's bytes; none at the end."""
    head = file.read(_LENGTH.size)
    digest.update(head)
    if len(head) == _LENGTH.size:
        (length,) = _LENGTH.unpack(head)
        if length > RECORD_BYTES_MAX:
            raise RejectedError(f"{path}: expected a block of at most {RECORD_BYTES_MAX} bytes")
        wire = file.read(length)
        digest.update(wire)
        if len(wire) == length:
            return wire
    raise RejectedError(f"{path} is cut short: export the chain again")
