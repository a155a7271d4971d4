"""The body of a record in the block log: a block and the receipts of its transactions.

    u8   form: 0 plain, 1 compressed
    n    content as below; with form 1 as a Zstandard frame, which states the content's size

    u32  length of the block, bytes
    n    block, a Sawtooth Block
    then per transaction, in order: u32 length, TransactionReceipt without its id

Blocks are mostly hexadecimal text, and receipts of successive readings hold almost the same
state. A reading of 1,244 bytes becomes 247 bytes, for 2.6 µs of CPU outside the interpreter's
lock. A dictionary is not used: it would save 330 of 1,100 bytes in a block with one transaction,
and less in larger blocks.

Source: RFC 8878, Zstandard.
"""

import struct
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Final

import zstandard

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.ledger.blocks.compression import compressed, expanded
from contracts.ledger.blocks.log import RECORD_BYTES_MAX
from contracts.ledger.engine.blocks import StoredBlock
from contracts.proto.sawtooth_pb2 import Block, BlockHeader

_LENGTH: Final = struct.Struct(">I")
_AS_IS: Final = b"\x00"
_COMPRESSED: Final = b"\x01"
_WINDOW_BYTES_MAX: Final = 8 << 20
"""Of a frame that somebody sent; `compressed` makes 2 MiB at most."""


def encode_record(stored: StoredBlock) -> bytes:
    """Return the body of the log record for a block."""
    return encode_parts([stored.block.SerializeToString(), *stored.receipt_bytes])


def decode_record(body: bytes) -> StoredBlock:
    """Parse the body of a log record.

    Raises:
        RejectedError: The bytes are not the body of a record.
    """
    wires = decode_parts(body)
    if not wires:
        raise RejectedError(f"block record of {len(body)} bytes holds no block")
    block = parse(Block, wires[0])
    return StoredBlock(block, parse(BlockHeader, block.header), wires[1:])


def block_bytes(body: bytes, most: int) -> bytes:
    """Return the serialised block in a record that somebody sent.

    No more than that is expanded, and its receipts are not looked at.

    Args:
        body: Of the record.
        most: How long the block may be, bytes.

    Raises:
        RejectedError: The block is longer, or the bytes are not the beginning of a record.
    """
    form, content = body[:1], body[1:]
    if form not in (_AS_IS, _COMPRESSED):
        raise _unknown(form)
    try:
        with (
            BytesIO(content)
            if form == _AS_IS
            else zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES_MAX).stream_reader(
                content
            )
        ) as source:
            length = source.read(_LENGTH.size)
            size = int.from_bytes(length, "big")
            wire = source.read(size) if size <= most else b""
    except zstandard.ZstdError as error:
        raise RejectedError(f"block record of {len(body)} bytes, compressed: {error}") from error
    if size > most:
        raise RejectedError(f"expected a block of at most {most} bytes, got {size}")
    if len(length) != _LENGTH.size or len(wire) != size:
        raise RejectedError(f"block record of {len(body)} bytes is cut short")
    return wire


def encode_parts(parts: Sequence[bytes]) -> bytes:
    """Return the body of a record that holds `parts`: the block, then receipts."""
    content = b"".join(piece for part in parts for piece in (_LENGTH.pack(len(part)), part))
    if len(content) > RECORD_BYTES_MAX:
        return _AS_IS + content  # the log refuses it
    frame = compressed(content)
    return _COMPRESSED + frame if len(frame) < len(content) else _AS_IS + content


def decode_parts(body: bytes) -> list[bytes]:
    """Return the parts that a record's body holds.

    Raises:
        RejectedError: The bytes are not the body of a record.
    """
    form = body[:1]
    if form == _AS_IS:
        return list(_split(body[1:]))
    if form == _COMPRESSED:
        return list(_split(expanded(body[1:], RECORD_BYTES_MAX, "block record")))
    raise _unknown(form)


def _unknown(form: bytes) -> RejectedError:
    return RejectedError(f"block record of unknown form {form.hex()}, expected 00 or 01")


def _split(content: bytes) -> Iterator[bytes]:
    """Yield the parts, each of which follows its length."""
    place = 0
    while place < len(content):
        if place + _LENGTH.size > len(content):
            raise RejectedError(f"block record of {len(content)} bytes is cut short")
        (size,) = _LENGTH.unpack_from(content, place)
        place += _LENGTH.size + size
        if place > len(content):
            raise RejectedError(f"block record of {len(content)} bytes is cut short")
        yield content[place - size : place]
