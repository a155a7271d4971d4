"""The page of a run: one HTML file without dependencies."""

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from storage.bench.report.answer import answer
from storage.bench.report.charts.style import Chart
from storage.bench.report.chosen import chosen
from storage.bench.report.drawing import ShownWorkload, targets_of
from storage.bench.report.flagged import MOST, meanings, without
from storage.bench.report.glance import TITLES, glances
from storage.bench.report.latencies import PERCENTILES, Distribution
from storage.bench.report.memories import sentences
from storage.bench.report.numbers import Scale, digits, scale, text, unit_of
from storage.bench.report.sweeps import point_of
from storage.bench.run.document import Document
from storage.bench.run.flags import Flag
from storage.bench.run.plan import REPETITIONS
from storage.bench.run.savedrun import SavedRun, these
from storage.bench.stats.difference import SIGNIFICANCE

_OF_A_DRIVE: Final = ("name", "model", "firmware", "interface", "link", "scheduler")
_NOTHING: Final = ("null", "[]", "{}", "")


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of a table of figures, in words.

    Attributes:
        point: Of a sweep; empty for others.
        flags: Each once, with its reasons, without those below the table.
    """

    metric: str
    point: str
    target: str
    median: str
    interval: str
    count: int
    ceiling: str
    ceiling_why: str
    flags: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Figures:
    """One table of figures.

    Attributes:
        notes: Flags that several rows share for one reason, and which rows. Those of most rows
            stand only here.
    """

    rows: Sequence[Figure]
    notes: Sequence[tuple[str, str, str]]

    @property
    def ceilings(self) -> bool:
        """Tell whether any figure has a ceiling."""
        return any(row.ceiling for row in self.rows)

    @property
    def flags(self) -> bool:
        """Tell whether any figure has a flag."""
        return any(row.flags for row in self.rows)


@dataclass(frozen=True, slots=True)
class Percentile:
    """One cell of a table of latencies.

    Attributes:
        few: There are too few samples for it.
    """

    head: str
    value: str
    few: bool


def render(run: SavedRun, shown: Sequence[ShownWorkload], sections: Mapping[str, Any]) -> str:
    """Return the page.

    Args:
        run: Of the page.
        shown: Its workloads with their charts.
        sections: Further variables of the template: the papers, the cost.
    """
    environment = Environment(
        loader=PackageLoader("storage.bench.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["chosen"] = chosen
    environment.filters["figures"] = figures
    environment.filters["flags"] = lambda found: list(meanings(found))
    environment.filters["percentiles"] = percentiles
    environment.filters["sentences"] = lambda found: list(sentences(found))
    environment.filters["svg"] = svg
    environment.filters["count"] = lambda value: f"{value:,}"
    environment.filters["duration"] = lambda value: text(value, "s")
    environment.filters["flat"] = lambda value: list(flat(value))
    result = run.result
    by_part: dict[str, list[ShownWorkload]] = {}
    for work in shown:
        by_part.setdefault(work.part, []).append(work)
    seen = list(glances(result["figures"], targets_of(run), sections["of_all"]))
    return environment.get_template("page.html").render(
        result=result,
        answer=answer(result["figures"], sections["of_all"]),
        glances=seen,
        several=any(each.compared for each in seen),
        significance=f"{SIGNIFICANCE:.0%}",
        targets=list(map(_target, result["targets"])),
        guarantees=result.get("guarantees", ()),
        parts=[(TITLES.get(part, part), each) for part, each in by_part.items()],
        failures=failures(result),
        problems=[each for work in shown for each in work.problems],
        flags=list(meanings([{"flags": sections["of_all"]}] * len(result["figures"])))
        + list(meanings(result["figures"])),
        flagged=sum(bool(each["flags"]) for each in result["figures"]),
        heads=[f"{each:g} %" for each in PERCENTILES],
        few=Flag.FEW_SAMPLES,
        repetitions=REPETITIONS,
        took=_took(result),
        **sections,
    )


def figures(found: Sequence[Document]) -> Figures:
    """Return figures as rows; those of one metric stand together and share a unit."""
    reasons = Counter((flag["flag"], flag["why"]) for each in found for flag in each["flags"])
    shared = {reason for reason, times in reasons.items() if times > 1}
    most = [reason for reason in shared if reasons[reason] >= MOST * len(found)]
    notes = [
        (*reason, _whose(found, reason) if reason in most else f"{times} of {len(found)}")
        for reason, times in reasons.items()
        if reason in shared
    ]
    found = without(found, [{"flag": flag, "why": why} for flag, why in most])
    rows = []
    for group in these(found, "workload", "metric", "unit").values():
        values = [value for each in group for value in (*each["values"], each["median"])]
        suits = scale(values, unit_of(group[0]))
        rows += [_row(each, suits, shared) for each in group]
    return Figures(rows, notes)


def _whose(found: Sequence[Document], reason: tuple[str, str]) -> str:
    """Return in words the figures of a table that have a common flag."""
    others = dict.fromkeys(
        each["metric"]
        for each in found
        if reason not in [(flag["flag"], flag["why"]) for flag in each["flags"]]
    )
    return f"all but {', '.join(others)}" if others else "all"


def _row(each: Document, suits: Scale, shared: Container[tuple[str, str]]) -> Figure:
    ceiling, point = each["ceiling"], point_of(each["workload"])
    return Figure(
        each["metric"],
        point.name if point else "",
        each["target"],
        suits.text(each["median"]),
        suits.interval(each),
        len(each["values"]),
        text(ceiling["value"], unit_of(each)) if ceiling else "",
        ceiling["why"] if ceiling else "",
        [
            (name, "; ".join(one["why"] for one in same if (name, one["why"]) not in shared))
            for (name,), same in these(each["flags"], "flag").items()
        ],
    )


def percentiles(found: Distribution) -> Iterator[Percentile]:
    """Yield the percentiles of one distribution, and its longest."""
    for each in PERCENTILES:
        yield Percentile(f"{each:g} %", text(found.at(each), "s"), not found.suffices(each))
    yield Percentile("max", text(found.most_s, "s"), few=False)


def failures(result: Document) -> list[tuple[str, str, str, int]]:
    """Return failures as (workload, target, why, count), equal ones once."""
    return [
        (workload, target, why, len(same))
        for (workload, target, why), same in these(
            result["failures"], "workload", "target", "why"
        ).items()
    ]


def svg(chart: Chart) -> Markup:
    """Return a chart's picture as markup; matplotlib escaped every name in it."""
    return Markup(chart.inline)  # noqa: S704 - matplotlib escapes all text


def flat(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the content of a JSON value as (path, words)."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from flat(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value and any(isinstance(each, dict) for each in value):
        for place, inner in enumerate(value):
            yield from flat(inner, f"{path}[{place}]")
    elif isinstance(value, list) and value:
        yield path, ", ".join(words for each in value for _, words in flat(each))
    elif isinstance(value, float):
        yield path, digits(value)
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _target(described: Document) -> dict[str, Any]:
    """Return the description of a target in words; its kind decides the members."""
    known = {"name", "interface", "drives"}
    others = {name: value for name, value in described.items() if name not in known}
    return {
        "name": described["name"],
        "interface": described["interface"],
        "members": [
            (name.replace("_", " "), words) for name, words in flat(others) if words not in _NOTHING
        ],
        "drives": [
            ", ".join(str(drive[name]) for name in _OF_A_DRIVE if drive.get(name))
            for drive in described.get("drives", ())
        ],
    }


def _took(result: Document) -> str:
    began, ended = (datetime.fromisoformat(result[each]) for each in ("started_at", "ended_at"))
    return str(ended - began)
