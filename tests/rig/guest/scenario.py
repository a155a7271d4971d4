"""What a scenario is."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing that happens to the machine, and what must be so then.

    Attributes:
        name: As the summary has it.
        limit_s: It is hung when it takes longer.
        run: Does it and returns what was seen, in one line; raises what was seen instead.
    """

    name: str
    limit_s: float
    run: Callable[[], str]
