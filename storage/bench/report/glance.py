"""The head of a page: the figures that matter most, targets side by side, and which is ahead."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from storage.bench.report.chosen import chosen
from storage.bench.report.flagged import names
from storage.bench.report.numbers import digits, scale, unit_of
from storage.bench.report.savedrun import these
from storage.bench.report.sweeps import point_of
from storage.bench.run.document import Document
from storage.bench.run.flags import Flag
from storage.bench.run.outcome import Better
from storage.bench.stats.difference import Telling, difference

_UNFIT: Final = {Flag.INVALID, Flag.CACHED, Flag.OVER_LINK_RATE}
"""Flags of figures that say nothing of their target."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A figure of one target in words."""

    target: str
    median: str
    interval: str
    flags: Sequence[str]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of a workload.

    Attributes:
        found: By target; None for one that has no such figure.
        ahead: Which target is better than the next one, and how far; empty for one alone.
    """

    workload: str
    metric: str
    found: Sequence[Seen | None]
    ahead: str


@dataclass(frozen=True, slots=True)
class Glance:
    """What matters most of one part."""

    part: str
    targets: Sequence[str]
    rows: Sequence[Row]


def glances(figures: Sequence[Document]) -> Iterator[Glance]:
    """Yield the tables; sweeps, which need a chart to be read, are in none of them.

    Args:
        figures: Of a result, in its order.
    """
    for part, some in groupby(figures, key=lambda each: str(each["part"])):
        first = [each for each in chosen(list(some)) if point_of(each["workload"]) is None]
        if first:
            targets = list(dict.fromkeys(each["target"] for each in first))
            same = these(first, "workload", "metric").items()
            yield Glance(
                part,
                targets,
                [_row(workload, metric, found, targets) for (workload, metric), found in same],
            )


def _row(workload: str, metric: str, found: Sequence[Document], targets: Sequence[str]) -> Row:
    suits = scale([each["median"] for each in found], unit_of(found[0]))
    seen = {
        each["target"]: Seen(
            each["target"],
            suits.text(each["median"]),
            f"{suits.number(each['low'])} to {suits.number(each['high'])}",
            names(each),
        )
        for each in found
    }
    return Row(workload, metric, [seen.get(target) for target in targets], _ahead(found))


def _ahead(found: Sequence[Document]) -> str:
    fit = [each for each in found if not _UNFIT & set(names(each))]
    if len(fit) < len(found) or len(fit) == 1 or fit[0]["better"] == Better.NEITHER:
        return ""
    fit.sort(key=lambda each: each["median"], reverse=fit[0]["better"] == Better.HIGHER)
    best, second = next(pairwise(fit))
    apart = difference(second["values"], best["values"])
    match apart.telling:
        case Telling.MORE_THAN_NOISE if apart.ratio is not None:
            return f"{best['target']}, {digits(apart.ratio)} x {second['target']}"
        case Telling.WITHIN_NOISE:
            return f"{best['target']} and {second['target']} alike, {Telling.WITHIN_NOISE.value}"
        case _:
            return str(apart.telling.value)
