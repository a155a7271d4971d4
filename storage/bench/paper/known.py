"""The papers' figures as data, from figures.json beside this module."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound that the paper's own hardware or settings cannot pass.

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
        config: Configuration of the measurement, in words.
        flag: Note of a careful reader.
        interfaces: Of the drive, in the words of docs/storage.md; empty if the paper names none.
        processors: Parts of the names of its processors.
        ambiguous: Why the figure may mean something else; empty if it is clear.
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
    """The figure of a run that corresponds to a paper's.

    Attributes:
        paper: Number of the paper.
        metric: Of the paper.
        config: Beginning of the configuration of the paper's figure; empty for any.
        part: Of the run's figure.
        workload: Of the run's figure.
        measured: Metric of the run's figure.
        target: Of the run's figure; empty for any.
    """

    paper: str
    metric: str
    config: str
    part: str
    workload: str
    measured: str
    target: str


@dataclass(frozen=True, slots=True)
class PaperCurve:
    """One line in a panel of a redrawn figure.

    Attributes:
        shown: Words in the legend.
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
        shown: Its content, in words.
        note: The content of the paper's own figure, by its text.
    """

    figure: str
    shown: str
    note: str
    part: str
    workload: str
    curves: tuple[PaperCurve, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """The data of all papers.

    Attributes:
        papers: Titles by number.
        units: By a paper's unit: (factor, SI unit).
        apart: By paper and metric: reason why no figure of a run corresponds to it.
    """

    papers: Mapping[str, str]
    units: Mapping[str, tuple[float, str]]
    figures: Sequence[PaperFigure]
    correspondences: Sequence[Correspondence]
    redrawn: Sequence[Redrawn]
    apart: Mapping[tuple[str, str], str]

    def about(self, figure: PaperFigure) -> list[Correspondence]:
        """Return the correspondences of a paper's figure."""
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
    """Return the content of figures.json."""
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
            Redrawn(**{**each, "curves": tuple(PaperCurve(*curve) for curve in each["curves"])})
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
