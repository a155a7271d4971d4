"""The Range header: one range of bytes, or the whole content.

Source: RFC 9110, 14.1.2 and 14.2.
"""

import re
from typing import Final

from contracts.errors import RejectedError
from contracts.text import quoted

_UNIT: Final = "bytes="
_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


class UnsatisfiableError(RejectedError):
    """The range lies outside the content, or is not one range of bytes."""


def parse_range(header: str | None, size: int) -> tuple[int, int]:
    """Return the first byte that `header` asks for of `size` bytes, and the byte after the last.

    A range in another unit is ignored, as the standard requires.

    Raises:
        UnsatisfiableError: Not `bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-COUNT`, or outside.
    """
    if header is None or not header.strip().lower().startswith(_UNIT):
        return 0, size
    match = _RANGE.fullmatch(header.strip().lower())
    if match is None or match.groups() == ("", ""):
        raise UnsatisfiableError(f"expected one range, bytes=FIRST-LAST, got {quoted(header)}")
    first, last = match.groups()
    if not first:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(size, int(last) + 1) if last else size
    if start >= stop:
        raise UnsatisfiableError(f"range {quoted(header)} lies outside the {size} bytes")
    return start, stop
