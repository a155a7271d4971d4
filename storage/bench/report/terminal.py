"""A result on a terminal: a table of the most important figures for each part.

The page has all figures. Flags of all figures, or of most of a table, are shown once.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from storage.bench.report.chosen import chosen
from storage.bench.report.flagged import MEANINGS, UNKNOWN, names
from storage.bench.report.numbers import scale, unit_of
from storage.bench.run.document import Document

WIDTH: Final = 100
"""Columns if standard output is not a terminal."""
ROWS_MAX: Final = 40
"""Figures of one part; further ones are only counted."""
_SIGNS: Final = "abcdefghijklmnopqrstuvwxyz"


def tell(result: Document, console: Console) -> None:
    """Print a result."""
    flagged = [set(names(each)) for each in result["figures"]]
    everywhere = set.intersection(*flagged) if flagged else set[str]()
    for part, figures in groupby(result["figures"], key=lambda each: str(each["part"])):
        console.print(_part(part, list(figures), everywhere))
    for name in sorted(everywhere):
        console.print(Text(f"Every figure: {_meaning(name)}"))
    for each in result["failures"]:
        where = f"{each['workload']} {each['target']}".strip()
        console.print(Text(f"FAILED {where}: {each['why']}", "bold red"))
    if not result["complete"]:
        console.print(Text(f"This run is partial: {result['ended']}.", "bold red"))
    if result["quick"]:
        console.print(Text("A quick run is indicative: small sizes, few repetitions."))


def _part(part: str, figures: Sequence[Document], everywhere: set[str]) -> RenderableType:
    shown = chosen(figures)[:ROWS_MAX]
    signs = _signs(shown, everywhere)
    table = Table(title=part, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for head in ("workload", "figure", "target"):
        table.add_column(head, overflow="fold")
    table.add_column("median", justify="right", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_column("flags", style="yellow")
    above = ("", "")
    for each in shown:
        row = (each["workload"], each["metric"])
        told = [word if word != over else "" for word, over in zip(row, above, strict=True)]
        if row[0] != above[0]:
            told[1] = row[1]
        above = row
        table.add_row(*told, each["target"], *_numbers(each), _flags(each, everywhere, signs))
    notes = [Text(f"{sign}  {_meaning(name)}") for name, sign in signs.items()]
    return Group(table, *notes, Text(_others(figures, shown, everywhere)))


def _others(figures: Sequence[Document], shown: Sequence[Document], everywhere: set[str]) -> str:
    """Return the number of figures that are not shown, with their flags."""
    others = [each for each in figures if each not in shown]
    raised = [name for each in others for name in names(each) if name not in everywhere]
    flags = ", ".join(f"{name} {raised.count(name)}" for name in sorted(set(raised)))
    return f"{len(others)} more in the report{', flagged: ' if flags else ''}{flags}\n"


def _signs(shown: Sequence[Document], everywhere: set[str]) -> dict[str, str]:
    """Return a letter for each flag of most rows; its words stand below the table."""
    raised = [name for each in shown for name in names(each) if name not in everywhere]
    common = [name for name in dict.fromkeys(raised) if 2 * raised.count(name) > len(shown) > 1]
    return dict(zip(common, _SIGNS, strict=False))


def _numbers(figure: Document) -> Iterator[str]:
    suits = scale([figure["median"]], unit_of(figure))
    yield suits.text(figure["median"])
    yield suits.interval(figure)


def _flags(figure: Document, everywhere: set[str], signs: dict[str, str]) -> str:
    raised = [name for name in names(figure) if name not in everywhere]
    letters = "".join(signs[name] for name in raised if name in signs)
    return " ".join([*([letters] if letters else []), *(n for n in raised if n not in signs)])


def _meaning(name: str) -> str:
    return f"{name}: {MEANINGS.get(name, UNKNOWN)}."
