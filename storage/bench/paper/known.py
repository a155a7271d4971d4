"""The papers' figures as data: figures.json beside this module, written by us from the papers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Limit:
    """What the paper's own hardware or settings can't pass.

    Attributes:
        value: In an SI unit.
    """

    value: float
    unit: str
    why: str


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """One figure of a paper.

    Attributes:
        where: Table, figure or section.
        value: In `unit`, as printed.
        config: What it was measured with, in words.
        flag: What a careful reader noted.
        interfaces: Of the drive, as docs/storage.md has them; nothing where none is named.
        processors: Parts of the names of the processors it was measured on.
        ambiguous: Why it may mean something else; empty where it is clear.
    """

    paper: str
    where: str
    metric: str
    value: float
    unit: str
    config: str
    flag: str
    interfaces: tuple[str, ...]
    processors: tuple[str, ...]
    limit: Limit | None
    ambiguous: str


@dataclass(frozen=True, slots=True)
class Correspondence:
    """Which of our figures is measured as one of a paper's.

    Attributes:
        paper: Which.
        metric: The paper's.
        config: How the configuration of the paper's figure begins; empty for any.
        part: Of ours, and so on.
        workload: Likewise.
        measured: Our metric.
        target: Of ours; empty for any.
    """

    paper: str
    metric: str
    config: str
    part: str
    workload: str
    measured: str
    target: str


@dataclass(frozen=True, slots=True)
class Curve:
    """One line in a panel of a redrawn figure.

    Attributes:
        shown: In the legend.
        series: Table of an execution.
        column: Of the table.
    """

    shown: str
    series: str
    column: str


@dataclass(frozen=True, slots=True)
class Redrawn:
    """A panel of a paper's figure, as drawn from our tables over time; one for each target.

    Attributes:
        figure: As in `Figure 5 (a, b)`.
        shown: What it shows, in words.
        note: What the paper's own shows, as its text says.
    """

    figure: str
    shown: str
    note: str
    part: str
    workload: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known of the papers.

    Attributes:
        papers: Titles by number.
        units: By a paper's unit: (factor, SI unit).
        apart: By paper and its metric: why no figure of ours can stand beside it.
    """

    papers: Mapping[str, str]
    units: Mapping[str, tuple[float, str]]
    figures: Sequence[PaperFigure]
    correspondences: Sequence[Correspondence]
    redrawn: Sequence[Redrawn]
    apart: Mapping[tuple[str, str], str]

    def about(self, figure: PaperFigure) -> list[Correspondence]:
        """Return which of our figures are measured as a paper's."""
        return [
            each
            for each in self.correspondences
            if (each.paper, each.metric) == (figure.paper, figure.metric)
            and figure.config.startswith(each.config)
        ]

    def si(self, figure: PaperFigure) -> tuple[float, str]:
        """Return a figure's value and unit in SI."""
        factor, unit = self.units[figure.unit]
        return figure.value * factor, unit


@cache
def known() -> Known:
    """Return what figures.json says."""
    page: dict[str, Any] = json.loads(
        files("storage.bench.paper").joinpath("figures.json").read_text("utf-8")
    )
    return Known(
        page["papers"],
        {unit: (factor, si) for unit, (factor, si) in page["units"].items()},
        [_figure(each) for each in page["figures"]],
        [
            Correspondence(**{"config": "", "target": "", **each})
            for each in page["correspondences"]
        ],
        [
            Redrawn(**{**each, "curves": tuple(Curve(*curve) for curve in each["curves"])})
            for each in page["redrawn"]
        ],
        {
            (each["paper"], metric): each["why"]
            for each in page["apart"]
            for metric in each["metrics"]
        },
    )


def _figure(each: Mapping[str, Any]) -> PaperFigure:
    limit = each.get("limit")
    return PaperFigure(
        paper=each["paper"],
        where=each["where"],
        metric=each["metric"],
        value=each["value"],
        unit=each["unit"],
        config=each["config"],
        flag=each["flag"],
        interfaces=tuple(each.get("interfaces", ())),
        processors=tuple(each.get("processors", ())),
        limit=None if limit is None else Limit(**limit),
        ambiguous=each.get("ambiguous", ""),
    )
