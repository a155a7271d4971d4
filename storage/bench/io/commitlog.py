"""How many bytes a server wrote into its commit log, from the sizes of its segments.

With direct I/O a segment's file grows with what is written; where the file system has none it is
mapped, has its full size from the start, and the answer is in whole segments.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_SEGMENT: Final = re.compile(r"CommitLog-\d+-(\d+)\.log")
Segments = Mapping[int, int]
"""Bytes by the number of a segment; numbers grow by one."""


def segments(directory: Path) -> Segments:
    """Return the segments that are there now."""
    found = {}
    for path in directory.iterdir():
        if name := _SEGMENT.fullmatch(path.name):
            with suppress(FileNotFoundError):  # removed meanwhile: its tables are flushed
                found[int(name[1])] = path.stat().st_size
    return found


def written(before: Segments, after: Segments) -> int:
    """Return the bytes written from one look to the next.

    Before the first, a server wrote into the last segment but one; the last is its spare. One
    that is gone since then counts as large as the largest that was seen.
    """
    if not before or not after:
        return 0
    full = max((*before.values(), *after.values()))
    first = max(min(before), max(before) - 1)
    return sum(
        after.get(number, full) - before.get(number, 0) for number in range(first, max(after) + 1)
    )
