"""Directories of a run: workplaces on targets, scratch elsewhere, and what a killed run left."""

import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Final

import psutil

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import disk_errors, locked, make_directory

WORKPLACE: Final = "wayseal-bench.work"
"""The directory that a benchmark makes on a target; nothing else there is touched."""
KILL_TIMEOUT_S: Final = 10
_MARK: Final = "made-by-wayseal-bench"
_PREFIX: Final = "wayseal-bench"
_SCRATCH: Final = re.compile(_PREFIX + r"-([0-9]+)-([0-9]+)-\w+")
"""Process, start of that process, and a part that tells its directories apart."""
_OURS: Final = ("wayseal-", "org.apache.cassandra.", "fio\0")
"""Parts of the command lines of all processes that a benchmark starts and may leave."""
_POLL_S: Final = 0.05


@contextmanager
def workplace(target: Path) -> Iterator[Path]:
    """Make a directory of the benchmark inside a target's, and remove it at the end.

    Files and servers that a killed run left there are removed first.

    Raises:
        RejectedError: The target is not a directory, or another program made the one inside it.
        UnavailableError: Another run works there, or the medium failed.
    """
    if not target.is_dir():
        raise RejectedError(f"expected a directory to measure in, got {target}")
    work = target / WORKPLACE
    if work.exists() and not (work / _MARK).exists() and any(work.iterdir()):
        raise RejectedError(f"{work} was not made by wayseal-bench: move it away")
    make_directory(work)
    with disk_errors("write into", work):
        (work / _MARK).touch()
    with locked(work / _MARK, f"another wayseal-bench measures in {target}"):
        end_leftovers(work)
        _clear(work)
        try:
            yield work
        finally:
            _clear(work)
            with disk_errors("remove", work):
                shutil.rmtree(work)


def remove_left_in(runs: Path) -> None:
    """Remove the workplaces that killed runs left in their own folders: they named no target.

    Args:
        runs: Has a folder for each run; may be missing.
    """
    for mark in runs.glob(f"*/{WORKPLACE}/{_MARK}"):
        # A workplace that another run uses, or that cannot be removed now, is left to a later run.
        with suppress(UnavailableError), workplace(mark.parent.parent):
            pass


def _clear(work: Path) -> None:
    with disk_errors("empty", work):
        for path in work.iterdir():
            if path.name == _MARK:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a directory on no target; remove it with all its content at the end."""
    pid = os.getpid()
    with TemporaryDirectory(prefix=f"{_PREFIX}-{pid}-{began_ticks(pid)}-") as made:
        yield Path(made)


def remove_left_scratch() -> None:
    """Remove the scratch directories of processes that ended, and kill servers that work in them.

    Raises:
        UnavailableError: A server there survives its kill.
    """
    for path in Path(gettempdir()).iterdir():
        if _is_left_over(path):
            end_leftovers(path)
            shutil.rmtree(path, ignore_errors=True)  # the next run tries again


def _is_left_over(path: Path) -> bool:
    found = _SCRATCH.fullmatch(path.name)
    if found is None:
        return False
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False  # another run that begins now was first
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return False
    return began_ticks(int(found[1])) != int(found[2])


def began_ticks(pid: int) -> int | None:
    """Return when a process began, in clock ticks since the boot; None if it does not exist.

    psutil adds the time of the boot to it, which moves with the clock of the machine.
    Source: proc_pid_stat(5), field 22.
    """
    try:
        # The second field is the name, which may contain anything, so count from its end.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[19])


def end_leftovers(directory: Path) -> list[int]:
    """Kill servers that work in a directory; return their process ids once they are gone.

    The caller holds the directory's lock, so these servers belong to a run that was killed.

    Raises:
        UnavailableError: A server survives its kill, or belongs to another user.
    """
    found = [process for process in psutil.process_iter() if _works_in(process, directory)]
    for process in found:
        with suppress(psutil.NoSuchProcess):
            try:
                process.kill()
            except psutil.AccessDenied as error:
                raise UnavailableError(
                    f"process {process.pid} works in {directory}: {error}"
                ) from error
    end_s = time.monotonic() + KILL_TIMEOUT_S
    while any(_works_in(process, directory) for process in found):
        if time.monotonic() > end_s:
            raise UnavailableError(
                f"one of the processes {[process.pid for process in found]} runs on after SIGKILL"
            )
        time.sleep(_POLL_S)
    return [process.pid for process in found]


def _works_in(process: psutil.Process, directory: Path) -> bool:
    try:
        command = "\0".join(process.cmdline()) + "\0"
    except psutil.Error:  # it ended, or is another user's
        return False
    return f"{directory}{os.sep}" in command and any(name in command for name in _OURS)
