"""Directories of a run on no target: in the system's temporary folder, found again after a kill."""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Final

from storage.bench.leftovers import end_leftovers
from storage.bench.procfs import began_ticks

_PREFIX: Final = "wayseal-bench"
_NAME: Final = re.compile(_PREFIX + r"-([0-9]+)-([0-9]+)-\w+")
"""Process, when that began, and what tells its directories apart."""


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a directory, and remove it with all that is in it."""
    pid = os.getpid()
    with TemporaryDirectory(prefix=f"{_PREFIX}-{pid}-{began_ticks(pid)}-") as made:
        yield Path(made)


def remove_left_scratch() -> None:
    """Remove such directories of processes that are gone, and end whatever works in them.

    Raises:
        UnavailableError: A process that works there does not go.
    """
    for path in Path(gettempdir()).iterdir():
        if _is_left_over(path):
            end_leftovers(path)
            shutil.rmtree(path, ignore_errors=True)  # what is left is tried again by the next run


def _is_left_over(path: Path) -> bool:
    found = _NAME.fullmatch(path.name)
    if found is None:
        return False
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False  # another run that begins now was first
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return False
    return began_ticks(int(found[1])) != int(found[2])
