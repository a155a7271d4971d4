"""`wayseal-bench paper`: the papers' figures beside the figures of a run, row by row."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from storage.bench.paper.known import PaperFigure, known
from storage.bench.report.beside import Alone, Beside, Comparability, PaperPair, beside
from storage.bench.report.terminal import WIDTH
from storage.bench.run.savedrun import opened


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="folder of a run")


def tell(options: argparse.Namespace) -> dict[str, Any]:
    """Print lines for each figure of the papers; return the number of each verdict.

    Raises:
        RejectedError: The run is missing or invalid.
    """
    found = beside(opened(options.folder))
    print("\n".join(lines(found)))  # noqa: T201 - a command's own words
    verdicts = Counter(each.verdict for each in found.rows)
    return {
        **{each.value: verdicts[each] for each in Comparability},
        "not-measured": len(found.missing),
    }


def lines(found: Beside) -> Iterator[str]:
    """Yield lines for people, by paper: measured figures, then the others with the reason."""
    for paper, title in known().papers.items():
        yield from _told(f"{paper}: {title}", 0)
        for each in found.rows:
            if each.paper.paper == paper:
                yield from _pair(each)
        alone: dict[str, list[Alone]] = {}
        for one in found.missing:
            if one.paper.paper == paper:
                alone.setdefault(one.why, []).append(one)
        for why, some in alone.items():
            yield from _told(f"not measured: {why}", 2)
            for one in some:
                yield from _told(f"{_name(one.paper)}: {_value(one.paper)}", 4)
        yield ""


def _pair(each: PaperPair) -> Iterator[str]:
    ours = f"{each.measured['workload']} {each.measured['metric']} on {each.measured['target']}"
    yield from _told(f"{_name(each.paper)}: {_value(each.paper)}", 2)
    yield from _told(f"measured {each.median_text} [{each.interval_text}] as {ours}", 4)
    flags = f" [{', '.join(each.flags)}]" if each.flags else ""
    yield from _told(f"x {each.ratio_text}, {each.verdict}: {each.why}{flags}", 4)


def _told(words: str, indent: int) -> Sequence[str]:
    first, later = " " * indent, " " * (indent + 2)
    return wrap(words, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)


def _name(figure: PaperFigure) -> str:
    return ", ".join(filter(None, (figure.where, figure.metric, figure.config)))


def _value(figure: PaperFigure) -> str:
    return f"{figure.value:,} {figure.unit}"
