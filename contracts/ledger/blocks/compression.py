"""Blocks and batches, compressed: mostly hexadecimal text, to a quarter.

Source: RFC 8878, Zstandard.
"""

import threading
from typing import Final

import zstandard

from contracts.errors import RejectedError

LEVEL: Final = 3
MAGIC: Final = zstandard.FRAME_HEADER
"""Each frame begins with it; no canonical message of Sawtooth's does."""


class _OfThread(threading.local):
    """A compressor for each thread. To make one took a third of the time of a small block."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL)


_own: Final = _OfThread()


def compressed(content: bytes) -> bytes:
    """Return one frame, which states the content's size; outside the interpreter's lock."""
    return _own.compressor.compress(content)


def expanded(frame: bytes, most: int, what: str) -> bytes:
    """Return the content of one frame.

    Args:
        frame: As `compressed` returns it.
        most: How long the content may be, bytes; a frame that states more is not expanded.
        what: What it is, for the error.

    Raises:
        RejectedError: It is not a whole frame, states no size or a larger one, or more follows it.
    """
    try:
        size = zstandard.frame_content_size(frame)
        if not 0 <= size <= most:
            raise RejectedError(f"{what} says it holds {size} bytes, 0..{most} allowed")
        return zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise RejectedError(f"{what} of {len(frame)} bytes, compressed: {error}") from error
