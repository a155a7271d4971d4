"""An index that was dropped and is being made again from the ledger."""

from dataclasses import dataclass

from gateway.worker import CountingError


class RebuildingError(CountingError):
    """The index is being made again from the ledger."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """An index that is being made again.

    Attributes:
        reason: Why.
        since_ms: Since when, ms since the epoch.
        of: Number of the ledger's newest block; None before the ledger answered.
    """

    reason: str
    since_ms: int
    of: int | None = None
