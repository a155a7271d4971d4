"""What a benchmark that was killed left running: found by its directory, and ended."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError

KILL_TIMEOUT_S: Final = 10
_OURS: Final = (b"wayseal-", b"org.apache.cassandra.", b"fio\0")
"""In the command line of whatever a benchmark starts and may leave."""
_POLL_S: Final = 0.05


def end_leftovers(directory: Path) -> list[int]:
    """Kill servers that work in a directory; return their process ids once they are gone.

    Whoever calls it holds the directory's lock, so that they are nobody's.

    Raises:
        UnavailableError: One does not go, or belongs to another user.
    """
    found = [int(path.name) for path in Path("/proc").glob("[0-9]*") if _works_in(path, directory)]
    for pid in found:
        with suppress(ProcessLookupError):
            try:
                os.kill(pid, signal.SIGKILL)
            except PermissionError as error:
                raise UnavailableError(f"process {pid} works in {directory}: {error}") from error
    end_s = time.monotonic() + KILL_TIMEOUT_S
    while any(_works_in(Path("/proc") / str(pid), directory) for pid in found):
        if time.monotonic() > end_s:
            raise UnavailableError(f"one of the processes {found} runs on after SIGKILL")
        time.sleep(_POLL_S)
    return found


def _works_in(process: Path, directory: Path) -> bool:
    try:
        command = (process / "cmdline").read_bytes()
    except OSError:
        return False
    return os.fsencode(f"{directory}{os.sep}") in command and any(name in command for name in _OURS)
