"""The meanings of flags, for a page that stands alone. Reference: docs/benchmarks.md, Flags."""

from collections.abc import Iterator, Sequence
from typing import Final

from storage.bench.run.document import Document
from storage.bench.run.flags import Flag

MEANINGS: Final[dict[str, str]] = {
    Flag.NOT_STEADY: "the device had not settled: its rate still changed between the rounds",
    Flag.CACHED: "a cache may have answered instead of the device",
    Flag.OVER_LINK_RATE: "more than the link to the device can carry: something else answered",
    Flag.THROTTLED: "the machine or the device slowed itself down because of heat or power",
    Flag.INVALID: "do not use it: the bytes read back differ from those written, or a step failed",
    Flag.BEHIND_SCHEDULE: "less than 95 % of the given rate was reached",
    Flag.FEW_SAMPLES: "a percentile with fewer than 10 operations above it",
    Flag.FEW_REPETITIONS: "fewer than 6 values: the interval has less than 95 % confidence",
    Flag.NOT_PRECONDITIONED: "the device was used as it was found: not conformant with SNIA PTS",
    Flag.UNKNOWN_PLACEMENT: "the drive of the data is unknown",
    Flag.AT_CONSENSUS_CEILING: "the consensus settings limit the rate, not storage or CPU",
    Flag.AT_LOADER_LIMIT: "the benchmark's own client may limit the rate, not the ledger",
    Flag.NOISY_NEIGHBOURS: "other virtual machines got CPU time that this one wanted",
    Flag.REFUSED: "the ledger put some transactions into blocks and refused them: the rest counts",
}
MOST: Final = 0.75
"""Share of a table's figures: a flag on more of them is shown once, below the table."""
UNKNOWN: Final = "unknown to this version: a reason for doubt"


def meanings(figures: Sequence[Document]) -> Iterator[tuple[str, str, int]]:
    """Yield each flag with its meaning and the number of figures that have it."""
    raised = [name for each in figures for name in names(each)]
    for name in dict.fromkeys(raised):
        yield name, MEANINGS.get(name, UNKNOWN), raised.count(name)


def names(figure: Document) -> list[str]:
    """Return the flags of a figure, each once."""
    return list(dict.fromkeys(each["flag"] for each in figure["flags"]))


def everywhere(figures: Sequence[Document]) -> list[Document]:
    """Return the flags that all figures have for the same reason."""
    first = figures[0]["flags"] if len(figures) > 1 else []
    return [flag for flag in first if all(flag in each["flags"] for each in figures)]


def without(figures: Sequence[Document], flags: Sequence[Document]) -> list[Document]:
    """Return figures without some flags."""
    return [
        {**each, "flags": [flag for flag in each["flags"] if flag not in flags]} for each in figures
    ]
