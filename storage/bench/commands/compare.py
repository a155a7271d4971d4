"""`wayseal-bench compare`: differences between two runs, or two targets of one, beyond noise."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from contracts.errors import RejectedError
from storage.bench.report.flagged import names
from storage.bench.report.numbers import digits, scale, unit_of
from storage.bench.report.page import flat
from storage.bench.report.terminal import WIDTH
from storage.bench.run.document import Document
from storage.bench.run.flags import Flag
from storage.bench.run.savedrun import SavedRun, opened
from storage.bench.stats.difference import SIGNIFICANCE, Difference, Telling, difference

PRICES: Final = "cost"
"""Settings that change no figure: prices are applied to figures afterwards."""
_TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure on both sides.

    Attributes:
        flags: Of either side.
    """

    first: Document
    second: Document
    found: Difference
    flags: tuple[str, ...]

    @property
    def invalid(self) -> bool:
        """Tell whether one of the two figures is invalid."""
        return Flag.INVALID in self.flags

    @property
    def verdict(self) -> str:
        """Return the conclusion in words."""
        if self.invalid:
            return f"not compared: {Flag.INVALID}"
        if self.found.telling is Telling.TOO_FEW:
            counts = (len(each["values"]) for each in (self.first, self.second))
            return "{}: {} and {}".format(self.found.telling.value, *counts)
        if self.found.telling is Telling.WITHIN_NOISE:
            return self.found.telling.value
        before, after = self.found.medians
        way = "higher" if after > before else "lower" if after < before else "different"
        judged = (
            ""
            if self.first["better"] not in ("higher", "lower")
            else (", better" if self.first["better"] == way else ", worse")
        )
        return f"{way}{judged}: {self.found.telling.value}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add = parser.add_argument
    add("runs", nargs="+", type=Path, metavar="RUN", help="folders of one or two runs")
    add(
        "--targets",
        nargs=2,
        metavar="NAME",
        help="compare the first target, of the first run, with the second, of the last run",
    )
    add("--anyway", action="store_true", help="compare runs of different settings")


def tell(options: argparse.Namespace) -> dict[str, Any]:
    """Print the differences; return the number of figures by conclusion.

    Raises:
        RejectedError: A run or a target is missing, or the runs have different settings.
    """
    if len(options.runs) > _TWO or (len(options.runs) < _TWO and options.targets is None):
        raise RejectedError("expected two runs, or one run with --targets NAME NAME")
    first, second = opened(options.runs[0]), opened(options.runs[-1])
    apart = list(settings_apart(first.result, second.result))
    if apart and not options.anyway:
        raise RejectedError(
            "expected runs of the same settings (--anyway compares others), got "
            + "; ".join(f"{name}: {one} and {other}" for name, one, other in apart)
        )
    pairs = list(compared(first, second, options.targets))
    if not pairs:
        raise RejectedError("expected figures that both sides have, got none")
    print("\n".join(lines(pairs, apart)))  # noqa: T201 - a command's own words
    told = [each.found.telling for each in pairs if not each.invalid]
    return {
        "compared": len(told),
        **{each.value.replace(" ", "_"): told.count(each) for each in Telling},
    }


def settings_apart(first: Document, second: Document) -> Iterator[tuple[str, str, str]]:
    """Yield (name, first, second) of settings that differ between two results, without prices."""
    pages = [
        dict(flat({name: value for name, value in each["settings"].items() if name != PRICES}))
        for each in (first, second)
    ]
    for name in dict.fromkeys([*pages[0], *pages[1]]):
        one, other = (page.get(name, "not set") for page in pages)
        if one != other:
            yield name, one, other
    if first["quick"] != second["quick"]:
        yield "quick", str(first["quick"]), str(second["quick"])


def compared(first: SavedRun, second: SavedRun, targets: list[str] | None) -> Iterator[Compared]:
    """Yield the figures that both sides have.

    Args:
        first: Of the first target, if targets are named.
        second: Of the second; may be the same run.
        targets: Two names; None compares each target with the one of the same name.

    Raises:
        RejectedError: A run has no figure for its target.
    """
    for run, name in zip((first, second), targets or (), strict=False):
        if not any(each["target"] == name for each in run.result["figures"]):
            have = sorted({each["target"] for each in run.result["figures"]})
            raise RejectedError(f"expected a target of {run.result['run']}, {have}, got {name!r}")
    others = {_key(each, each["target"]): each for each in second.result["figures"]}
    for one in first.result["figures"]:
        if targets and one["target"] != targets[0]:
            continue
        other = others.get(_key(one, targets[1] if targets else one["target"]))
        if other is not None:
            flags = tuple(dict.fromkeys([*names(one), *names(other)]))
            yield Compared(one, other, difference(one["values"], other["values"]), flags)


def lines(pairs: list[Compared], apart: list[tuple[str, str, str]]) -> Iterator[str]:
    """Yield lines for people."""
    for name, one, other in apart:
        yield from wrap(f"Different settings: {name} is {one} and {other}.", WIDTH)
    everywhere = [flag for flag in pairs[0].flags if all(flag in each.flags for each in pairs)]
    if everywhere:
        yield f"All figures are flagged {', '.join(everywhere)}."
    groups: dict[str, list[Compared]] = {}
    for each in pairs:
        groups.setdefault(_measured(each), []).append(each)
    for measured, some in groups.items():
        yield measured
        wide = max(len(each.first["metric"]) for each in some)
        for each in some:
            yield from _row(each, wide, everywhere)
    tests = sum(each.found.telling is not Telling.TOO_FEW for each in pairs if not each.invalid)
    if tests:
        yield f"Mann-Whitney U, two-sided, {SIGNIFICANCE:.0%}."
        wrong = f"about {tests * SIGNIFICANCE:.1f} would look as if they did."
        yield f"Of {tests} figures that do not differ at all, {wrong}"


def _measured(each: Compared) -> str:
    one, other = each.first["target"], each.second["target"]
    targets = one if one == other else f"{one} | {other}"
    return f"{each.first['part']}, {each.first['workload']} on {targets}"


def _row(each: Compared, wide: int, everywhere: Sequence[str]) -> Sequence[str]:
    suits = scale(each.found.medians, unit_of(each.first))
    ratio = "-" if each.found.ratio is None else f"x {digits(each.found.ratio)}"
    one, other = map(suits.number, each.found.medians)
    own = [flag for flag in each.flags if flag not in everywhere]
    flags = f" [{', '.join(own)}]" if own else ""
    told = each.found.telling is not Telling.TOO_FEW and not each.invalid
    words = (f"p {each.found.p:.3f} " if told else "") + each.verdict + flags
    figures = f"{each.first['metric']:{wide}} {one:>6} | {other:>6} {suits.label:5} {ratio:6}"
    later = " " * (wide + 4)
    return wrap(f"  {figures} {words}", WIDTH, subsequent_indent=later, break_on_hyphens=False)


def _key(figure: Document, target: str) -> tuple[str, ...]:
    return (figure["part"], figure["workload"], figure["metric"], figure["unit"], target)
