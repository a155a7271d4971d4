"""What must be reached, and how what was reached stands beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Figures = dict[str, float]
"""Values by the names that the JSON object has."""
REAL_NODE_PER_CPU_S: Final = 130
"""Transactions per second of CPU that a Sawtooth 1.2.6 node committed on two such cores."""


@dataclass(frozen=True, slots=True)
class Target:
    """One figure's bound.

    Attributes:
        words: What it is.
        bound: The least, or with `most` the most, that it may be.
        unit: Of both.
        most: Whether less is better.
    """

    words: str
    bound: float
    unit: str
    most: bool = False

    def met_by(self, value: float) -> bool:
        """Say whether a value is good enough."""
        return value <= self.bound if self.most else value >= self.bound


TARGETS: Final[Mapping[str, Target]] = {
    "readings_per_s": Target("readings, one per transaction, batches of 100", 5_000, "/s"),
    "readings_per_s_runs": Target("readings in runs of 60 per transaction", 50_000, "/s"),
    "single_batches_per_s": Target("batches of one transaction, one per POST", 1_500, "/s"),
    "p50_ms": Target("POST to COMMITTED at 500 readings/s, median", 50, "ms", most=True),
    "p99_ms": Target("POST to COMMITTED at 500 readings/s, 99 %", 250, "ms", most=True),
    "bytes_per_reading": Target("disk per reading, ledger and state", 1_500, "bytes", most=True),
    "restart_s": Target("restart", 5, "s", most=True),
    "rss_mb": Target("resident after the restart", 400, "MB", most=True),
    "catchup_per_s": Target("readings that an index takes from /blocks", 20_000, "/s"),
}


def missed(figures: Mapping[str, float]) -> list[str]:
    """Return the names of the figures that are not good enough."""
    return [
        name
        for name, target in TARGETS.items()
        if name in figures and not target.met_by(figures[name])
    ]


def row(name: str, value: float) -> str:
    """Return one line of the table for people."""
    target = TARGETS.get(name)
    if target is None:
        return f"{name:28} {value:>12,.2f}"
    word = "at most" if target.most else "at least"
    verdict = "ok" if target.met_by(value) else "MISSED"
    return (
        f"{name:28} {value:>12,.2f} {target.unit:6} {word} {target.bound:,g}: {verdict:6} "
        f"{target.words}"
    )
