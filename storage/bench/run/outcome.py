"""The outcome of one execution of a workload on a target."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from storage.bench.run.flags import Raised

POWER: Final = "power-"
ENERGY: Final = "energy-"
"""Beginnings of metric names. The source follows, so that sources are never compared."""
PER_JOULE: Final = "-per-joule-"


class Better(StrEnum):
    """Which way a figure is better."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Metric:
    """The name, unit and direction of a figure.

    Attributes:
        name: Words with dashes, as in `write-mean`.
        unit: SI or a count per SI unit: `B/s`, `1/s`, `s`, `J`, `W`, `1`.
    """

    name: str
    unit: str
    better: Better = Better.HIGHER


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A bound that the figure cannot pass, for a reason outside the thing measured.

    Attributes:
        value: In the metric's unit.
        why: As in `SATA 6.0 Gb/s, 8b/10b`.
    """

    value: float
    why: str


@dataclass(frozen=True, slots=True)
class Observation:
    """One figure of one execution."""

    metric: Metric
    value: float
    ceiling: Ceiling | None = None
    flags: tuple[Raised, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """A figure over time.

    Attributes:
        columns: Names with their units, as in `written_bytes_per_s`.
        rows: One for each sample; the first column is seconds since the execution began.
    """

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Latencies:
    """How long each operation took.

    Attributes:
        name: As in `write-response`.
        hdr: HdrHistogram V2 compressed and base64-encoded; values are microseconds.
        intended: Counted from the intended start of each operation: no coordinated omission.
    """

    name: str
    hdr: str
    intended: bool


@dataclass(frozen=True, slots=True)
class Work:
    """Amount of work, to divide CPU time by; 0 where a kind does not apply.

    Attributes:
        bytes_moved: Of the caller's data, written and read.
        transactions: Committed.
    """

    bytes_moved: int = 0
    transactions: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that one execution measured.

    Attributes:
        attachments: Raw output of tools, by file name, kept as it is.
        work: Done while the machine counted, see `Place.counted`.
    """

    observations: Sequence[Observation]
    series: Sequence[Series] = ()
    latencies: Sequence[Latencies] = ()
    attachments: dict[str, bytes] = field(default_factory=dict)
    work: Work = field(default=Work())
