"""The curve as a picture: bars, write above read, for each choice of each question."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

WIDTH: Final = 720
_LEFT: Final = 200
_BAR: Final = 8
_ROW: Final = 22
_HEAD: Final = 34
_COLOURS: Final = {"write_mib_per_s": "#b5651d", "read_mib_per_s": "#2f6f8f"}


def chart(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return an SVG document; bars share one scale, in MiB/s."""
    most = max((row[key] for row in rows for key in _COLOURS), default=1.0)
    parts: list[str] = []
    top, question = 20, ""
    for row in rows:
        if row["question"] != question:
            question = row["question"]
            parts.append(_text(10, top + 18, question, weight="bold"))
            top += _HEAD
        parts.append(_text(20, top + 12, row["choice"]))
        for place, (key, colour) in enumerate(_COLOURS.items()):
            parts += _bar(top + place * _BAR, row[key], most, colour)
        top += _ROW
    legend = [_text(_LEFT, 14, "MiB/s: upper bar written, lower bar read", size=11)]
    height = top + 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" fill="#333">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    )
    return "\n".join([head, *legend, *parts, "</svg>\n"])


def _bar(top: int, value: float, most: float, colour: str) -> list[str]:
    width = (WIDTH - _LEFT - 50) * value / most
    return [
        f'<rect x="{_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR - 1}" fill="{colour}"/>',
        _text(_LEFT + 4 + round(width), top + _BAR - 1, f"{value:.0f}", size=8),
    ]


def _text(left: int, baseline: int, words: str, *, size: int = 12, weight: str = "normal") -> str:
    return (
        f'<text x="{left}" y="{baseline}" font-size="{size}" font-weight="{weight}">'
        f"{escape(words)}</text>"
    )
