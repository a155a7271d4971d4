"""BEP-23's three graphs: time to accept, time to finalise, transactions per second."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import floor
from typing import Final

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from storage.bench.report.charts.overtime import Line, key, panel, suited
from storage.bench.report.charts.style import (
    COLOURS,
    Chart,
    chart,
    figure,
    in_unit,
    label,
    legend,
)
from storage.bench.report.numbers import scale, text
from storage.bench.report.transactions import Transactions

SHARES: Final = (0.68, 0.95, 0.997)
"""Those that BEP-23 prints."""
BINS: Final = 50
_PANEL_IN: Final = 1.35
_HEAD_IN: Final = 0.7
_MARKS: Final = ", ".join(f"{100 * each:g}" for each in SHARES)


def bep23(
    title: str, found: Mapping[str, Sequence[Transactions]], places: Mapping[str, int]
) -> Iterator[Chart]:
    """Yield the graphs of one workload.

    Args:
        title: Of the workload.
        found: By target, the tables of its executions.
        places: Of each target's colour.
    """
    accepting = {
        target: [took for each in tables for _, took in each.accepted_s]
        for target, tables in found.items()
    }
    finalising = {
        target: [took for each in tables for _, took in each.committed_s]
        for target, tables in found.items()
    }
    for words, note, took_s in (
        ("time to accept", "from sent to accepted", accepting),
        ("time to finalise", "from accepted to committed, as BEP-23 counts it", finalising),
    ):
        if any(took_s.values()):
            yield _histograms(title, words, note, took_s, places)
    yield _per_second(title, found, places)


def _histograms(
    title: str,
    words: str,
    note: str,
    took_s: Mapping[str, Sequence[float]],
    places: Mapping[str, int],
) -> Chart:
    drawn = figure(_PANEL_IN * len(took_s) + _HEAD_IN)
    axes = drawn.subplots(len(took_s), 1, squeeze=False, sharex=True)[:, 0]
    longest = max(each for some in took_s.values() for each in some)
    for axis, (target, some) in zip(axes, took_s.items(), strict=True):
        _histogram(axis, some, longest, COLOURS[places[target]])
    suits = scale([longest], "s")
    in_unit(axes[-1], "x", suits)
    axes[-1].set_xlabel(suits.label)
    legend(drawn, [Patch(color=COLOURS[places[each]]) for each in took_s], list(took_s))
    caption = f"Transactions by {words}, {note}; lines at {_MARKS} %. All repetitions together."
    return chart(f"bep23-{title}-{words}", f"{title}: {words}", caption, drawn)


def _histogram(axis: Axes, took_s: Sequence[float], longest: float, colour: str) -> None:
    if took_s:
        axis.hist(took_s, bins=BINS, range=(0, longest or 1), color=colour, alpha=0.5)
        ordered = sorted(took_s)
        found = (ordered[min(floor(share * len(ordered)), len(ordered) - 1)] for share in SHARES)
        for value in dict.fromkeys(found):
            axis.axvline(value, color=colour, linewidth=1, linestyle="--")
            axis.annotate(
                text(value, "s"),
                (value, 0.98),
                xycoords=("data", "axes fraction"),
                xytext=(2, 0),
                textcoords="offset points",
                rotation=90,
                va="top",
                fontsize=9,
            )
    axis.set_xlim(left=0)
    in_unit(axis, "y", scale([1], "1"))
    axis.set_ylabel("transactions")


def _per_second(
    title: str, found: Mapping[str, Sequence[Transactions]], places: Mapping[str, int]
) -> Chart:
    drawn = figure(_PANEL_IN * 2 + _HEAD_IN)
    axes = drawn.subplots(2, 1, sharex=True)
    for axis, words in zip(axes, ("accepted", "finalised"), strict=True):
        lines = [
            _line(each, words, places[target], thick=number == 0)
            for target, tables in found.items()
            for number, each in enumerate(tables)
        ]
        panel(axis, [each for each in lines if each.seconds], suited(lines, "1/s"))
        axis.set_title(label(f"{words} per second"))
    axes[-1].set_xlabel("s since the first was sent")
    legend(drawn, [key(places[each]) for each in found], list(found))
    caption = "Transactions in each second. A line for each repetition: thick the first."
    return chart(f"bep23-{title}-rates", f"{title}: transactions per second", caption, drawn)


def _line(found: Transactions, words: str, place: int, *, thick: bool) -> Line:
    times = found.accepted_s if words == "accepted" else found.committed_s
    counted = Counter(floor(at) for at, _ in times)
    last = max(counted, default=-1)
    seconds = [float(each) for each in range(min([0, *counted]), last + 1)]
    return Line(seconds, [float(counted[floor(each)]) for each in seconds], place, thick)
