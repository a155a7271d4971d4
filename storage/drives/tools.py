"""Other people's tools, run with a time limit that holds even if a drive does not answer."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from contracts.errors import UnavailableError

END_TIMEOUT_S: Final = 1.0
"""Time for a killed tool to end. One that waits for a drive cannot end; it is left behind."""
_ALSO: Final = "/usr/sbin:/sbin"
"""Not on everyone's PATH, but where these tools are."""
_EXCERPT_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool said until its end.

    Attributes:
        status: Its exit status.
        out: Standard output.
        errors: Standard error.
    """

    status: int
    out: str
    errors: str = ""

    @property
    def complaint(self) -> str:
        """Return the first line of what it complained of; its usage may follow that."""
        words = (self.errors.strip() or self.out.strip()).partition("\n")[0]
        return words[:_EXCERPT_CHARS] or f"exit status {self.status}"


Run = Callable[[Sequence[str], float], Said]
"""Runs a tool, by name and arguments, for so many seconds at most.

Raises:
    UnavailableError: The tool is not there, or did not end in time.
"""


def run_tool(command: Sequence[str], limit_s: float) -> Said:
    """Run a tool until it ends; kill it and all that it started when the time is over.

    Raises:
        UnavailableError: The tool is not there, or did not end in time.
    """
    name = command[0]
    program = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{_ALSO}")
    if program is None:
        raise UnavailableError(f"{name} is not installed")
    process = subprocess.Popen(  # noqa: S603 - a fixed list of tools, no shell
        [program, *command[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        out, errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired as error:
        _kill(process)
        raise UnavailableError(f"{name} did not answer in {limit_s:g} s") from error
    except BaseException:  # a signal ends whoever waits here: the tool goes with them
        _kill(process)
        raise
    return Said(process.returncode, out, errors)


def _kill(process: "subprocess.Popen[str]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # In the kernel's uninterruptible wait for a drive it dies only when the drive answers; nobody
    # waits for that here, and init takes it in.
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=END_TIMEOUT_S)
