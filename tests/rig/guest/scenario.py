"""What a scenario is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing that happens to the machine, and what must be so then.

    Attributes:
        name: As the summary has it.
        run: Does it and returns what was seen, in one line; raises what was seen instead.
        limit_s: It is hung when it takes longer.
        after: Judges on the host what a scenario that passed left in the results, whose directory
            it gets; returns what more was seen, or raises it.
    """

    name: str
    run: Callable[[], str]
    limit_s: float = 240
    after: Callable[[Path], str] | None = None
