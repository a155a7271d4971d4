"""Finds the processes that serve a directory: each has a pid file there, written at its start.

What a kill left running is found again by these files. A number alone proves
nothing, since systems use them again: the process must be one of our commands,
and work in that very directory.
"""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import OWNER_ONLY, write_file

SERVICES: Final = ("gateway", "node")
"""What an appliance runs, in the order in which it is stopped."""
STOP_TIMEOUT_S: Final = 20
KILL_TIMEOUT_S: Final = 5
PID_BYTES_MAX: Final = 20
POLL_S: Final = 0.1


def pid_file(directory: Path, name: str) -> Path:
    """Return the pid file of the service `name`."""
    return directory / f"{name}.pid"


def note(path: Path, pid: int) -> None:
    """Write a pid file atomically.

    Raises:
        UnavailableError: The medium failed.
    """
    write_file(path, b"%d\n" % pid, temporary=path.with_suffix(".pid.new"), mode=OWNER_ONLY)


def running(directory: Path) -> dict[str, int]:
    """Return the pids of the services that run in a directory, in the order of stopping.

    Raises:
        RejectedError: A pid file is damaged.
        UnavailableError: It cannot be read.
    """
    pids = {name: _read(pid_file(directory, name)) for name in SERVICES}
    return {name: pid for name, pid in pids.items() if pid and _works_in(pid, directory)}


def stop(directory: Path) -> dict[str, int]:
    """Stop the services of a directory, wait until they are gone, and return their pids.

    Raises:
        RejectedError: A pid file is damaged.
        UnavailableError: A process cannot be stopped.
    """
    found = running(directory)
    for name, pid in found.items():
        if not _end(pid, directory, signal.SIGTERM, STOP_TIMEOUT_S) and not _end(
            pid, directory, signal.SIGKILL, KILL_TIMEOUT_S
        ):
            raise UnavailableError(f"the {name}, process {pid}, runs on after SIGKILL")
    for name in SERVICES:
        pid_file(directory, name).unlink(missing_ok=True)
    return found


def _read(path: Path) -> int | None:
    try:
        with path.open("rb") as file:
            text = file.read(PID_BYTES_MAX)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnavailableError(f"pid file {path}: {error}") from error
    if not text.strip().isdigit():
        raise RejectedError(
            f"pid file {path}: expected a process id, got {text!r}; end the processes "
            f"that `pgrep -af {path.parent}` names, then remove the file"
        )
    return int(text)


def _works_in(pid: int, directory: Path) -> bool:
    """Return whether a process is one of our commands with a path in that directory."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"wayseal-" in command and b"\0" + os.fsencode(f"{directory}{os.sep}") in command


def _end(pid: int, directory: Path, number: signal.Signals, timeout_s: float) -> bool:
    """Send a signal; return whether the process ended in time."""
    try:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    except PermissionError as error:
        raise UnavailableError(f"process {pid} belongs to another user: {error}") from error
    deadline = time.monotonic() + timeout_s
    while _works_in(pid, directory):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True
