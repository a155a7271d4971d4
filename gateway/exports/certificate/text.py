"""Text of a certificate: the embedded fonts, what they can show, and where lines break.

The fonts have the letters of Latin, Greek, Cyrillic, Armenian and Georgian. Every other character
is written as its number, such as `[U+6F22]`: an auditor must be able to tell two lots apart, and a
box for "not in this font" would make them look alike. So is whatever turns the direction of text.
"""

import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

REGULAR: Final = "DejaVuSans"
BOLD: Final = "DejaVuSans-Bold"
_FOLDER: Final = Path(__file__).parent / "fonts"
_LEFT_TO_RIGHT: Final = frozenset({"L", "EN", "ES", "ET", "CS", "ON", "WS"})
"""Classes of characters that need no turning (Unicode Standard Annex 9, table 4)."""
_SHAPED: Final = frozenset({"M", "C"})
"""Marks that join the letter before them, and controls (Unicode Standard, 4.5)."""


@cache
def _fonts() -> frozenset[int]:
    """Register the fonts once; return the characters that both have."""
    found = [TTFont(name, str(_FOLDER / f"{name}.ttf")) for name in (REGULAR, BOLD)]
    for font in found:
        pdfmetrics.registerFont(font)
    return frozenset(found[0].face.charToGlyph) & frozenset(found[1].face.charToGlyph)


def readable(text: str) -> str:
    """Return text with each character that the fonts cannot show written as its number."""
    return "".join(each if _is_shown(each) else f"[U+{ord(each):04X}]" for each in text)


def width(text: str, size: float, font: str = REGULAR) -> float:
    """Return how wide readable text is, points."""
    _fonts()
    return float(pdfmetrics.stringWidth(text, font, size))


def lines(text: str, room: float, size: float, font: str = REGULAR) -> list[str]:
    """Return readable text in lines that fit.

    Args:
        text: What to write; line feeds count as spaces.
        room: How wide a line may be, points.
        size: Of the letters, points.
        font: `REGULAR` or `BOLD`.
    """
    found = [""]
    for word in _words(readable(" ".join(text.split())), room, size, font):
        joined = f"{found[-1]} {word}" if found[-1] else word
        if width(joined, size, font) <= room:
            found[-1] = joined
        else:
            found.append(word)
    return found


def _words(text: str, room: float, size: float, font: str) -> Iterator[str]:
    """Yield words; one that is wider than a line comes in pieces."""
    for word in text.split(" "):
        rest = word
        while width(rest, size, font) > room:
            fits = next(
                (at for at in range(len(rest), 1, -1) if width(rest[:at], size, font) <= room), 1
            )
            yield rest[:fits]
            rest = rest[fits:]
        yield rest


@cache
def _is_shown(character: str) -> bool:
    return character == " " or (
        ord(character) in _fonts()
        and unicodedata.category(character)[0] not in _SHAPED
        and not character.isspace()
        and unicodedata.bidirectional(character) in _LEFT_TO_RIGHT
    )
