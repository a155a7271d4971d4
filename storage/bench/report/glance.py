"""The head of a page: the most important figures, targets side by side, and the best target."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from storage.bench.report.chosen import chosen
from storage.bench.report.flagged import MOST, names
from storage.bench.report.numbers import digits, scale, unit_of
from storage.bench.report.ranking import UNFIT, ranking
from storage.bench.report.sweeps import point_of
from storage.bench.run.document import Document
from storage.bench.run.savedrun import these
from storage.bench.stats.difference import Telling

TITLES: Final = {
    "system": "What the machine is capable of",
    "io": "Storage",
    "ledger": "Ledger",
    "offload": "Trucks to ledger",
}
"""Of the parts."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of one target in words.

    Attributes:
        flags: Without those below the table.
    """

    median: str
    interval: str
    flags: Sequence[str]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of a workload.

    Attributes:
        found: By target; None for a target without such a figure.
        ahead: The best target and its distance to the next; empty for one target.
    """

    workload: str
    metric: str
    found: Sequence[Cell | None]
    ahead: str


@dataclass(frozen=True, slots=True)
class Glance:
    """The most important figures of one part.

    Attributes:
        flags: Of most of its figures.
    """

    title: str
    targets: Sequence[str]
    rows: Sequence[Row]
    flags: Collection[str]

    @property
    def compared(self) -> bool:
        """Tell whether any of its figures is compared with another target's."""
        return any(row.ahead for row in self.rows)


def glances(
    figures: Sequence[Document], targets: Sequence[str], of_all: Sequence[Document]
) -> Iterator[Glance]:
    """Yield the tables, without sweeps: those need a chart.

    Args:
        figures: Of a result, in its order.
        targets: All of them, in the order of the page.
        of_all: Flags of all figures; already removed from them.
    """
    unfit = UNFIT & {each["flag"] for each in of_all}
    for part, some in groupby(figures, key=lambda each: str(each["part"])):
        first = [each for each in chosen(list(some)) if point_of(each["workload"]) is None]
        if not first:
            continue
        raised = Counter(name for each in first for name in names(each))
        common = [name for name, times in raised.items() if times >= MOST * len(first) > 1]
        have = {each["target"] for each in first}
        shown = [target for target in targets if target in have]
        rows = [
            Row(
                workload,
                metric,
                list(_side_by_side(found, shown, common)),
                "" if unfit else _ahead(found),
            )
            for (workload, metric), found in these(first, "workload", "metric").items()
        ]
        yield Glance(TITLES.get(part, part), shown, rows, common)


def _side_by_side(
    found: Sequence[Document], targets: Sequence[str], common: Collection[str]
) -> Iterator[Cell | None]:
    suits = scale([each["median"] for each in found], unit_of(found[0]))
    by_target = {each["target"]: each for each in found}
    for target in targets:
        each = by_target.get(target)
        if each is None:
            yield None
        else:
            flags = [name for name in names(each) if name not in common]
            yield Cell(suits.text(each["median"]), suits.interval(each), flags)


def _ahead(found: Sequence[Document]) -> str:
    figure = ranking(found)
    if figure is None or figure.apart is None:
        return ""
    best, second, *_ = figure.found
    telling, ratio = figure.apart.telling, figure.apart.ratio
    match telling:
        case Telling.MORE_THAN_NOISE if ratio:
            return f"{best['target']}, {digits(ratio)} x {second['target']}"
        case Telling.MORE_THAN_NOISE:
            return figure.ahead
        case Telling.WITHIN_NOISE:
            return f"{best['target']} and {second['target']}: {telling.value}"
        case _:
            return telling.value
