"""Definition of a scenario."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Kernel(Enum):
    """The kernel that a scenario needs."""

    RELEASE = "release"
    """That of this machine's Debian release."""
    BACKPORTS = "backports"
    """Its backports' kernel. Debian 12's own (6.1) is built without NVMe in-band authentication."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One event in the machine, and what must hold after it.

    Attributes:
        name: As in the summary.
        run: Runs it and returns what was seen, in one line; raises if something else was seen.
        limit_s: If it takes longer, it hangs.
        kernel: The kernel that it runs on.
        after: After a pass, judges on the host the results in the given directory; returns what
            was seen, or raises.
    """

    name: str
    run: Callable[[], str]
    limit_s: float = 240
    kernel: Kernel = Kernel.RELEASE
    after: Callable[[Path], str] | None = None
