"""A directory of a target for the time of a run: empty when it begins, gone when it ends."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.files import disk_errors, locked, make_directory
from storage.bench.leftovers import end_leftovers

NAME: Final = "wayseal-bench.work"
"""What a benchmark makes in the directory of a target; nothing else there is touched."""
_MARK: Final = "made-by-wayseal-bench"


@contextmanager
def workplace(target: Path) -> Iterator[Path]:
    """Make a directory of ours inside a target's, and remove it at the end.

    What a killed run left, files and servers, is ended and removed first.

    Raises:
        RejectedError: The target is no directory, or something of that name there is not ours.
        UnavailableError: Another run works there, or the medium failed.
    """
    if not target.is_dir():
        raise RejectedError(f"expected a directory to measure in, got {target}")
    work = target / NAME
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
    """Remove what killed runs left in their own folders, where they measured for want of a target.

    Args:
        runs: Has a folder for each run; it need not exist.
    """
    for mark in runs.glob(f"*/{NAME}/{_MARK}"):
        # Another run works there; or it does not go, and the next one tries again.
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
