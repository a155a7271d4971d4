"""The page of a run: one HTML file that needs nothing else."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from storage.bench.report.charts.style import Chart
from storage.bench.report.drawing import Workload
from storage.bench.report.flagged import meanings
from storage.bench.report.latencies import PERCENTILES, Distribution
from storage.bench.report.numbers import digits, scale, text
from storage.bench.report.savedrun import SavedRun, these
from storage.bench.run.document import Document
from storage.bench.run.flags import Flag
from storage.bench.run.plan import REPETITIONS

PARTS: Final = {
    "system": "What the machine is capable of",
    "io": "Storage",
    "ledger": "Ledger",
    "offload": "Trucks to ledger",
}

_OF_A_DRIVE: Final = ("name", "model", "firmware", "interface", "link", "scheduler")
_NOTHING: Final = ("null", "[]", "{}", "")


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of a table of figures, in words."""

    metric: str
    target: str
    median: str
    interval: str
    count: int
    better: str
    ceiling: str
    ceiling_why: str
    flags: Sequence[Document]


@dataclass(frozen=True, slots=True)
class Percentile:
    """One cell of a table of latencies.

    Attributes:
        few: There are too few samples to name it.
    """

    head: str
    value: str
    few: bool


def render(run: SavedRun, shown: Sequence[Workload], sections: Mapping[str, Any]) -> str:
    """Return the page.

    Args:
        run: What it is of.
        shown: Its workloads with their charts.
        sections: What else the template asks for: the papers' part of the page, the cost.
    """
    environment = Environment(
        loader=PackageLoader("storage.bench.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figures"] = figures
    environment.filters["percentiles"] = percentiles
    environment.filters["svg"] = svg
    environment.filters["count"] = lambda value: f"{value:,}"
    environment.filters["duration"] = lambda value: text(value, "s")
    environment.filters["flat"] = lambda value: list(flat(value))
    result = run.result
    by_part: dict[str, list[Workload]] = {}
    for work in shown:
        by_part.setdefault(work.part, []).append(work)
    return environment.get_template("page.html").render(
        result=result,
        targets=list(map(_target, result["targets"])),
        parts=[(part, PARTS.get(part, part), each) for part, each in by_part.items()],
        failures=failures(result),
        problems=[each for work in shown for each in work.problems],
        flags=list(meanings(result["figures"])),
        flagged=sum(bool(each["flags"]) for each in result["figures"]),
        heads=[f"{each:g} %" for each in PERCENTILES],
        few=Flag.FEW_SAMPLES,
        repetitions=REPETITIONS,
        took=_took(result),
        **sections,
    )


def figures(found: Sequence[Document]) -> Iterator[Figure]:
    """Yield figures as rows; those of one metric stand together, in one unit."""
    for group in these(found, "metric", "unit").values():
        values = [value for each in group for value in (*each["values"], each["median"])]
        suits = scale(values, group[0]["unit"])
        for each in group:
            ceiling = each["ceiling"]
            yield Figure(
                each["metric"],
                each["target"],
                suits.text(each["median"]),
                f"{suits.number(each['low'])} to {suits.number(each['high'])}",
                len(each["values"]),
                each["better"],
                text(ceiling["value"], each["unit"]) if ceiling else "",
                ceiling["why"] if ceiling else "",
                each["flags"],
            )


def percentiles(found: Distribution) -> Iterator[Percentile]:
    """Yield the percentiles of one distribution, and its longest."""
    for each in PERCENTILES:
        yield Percentile(f"{each:g} %", text(found.at(each), "s"), not found.suffices(each))
    yield Percentile("max", text(found.most_s, "s"), few=False)


def failures(result: Document) -> list[tuple[str, str, str, int]]:
    """Return what failed as (workload, target, why, how often), equal ones once."""
    return [
        (workload, target, why, len(same))
        for (workload, target, why), same in these(
            result["failures"], "workload", "target", "why"
        ).items()
    ]


def svg(chart: Chart) -> Markup:
    """Return a chart's picture as markup: drawn by us, with every name in it escaped."""
    return Markup(chart.inline)  # noqa: S704 - matplotlib escapes all text


def flat(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield what a JSON value holds as (path, words)."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from flat(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value and any(isinstance(each, dict) for each in value):
        for place, inner in enumerate(value):
            yield from flat(inner, f"{path}[{place}]")
    elif isinstance(value, float):
        yield path, digits(value)
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _target(described: Document) -> dict[str, Any]:
    """Return what is known of a target in words; its kind decides which members there are."""
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
