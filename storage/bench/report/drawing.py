"""The charts of a run, by workload."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from contracts.errors import RejectedError
from storage.bench.report.charts.bars import bars
from storage.bench.report.charts.bep23 import bep23
from storage.bench.report.charts.distributions import distribution_chart
from storage.bench.report.charts.overtime import SAMPLES_MIN, Traced, over_time
from storage.bench.report.charts.style import colours
from storage.bench.report.charts.sweeps import sweep_charts
from storage.bench.report.gallery import Gallery, Placed
from storage.bench.report.latencies import Distribution, distribution
from storage.bench.report.sweeps import PlottedPoint, by_numbers, point_of
from storage.bench.report.transactions import Transactions, transactions
from storage.bench.run.document import Document
from storage.bench.run.outcome import Better
from storage.bench.run.plan import Part
from storage.bench.run.savedrun import SavedRun, these

SECONDS: Final = ("s", "seconds")
"""Names of the first column of a table over time."""
NOT_DRAWN: Final = frozenset({"machine"})
"""Tables of every execution (CPU, heat, power) that are kept but not drawn."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One kind of latency of one workload.

    Attributes:
        intended: Counted from the intended start of each operation.
        found: By target.
    """

    name: str
    intended: bool
    found: dict[str, Distribution]


@dataclass(frozen=True, slots=True)
class ShownWorkload:
    """The content of a page for one workload.

    Attributes:
        figures: Of the result.
        problems: Reasons why something is not shown, in sentences.
        swept: It stands for all points of one sweep.
    """

    part: str
    name: str
    figures: Sequence[Document]
    executions: Sequence[Document]
    latencies: list[Timed] = field(default_factory=list)
    charts: list[Placed] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    swept: bool = False


def targets_of(run: SavedRun) -> list[str]:
    """Return the names of all targets, described ones first."""
    described = [each["name"] for each in run.result["targets"]]
    measured = [each["target"] for each in (*run.result["figures"], *run.result["executions"])]
    return list(dict.fromkeys([*described, *measured]))


def workloads(run: SavedRun, gallery: Gallery) -> Iterator[ShownWorkload]:
    """Yield each workload with its charts, in the order of parts and names.

    The points of a sweep are one workload: their latencies are drawn over the requests under way.

    Raises:
        UnavailableError: A chart can't be written.
    """
    targets = targets_of(run)
    places = colours(targets)
    figures = these(_by_target(run.result["figures"], targets), "part", "workload")
    executions = these(_by_target(run.result["executions"], targets), "part", "workload")
    for part, name in sorted(executions, key=_order):
        if point_of(name) is not None:
            continue
        work = ShownWorkload(part, name, figures.get((part, name), []), executions[part, name])
        if work.figures:
            judged = [each for each in work.figures if each["better"] != Better.NEITHER]
            work.charts.extend(map(gallery.keep, bars(name, judged, places)))
        _add_latencies(work, gallery, places)
        _add_series(run, work, gallery, places)
        _add_transactions(run, work, gallery, places)
        yield work
    yield from _sweeps(figures, gallery, places)


def _sweeps(
    figures: dict[tuple[str, ...], list[Document]], gallery: Gallery, places: dict[str, int]
) -> Iterator[ShownWorkload]:
    sweeps: dict[tuple[str, str], list[tuple[PlottedPoint, Document]]] = {}
    for (part, name), some in figures.items():
        point = point_of(name)
        if point is not None:
            sweeps.setdefault((part, point.sweep), []).extend((point, each) for each in some)
    for (part, title), found in sorted(sweeps.items()):
        found.sort(key=lambda each: each[0])
        work = ShownWorkload(part, title, [each for _, each in found], [], swept=True)
        work.charts.extend(map(gallery.keep, sweep_charts(title, found, places)))
        yield work


def _by_target(documents: Sequence[Document], targets: Sequence[str]) -> list[Document]:
    return sorted(documents, key=lambda each: targets.index(each["target"]))


def _order(work: tuple[str, ...]) -> tuple[int, list[str | int]]:
    part, name = work
    known = [each.value for each in Part]
    return known.index(part) if part in known else len(known), by_numbers(name)


def _titled(work: ShownWorkload, name: str) -> str:
    return work.name if name == work.name else f"{work.name}: {name}"


def _add_latencies(work: ShownWorkload, gallery: Gallery, places: dict[str, int]) -> None:
    kinds = dict.fromkeys(
        (each["name"], each["intended"]) for done in work.executions for each in done["latencies"]
    )
    for name, intended in kinds:
        found: dict[str, Distribution] = {}
        for (target,), done in these(work.executions, "target").items():
            encoded = [
                each["hdr"]
                for one in done
                for each in one["latencies"]
                if (each["name"], each["intended"]) == (name, intended)
            ]
            try:
                merged = distribution(encoded)
            except RejectedError as error:
                work.problems.append(f"Latencies {name} on {target} are not shown: {error}.")
                continue
            if merged.samples:
                found[target] = merged
        if found:
            work.latencies.append(Timed(name, intended, found))
            drawn = distribution_chart(_titled(work, name), found, places)
            work.charts.append(gallery.keep(drawn))


def _add_series(
    run: SavedRun, work: ShownWorkload, gallery: Gallery, places: dict[str, int]
) -> None:
    names = dict.fromkeys(name for done in work.executions for name in done["series"])
    for name in (each for each in names if each not in NOT_DRAWN):
        traced = []
        for done in work.executions:
            if name in done["series"]:
                try:
                    table = run.table(done, name)
                except RejectedError as error:
                    work.problems.append(f"A table is not shown: {error}.")
                    continue
                if table.columns[0] in SECONDS and len(table.rows) >= SAMPLES_MIN:
                    traced.append(Traced(done["target"], table))
        if traced:
            drawn = over_time(_titled(work, name), traced, places)
            work.charts.extend(map(gallery.keep, drawn))


def _add_transactions(
    run: SavedRun, work: ShownWorkload, gallery: Gallery, places: dict[str, int]
) -> None:
    found: dict[str, list[Transactions]] = {}
    for done in work.executions:
        try:
            for each in transactions(run, done):
                found.setdefault(done["target"], []).append(each)
        except RejectedError as error:
            work.problems.append(f"Transactions are not shown: {error}.")
    if found:
        work.charts.extend(map(gallery.keep, bep23(work.name, found, places)))
