"""What counts as text in signed data, by code points, whatever Unicode the interpreter knows.

`str.isprintable` and `str.isalnum` follow the interpreter's tables of Unicode, which grow with each
version, so that two nodes of a network would disagree. The ranges here are the same for ever, and
code points without a character today are text already (docs/contract.md, "Text"; ADR 0025).
"""

import re
from typing import Final

from contracts.rec20 import UNIT_CODES

_PLANES: Final = 17
_REFUSED: Final = (
    (0x0000, 0x001F),  # controls
    (0x007F, 0x009F),
    (0x00A0, 0x00A0),  # spaces other than U+0020, which look like it
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0x00AD, 0x00AD),  # characters without a shape
    (0x180E, 0x180E),
    (0x200B, 0x200B),
    (0x2060, 0x2065),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),
    (0x061C, 0x061C),  # the direction of writing
    (0x200E, 0x200F),
    (0x202A, 0x202E),
    (0x2066, 0x206F),
    (0x2028, 0x2029),  # ends of lines and paragraphs
    (0xD800, 0xDFFF),  # surrogates
    (0xE000, 0xF8FF),  # private use
    (0xF0000, 0x10FFFF),
    (0xFDD0, 0xFDEF),  # noncharacters
    *((plane << 16 | 0xFFFE, plane << 16 | 0xFFFF) for plane in range(_PLANES)),
)
_NOT_TEXT: Final = re.compile(
    "[" + "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in _REFUSED) + "]"
)
_NOT_GS1: Final = re.compile(r"[^!\"%&'()*+,\-./0-9:;<=>?A-Z_a-z]")
_NOT_IN_UNIT_1_0: Final = re.compile(r"[\x00-/:-@\[-`{-\x7f]")
_SPACES: Final = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    0x85,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
)
WHITESPACE: Final = "".join(map(chr, _SPACES)) + "\u2028\u2029\u202f\u205f\u3000"
"""What `str.strip` takes away today, for settings on the ledger: the same for ever."""


def is_text(text: str) -> bool:
    """Say whether all characters may be in a name or a reason."""
    return _NOT_TEXT.search(text) is None


def is_gs1(text: str) -> bool:
    """Say whether all characters are among the 82 that a lot may have under version 1.1.

    Source: GS1 General Specifications, 7.11, character set 82.
    """
    return _NOT_GS1.search(text) is None


def is_unit(text: str) -> bool:
    """Say whether a unit is a common code of UN/ECE Recommendation 20."""
    return text in UNIT_CODES


def is_unit_1_0(text: str) -> bool:
    """Say whether a unit may have these characters under version 1.0.

    In ASCII these are letters and digits. Beyond ASCII it is all text, since each interpreter
    knew other letters, and a chain may have any of them.
    """
    return is_text(text) and _NOT_IN_UNIT_1_0.search(text) is None


def quoted(text: str, most: int = 80) -> str:
    """Return text in quotes, for a message; an ellipsis behind the quotes says that it was cut.

    Args:
        text: Text that may be long, because a stranger sent it.
        most: Characters to show.
    """
    return repr(text) if len(text) <= most else f"{text[:most]!r}…"


def in_quotes(text: str) -> str:
    """Return text in quotes, for a finding on the ledger: the same under each interpreter.

    For ASCII it is what `repr` returns. Beyond that `repr` escapes what the interpreter's tables of
    Unicode do not know, so the validators of one network could part.
    """
    mark = '"' if "'" in text and '"' not in text else "'"
    return mark + text.replace("\\", "\\\\").replace(mark, f"\\{mark}") + mark


def counted(count: int, noun: str, nouns: str | None = None) -> str:
    """Return a number of things in words, such as `1 breach`.

    Args:
        count: How many.
        noun: For one.
        nouns: For several; None adds an s.
    """
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"


def escaped(text: str) -> str:
    """Return text with the characters escaped that no name may have."""
    return _NOT_TEXT.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
