"""Flags: doubts about a figure that its readers must know."""

from dataclasses import dataclass
from enum import StrEnum


class Flag(StrEnum):
    """A rule of the method that a result broke. Source: docs/benchmarks.md, Flags."""

    NOT_STEADY = "NOT STEADY"
    CACHED = "CACHED"
    OVER_LINK_RATE = "OVER LINK RATE"
    THROTTLED = "THROTTLED"
    INVALID = "INVALID"
    BEHIND_SCHEDULE = "BEHIND SCHEDULE"
    FEW_SAMPLES = "FEW SAMPLES"
    FEW_REPETITIONS = "FEW REPETITIONS"
    NOT_PRECONDITIONED = "NOT PRECONDITIONED"
    UNKNOWN_PLACEMENT = "UNKNOWN PLACEMENT"
    AT_CONSENSUS_CEILING = "AT CONSENSUS CEILING"
    AT_LOADER_LIMIT = "AT LOADER LIMIT"
    NOISY_NEIGHBOURS = "NOISY NEIGHBOURS"
    REFUSED = "REFUSED"


@dataclass(frozen=True, slots=True)
class Raised:
    """One flag on one figure.

    Attributes:
        why: Expected and actual, in words.
    """

    flag: Flag
    why: str
