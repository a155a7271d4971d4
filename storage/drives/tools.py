"""External tools, run with a time limit that holds even if a drive does not answer."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from contracts.errors import UnavailableError

END_TIMEOUT_S: Final = 1.0
"""Time for a killed tool to end. A tool that waits for a drive cannot end and is left behind."""
_ALSO: Final = "/usr/sbin:/sbin"
"""Has these tools, but is not in every PATH."""
_EXCERPT_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Said:
    """The output of a tool that ended.

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
        """Return the first line of its error message; its usage may follow."""
        words = (self.errors.strip() or self.out.strip()).partition("\n")[0]
        return words[:_EXCERPT_CHARS] or f"exit status {self.status}"


Run = Callable[[Sequence[str], float], Said]
"""Runs a tool, given name, arguments and the time limit in seconds.

Raises:
    UnavailableError: The tool is not installed, or did not end in time.
"""


def run_tool(command: Sequence[str], limit_s: float) -> Said:
    """Run a tool until it ends; after the time limit, kill it and all its children.

    Raises:
        UnavailableError: The tool is not installed, or did not end in time.
    """
    name = command[0]
    program = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{_ALSO}")
    if program is None:
        raise UnavailableError(f"{name} is not installed")
    started: list[subprocess.Popen[str]] = []
    try:
        # Python handles signals in the main thread only: in another one, no signal can come after
        # the tool has started and before its process is known here.
        with ThreadPoolExecutor(1) as starter:
            starter.submit(lambda: started.append(_start([program, *command[1:]]))).result()
        out, errors = started[0].communicate(timeout=limit_s)
    except subprocess.TimeoutExpired as error:
        _kill(started[0])
        raise UnavailableError(f"{name} did not answer in {limit_s:g} s") from error
    except BaseException:  # a signal ends this thread's wait: end the tool too
        for process in started:
            _kill(process)
        raise
    return Said(started[0].returncode, out, errors)


def _start(command: Sequence[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(  # noqa: S603 - a fixed list of tools, no shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,
        text=True,
        errors="replace",
    )


def _kill(process: "subprocess.Popen[str]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # A tool in the kernel's uninterruptible wait dies only when the drive answers; it is not waited
    # for, and init adopts it.
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=END_TIMEOUT_S)
