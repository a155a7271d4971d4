"""Reports of `wayseal-bench`, in a folder that its runs are written to."""

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from contracts.errors import UnavailableError

REPORT: Final = "report.html"
"""What `wayseal-bench` calls the page of a run."""
REPORT_BYTES_MAX: Final = 64 << 20
RUNS_MAX: Final = 10_000
"""Runs of one folder that are listed; the names begin with the time, and the newest count."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """A run with a report.

    Attributes:
        name: Of its folder.
        written_ms: When the report was written, UTC.
        size: Of the report, bytes.
    """

    name: str
    written_ms: int
    size: int


def runs_in(folder: Path | None) -> list[BenchmarkRun]:
    """Return the runs that have a report, the newest name first; none before the first run.

    Raises:
        UnavailableError: The folder cannot be read.
    """
    if folder is None:
        return []
    try:
        names = sorted((each.name for each in folder.iterdir()), reverse=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UnavailableError(f"benchmarks.folder {folder}: {error.strerror}") from error
    runs = [name for name in names if _NAME.fullmatch(name)][:RUNS_MAX]
    found = ((name, _report(folder, name)) for name in runs)
    return [
        BenchmarkRun(name, told.st_mtime_ns // 1_000_000, told.st_size)
        for name, told in found
        if told is not None
    ]


def report_of(folder: Path | None, name: str) -> bytes | None:
    """Return the page of a run; None if there is no such run, or its report is too large.

    Raises:
        UnavailableError: It cannot be read.
    """
    if folder is None or not _NAME.fullmatch(name) or _report(folder, name) is None:
        return None
    try:
        with _opened(folder, name) as report:
            return report.read(REPORT_BYTES_MAX)
    except OSError as error:
        raise UnavailableError(f"report of {name}: {error.strerror}") from error


def _opened(folder: Path, name: str) -> BinaryIO:
    """Open a report that was looked at before: who may write there could have swapped it since."""
    run = os.open(folder / name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        # O_NONBLOCK: a pipe in its place would keep this thread for ever.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        return os.fdopen(os.open(REPORT, flags, dir_fd=run), "rb")
    finally:
        os.close(run)


def _report(folder: Path, name: str) -> os.stat_result | None:
    """Return what the system says of a run's report; None if it has none.

    A link is not followed: it could show any file that the gateway may read.
    """
    try:
        inside = stat.S_ISDIR((folder / name).lstat().st_mode)
        told = (folder / name / REPORT).lstat()
    except OSError:
        return None
    small = stat.S_ISREG(told.st_mode) and told.st_size <= REPORT_BYTES_MAX
    return told if inside and small else None
