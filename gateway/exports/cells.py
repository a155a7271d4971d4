"""Text for spreadsheets: no text becomes a formula, and a comma ends no cell by itself.

Source: RFC 4180; OWASP, CSV Injection.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

CSV_TYPE: Final = "text/csv; charset=utf-8"
Cell = str | int | float | bool | None
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_LINES_AT_ONCE: Final = 500


def guarded(text: str) -> str:
    """Return text that no spreadsheet program takes for a formula."""
    return "'" + text if text.lstrip(" ").startswith(_FORMULA) else text


def csv_pieces(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterable[bytes]:
    """Yield a table as CSV, some hundred lines at a time; a cell without a value is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(header)
    for number, row in enumerate(rows, start=1):
        writer.writerow([_shown(each) for each in row])
        if number % _LINES_AT_ONCE == 0:
            yield _taken(buffer)
    yield _taken(buffer)


def _shown(cell: Cell) -> str | int | float:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return guarded(cell) if isinstance(cell, str) else cell


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()
