"""The rounds of a workload: flagged as long as their figures have not settled."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from storage.bench.run.flags import Flag, Raised
from storage.bench.stats.steady import EXCURSION, RANGE, WINDOW, steadiness


def not_steady(values: Sequence[float], rounds: str) -> tuple[Raised, ...]:
    """Return the flag if there are enough rounds and the last ones fail.

    Args:
        values: One of each round, in the order of time.
        rounds: The word for rounds, as in `repetitions`.
    """
    found = steadiness(values)
    if found is None or found.steady:
        return ()
    why = (
        f"expected of the last {WINDOW} {rounds} a range within {RANGE:.0%} and a drift within "
        f"{EXCURSION:.0%} of their mean, got {found.range:.1%} and {found.excursion:.1%}"
    )
    return (Raised(Flag.NOT_STEADY, why),)


@dataclass(slots=True)
class Rounds:
    """The values of one step in each repetition, by figure."""

    _values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def flags(self, figure: str, value: float) -> tuple[Raised, ...]:
        """Take the value of one more repetition; return the flag if the last ones fail."""
        self._values[figure].append(value)
        return not_steady(self._values[figure], "repetitions")
