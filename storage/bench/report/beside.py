"""A run's medians beside the papers' figures, with a verdict for each pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from storage.bench.paper.known import Known, PaperFigure, known
from storage.bench.report.flagged import names
from storage.bench.report.numbers import digits, scale, text, unit_of
from storage.bench.report.page import flat
from storage.bench.run.document import Document
from storage.bench.run.savedrun import SavedRun


class Comparability(StrEnum):
    """How far two figures may be compared. Source: docs/benchmarks.md, Beside the papers."""

    COMPARABLE = "comparable"
    DIFFERENT_HARDWARE = "different-hardware"
    PAPER_EXCEEDS_LIMIT = "paper-exceeds-limit"
    PAPER_AMBIGUOUS = "paper-ambiguous"


@dataclass(frozen=True, slots=True)
class PaperPair:
    """A figure of a paper beside a figure of a run.

    Attributes:
        paper_si: The paper's value in the unit of the run's.
        why: Reason of the verdict.
    """

    paper: PaperFigure
    measured: Document
    paper_si: float
    verdict: Comparability
    why: str

    @property
    def ratio(self) -> float | None:
        """Return measured over paper; None if the paper's value is 0."""
        return float(self.measured["median"]) / self.paper_si if self.paper_si else None

    @property
    def paper_text(self) -> str:
        """Return the paper's figure as printed."""
        return f"{self.paper.value:,} {self.paper.unit}"

    @property
    def median_text(self) -> str:
        """Return the run's median."""
        return text(self.measured["median"], unit_of(self.measured))

    @property
    def interval_text(self) -> str:
        """Return the run's interval, in the unit of the median."""
        suits = scale([self.measured["median"]], unit_of(self.measured))
        return suits.interval(self.measured)

    @property
    def ratio_text(self) -> str:
        """Return the ratio for people."""
        return "-" if self.ratio is None else digits(self.ratio)

    @property
    def flags(self) -> list[str]:
        """Return the flags of the run's figure."""
        return names(self.measured)


@dataclass(frozen=True, slots=True)
class Alone:
    """A figure of a paper without one of the run.

    Attributes:
        why: The workload that would measure it, or the reason why none does.
    """

    paper: PaperFigure
    why: str


@dataclass(frozen=True, slots=True)
class Beside:
    """All figures of the papers.

    Attributes:
        rows: With a measured figure.
        missing: Without one.
    """

    rows: Sequence[PaperPair]
    missing: Sequence[Alone]

    @property
    def known(self) -> int:
        """Return the number of the papers' figures."""
        return len({id(each.paper) for each in self.rows}) + len(self.missing)


def beside(run: SavedRun, papers: Known | None = None) -> Beside:
    """Pair a run's figures with the papers'.

    A paper's figure for an interface stands beside the targets with that interface. If the run has
    no such target, it stands beside all targets, with the verdict of different hardware.

    Args:
        run: Measured.
        papers: The papers; by default those of figures.json.
    """
    papers = papers or known()
    rows: list[PaperPair] = []
    missing: list[Alone] = []
    for figure in papers.figures:
        pairs = list(_pairs(run, papers, figure))
        rows += pairs
        if not pairs:
            missing.append(Alone(figure, _why_alone(papers, figure)))
    return Beside(rows, missing)


def _pairs(run: SavedRun, papers: Known, figure: PaperFigure) -> Iterator[PaperPair]:
    value, unit = papers.si(figure)
    found = [
        each
        for ours in papers.about(figure)
        for each in run.result["figures"]
        if (each["part"], each["workload"], each["metric"], each["unit"])
        == (ours.part, ours.workload, ours.measured, unit)
        and ours.target in ("", each["target"])
    ]
    alike = [each for each in found if run.interface(each["target"]) in figure.interfaces]
    for each in alike or found:
        verdict, why = _judged(run, figure, each["target"], value)
        yield PaperPair(figure, each, value, verdict, why)


def _why_alone(papers: Known, figure: PaperFigure) -> str:
    wanted = [
        f"{ours.part}: {ours.workload} {ours.measured}" + (f" on {ours.target}" * bool(ours.target))
        for ours in papers.about(figure)
    ]
    if wanted:
        return f"not in this run ({' or '.join(wanted)})"
    return papers.apart[figure.paper, figure.metric]


def _judged(
    run: SavedRun, figure: PaperFigure, target: str, value: float
) -> tuple[Comparability, str]:
    if figure.limit is not None and value > figure.limit.value:
        times = digits(value / figure.limit.value)
        return (
            Comparability.PAPER_EXCEEDS_LIMIT,
            f"{times} times what is possible: {figure.limit.why}",
        )
    if figure.ambiguous:
        return Comparability.PAPER_AMBIGUOUS, figure.ambiguous
    interface = run.interface(target)
    if figure.interfaces and interface not in figure.interfaces:
        expected = " or ".join(figure.interfaces)
        return Comparability.DIFFERENT_HARDWARE, f"{expected} in the paper, {interface} here"
    machine = " ".join(words for _, words in flat(run.result["machine"])).lower()
    if figure.processors and not any(each.lower() in machine for each in figure.processors):
        return Comparability.DIFFERENT_HARDWARE, f"{' or '.join(figure.processors)} in the paper"
    if not figure.interfaces and not figure.processors:
        return Comparability.DIFFERENT_HARDWARE, "what the paper ran on is not known well enough"
    return Comparability.COMPARABLE, "the same kind of hardware, by name"
