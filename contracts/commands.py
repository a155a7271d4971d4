"""What our commands have in common: exit statuses, output, one line that says what went wrong."""

import io
import sys
from typing import Final

WORKED: Final = 0
FAILED: Final = 1
WRONG_USAGE: Final = 2
PROVISIONAL: Final = 3
"""All arrived, and the truck keeps its copy: a final receipt is still to come."""


def write_for_any_terminal() -> None:
    """From here on, escape what standard output or error cannot show, and go on.

    Every `main()` begins with it: names on a ledger are anyone's, a terminal need not be UTF-8.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None, without a terminal; else a test's
            stream.reconfigure(errors="backslashreplace")


def complain(command: str, problem: object) -> None:
    """Say on standard error why `command` did not work."""
    sys.stderr.write(f"{command}: {problem}\n")
