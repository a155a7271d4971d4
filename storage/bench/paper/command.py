"""`wayseal-bench paper`: the papers' figures beside those of a run, row by row."""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from storage.bench.paper.beside import Beside, Pair, Verdict, beside
from storage.bench.paper.known import PaperFigure, known
from storage.bench.report.savedrun import opened


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what is asked of this command."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="folder of a run")


def tell(options: argparse.Namespace) -> dict[str, Any]:
    """Print a line for each figure of the papers; return how many got which verdict.

    Raises:
        RejectedError: There is no such run.
    """
    found = beside(opened(options.folder))
    print("\n".join(lines(found)))  # noqa: T201 - a command's own words
    verdicts = Counter(each.verdict for each in found.rows)
    return {
        **{each.value: verdicts[each] for each in Verdict},
        "not-measured": len(found.missing),
    }


def lines(found: Beside) -> Iterator[str]:
    """Yield what a person reads, by paper: what was not measured, then what was."""
    for paper, title in known().papers.items():
        yield f"{paper}: {title}"
        for figure in found.missing:
            if figure.paper == paper:
                yield f"  {_name(figure)}: {figure.value:,} {figure.unit}, not measured"
        for each in found.rows:
            if each.paper.paper == paper:
                yield from _pair(each)


def _pair(each: Pair) -> Iterator[str]:
    ours = f"{each.measured['workload']} {each.measured['metric']} on {each.measured['target']}"
    yield f"  {_name(each.paper)}: {each.paper.value:,} {each.paper.unit}"
    yield f"    measured {each.median_text} [{each.interval_text}] as {ours}"
    yield f"    ratio {each.ratio_text}: {' '.join([each.verdict, *each.flags])} ({each.why})"


def _name(figure: PaperFigure) -> str:
    return ", ".join(filter(None, (figure.where, figure.metric, figure.config)))
