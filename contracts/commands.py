"""What our commands have in common: exit statuses, and one line that says why it did not work."""

import sys
from typing import Final

WORKED: Final = 0
FAILED: Final = 1
WRONG_USAGE: Final = 2


def complain(command: str, problem: object) -> None:
    """Say on standard error why `command` did not work."""
    sys.stderr.write(f"{command}: {problem}\n")
