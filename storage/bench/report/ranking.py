"""Which target has the better figure, and whether it is ahead by more than noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage.bench.report.flagged import names
from storage.bench.run.document import Document
from storage.bench.run.flags import Flag
from storage.bench.run.outcome import Better
from storage.bench.stats.difference import Difference, Telling, difference

UNFIT: Final = {Flag.INVALID, Flag.CACHED, Flag.OVER_LINK_RATE}
"""Flags of figures that cannot be compared."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """A figure of some targets.

    Attributes:
        found: The best one first.
        apart: How the first two differ, as a ratio of the first; None for one target.
    """

    found: Sequence[Document]
    apart: Difference | None

    @property
    def ahead(self) -> str:
        """The target that is ahead by more than noise; empty if none is."""
        if self.apart is None or self.apart.telling is not Telling.MORE_THAN_NOISE:
            return ""
        return str(self.found[0]["target"])


def ranking(found: Sequence[Document]) -> Ranking | None:
    """Rank several targets by a figure; None if none is fit, or no value of it is better."""
    fit = [each for each in found if not UNFIT & set(names(each))]
    if not fit or fit[0]["better"] == Better.NEITHER:
        return None
    fit.sort(key=lambda each: each["median"], reverse=fit[0]["better"] == Better.HIGHER)
    return Ranking(fit, difference(fit[1]["values"], fit[0]["values"]) if len(fit) > 1 else None)
