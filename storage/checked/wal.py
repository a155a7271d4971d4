"""Says whether a write-ahead log has lost transactions that were committed.

SQLite reads a log up to the first frame whose checksum is wrong, and takes that for the end. After
a power cut that is right. Frames that were not synced reach the disk in any order; where one did
not reach it, there are zeros or a frame of the log before, and what SQLite keeps is sound. But if a
frame of this log rots, SQLite silently drops all that was committed after it, although the database
may have some of these pages already.

Source: SQLite, "Database File Format", 4.1 and 4.2.
"""

import struct
from pathlib import Path
from typing import Final, NamedTuple

_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_MAGIC: Final = 0x377F0682
"""The lowest bit says that checksums are over big-endian words."""
_MASK: Final = 0xFFFFFFFF
_FLIPPED_MAX: Final = 2
"""Bits by which a frame's salts may differ from those of the log before it is an older frame."""
_BLOCK_BYTES: Final = 4096
"""What a file system writes at once, or a multiple of it."""

Sums = tuple[int, int]


class _Log(NamedTuple):
    """What the header of a log says."""

    words: str
    page_bytes: int
    salts: tuple[int, int]
    sums: Sums


def damage_in_wal(path: Path) -> str:
    """Return the fault of the log of the database at `path`; empty if the log lost nothing.

    Raises:
        OSError: It cannot be read.
    """
    try:
        data = Path(f"{path}-wal").read_bytes()
    except FileNotFoundError:
        return ""
    if len(data) <= _HEADER.size + _FRAME.size:
        return ""
    log = _read_header(data)
    if log is None:
        return "the header of its write-ahead log is damaged"
    return _damage_in_frames(data, log)


def _read_header(data: bytes) -> _Log | None:
    magic, _, page_bytes, _, *salts, first, second = _HEADER.unpack_from(data)
    words = ">" if magic & 1 else "<"
    sums = _add(words, data[: _HEADER.size - 8], (0, 0))
    if magic & ~1 != _MAGIC or sums != (first, second):
        return None
    return _Log(words, page_bytes, (salts[0], salts[1]), sums)


def _damage_in_frames(data: bytes, log: _Log) -> str:
    sums, step = log.sums, _FRAME.size + log.page_bytes
    places = range(_HEADER.size, len(data) - step + 1, step)
    for index, at in enumerate(places):
        sums = _add(log.words, data[at : at + 8], sums)
        sums = _add(log.words, data[at + _FRAME.size : at + step], sums)
        _, _, *salts, first, second = _FRAME.unpack_from(data, at)
        if (*salts,) == log.salts and sums == (first, second):
            continue
        rest = places[index:]
        ours = [_is_ours(data, place, log) for place in rest]
        commits = any(
            mine and any(data[place + 4 : place + 8])
            for mine, place in zip(ours, rest, strict=True)
        )
        if not commits or _is_torn(data, range(at, at + step), ours):
            return ""
        return f"frame {index + 1} of its write-ahead log is damaged, and commits follow"
    return ""


def _is_torn(data: bytes, frame: range, ours: list[bool]) -> bool:
    """Return whether a power cut explains a wrong frame.

    What it keeps from the disk is whole blocks: they hold zeros, or frames of the log before.

    Args:
        data: The log.
        frame: The frame's place in it.
        ours: For it and each frame after it, whether this log's header goes with it.
    """
    blocks = range(frame.start // _BLOCK_BYTES * _BLOCK_BYTES, frame.stop, _BLOCK_BYTES)
    zeros = any(not any(data[block : block + _BLOCK_BYTES]) for block in blocks)
    between = not ours[0] or (not all(ours[1:2]) and any(ours[2:]))
    return zeros or between


def _is_ours(data: bytes, at: int, log: _Log) -> bool:
    """Return whether a frame is of this log, not of the one before."""
    _, _, *salts, _, _ = _FRAME.unpack_from(data, at)
    flipped: int = sum((a ^ b).bit_count() for a, b in zip(salts, log.salts, strict=True))
    return flipped <= _FLIPPED_MAX


def _add(words: str, data: bytes, sums: Sums) -> Sums:
    first, second = sums
    count = len(data) // 4
    values = struct.unpack(f"{words}{count}I", data)
    for at in range(0, count, 2):
        first = (first + values[at] + second) & _MASK
        second = (second + values[at + 1] + first) & _MASK
    return first, second
