"""What a page says first: which target, by how much, limited by what."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from contracts.text import counted
from storage.bench.report.chosen import chosen
from storage.bench.report.glance import TITLES
from storage.bench.report.numbers import digits, scale, text, unit_of
from storage.bench.report.ranking import UNFIT, Ranking, ranking
from storage.bench.report.sweeps import point_of
from storage.bench.run.document import Document
from storage.bench.run.outcome import Better
from storage.bench.run.plan import Part
from storage.bench.run.savedrun import these

_PARTS: Final = (Part.IO, Part.LEDGER, Part.OFFLOAD, Part.SYSTEM)
"""The part whose figures answer first."""
_BARS_MAX: Final = 8
"""Targets in the chart: it has to fit on a phone's first screen."""

_NEAR: Final = 0.8
"""Share of a ceiling from which on it is what limits a figure."""


@dataclass(frozen=True, slots=True)
class TargetBar:
    """One target in the chart.

    Attributes:
        share: Of the longest bar, 0 to 100.
    """

    target: str
    value: str
    share: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The head of a page.

    Attributes:
        title: Of the chart: the figure that is compared, and of what.
        sentences: Three.
        bars: The best target first.
    """

    title: str
    sentences: Sequence[str]
    bars: Sequence[TargetBar]


def answer(figures: Sequence[Document], of_all: Sequence[Document]) -> Answer | None:
    """Return what the figures say first; None without a figure.

    Args:
        figures: Of a result, in its order.
        of_all: Flags of all figures; already removed from them.
    """
    if UNFIT & {each["flag"] for each in of_all}:
        return None
    every = list(_ranked(figures))
    if not every:
        return None
    first = next((each for each in every if each.ahead), None)
    first = first or next((each for each in every if each.apart), every[0])
    best = first.found[0]
    suits = scale([each["median"] for each in first.found], unit_of(best))
    longest = max(abs(each["median"]) for each in first.found) or 1.0
    bars = [
        TargetBar(each["target"], suits.text(each["median"]), 100 * abs(each["median"]) / longest)
        for each in first.found[:_BARS_MAX]
    ]
    way = "more is better" if best["better"] == Better.HIGHER else "less is better"
    part = TITLES.get(best["part"], best["part"])
    title = f"{part}: {best['metric']} of {best['workload']}, {way}"
    sentences = (_which(first), _how_often(every, first), _limit(best))
    return Answer(title, sentences, bars)


def _ranked(figures: Sequence[Document]) -> Iterator[Ranking]:
    """Yield the most important figures, those of the first part first."""
    parts = {str(part): list(some) for part, some in groupby(figures, key=lambda e: e["part"])}
    for part in sorted(parts, key=_place):
        some = [each for each in chosen(parts[part]) if point_of(each["workload"]) is None]
        for found in these(some, "workload", "metric").values():
            figure = ranking(found)
            if figure is not None:
                yield figure


def _place(part: str) -> int:
    return next((at for at, each in enumerate(_PARTS) if each == part), len(_PARTS))


def _which(first: Ranking) -> str:
    best, *others = first.found
    if first.apart is None:
        return f"Only one target was measured, {best['target']}: {_value(best)}."
    second, ratio = others[0], first.apart.ratio
    if first.ahead:
        times = f", {digits(ratio)} times as much" if ratio else ""
        return (
            f"{best['target']} is ahead of {second['target']}: {_value(best)} against "
            f"{_value(second)}{times}."
        )
    return (
        f"No target is ahead: {best['target']} has {_value(best)} and {second['target']} "
        f"{_value(second)}, {first.apart.telling.value}."
    )


def _how_often(every: Sequence[Ranking], first: Ranking) -> str:
    several = [each for each in every if each.apart]
    if not several:
        return "Nothing was compared, because no figure has two targets."
    count = f"{counted(len(several), 'figure')} that can be compared"
    if not first.ahead:
        return f"Of {count} none puts a target ahead by more than noise."
    ahead = [each.ahead for each in several if each.ahead]
    own = ahead.count(first.ahead)
    return f"Of {count}, it is ahead in {own}, and another target in {len(ahead) - own}."


def _limit(best: Document) -> str:
    ceiling = best["ceiling"]
    if not ceiling or not ceiling["value"]:
        return f"What limits {best['target']} is not known."
    share = best["median"] / ceiling["value"]
    limit = f"{text(ceiling['value'], unit_of(best))} ({ceiling['why']})"
    if share >= _NEAR:
        return f"It reaches {share:.0%} of {limit}, which limits it."
    return f"It reaches {share:.0%} of the limit that is known, {limit}: something else limits it."


def _value(figure: Document) -> str:
    return text(figure["median"], unit_of(figure))
