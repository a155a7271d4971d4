"""Files that are either whole and durable or not there."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.files import make_directory, sync_directory

PART_PREFIX: Final = ".part-"
"""A prefix, since some writers choose the format by the suffix."""


def create(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a new file; it appears under its name only once it is whole and durable.

    Raises:
        RejectedError: The file exists.
        UnavailableError: It cannot be written; nothing of it stays.
    """
    with replaced(path) as part, part.open("wb") as file:
        for piece in pieces:
            file.write(piece)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Give a name to write to; afterwards the file stands at `path`, durable.

    Raises:
        RejectedError: A file stands at `path` already.
        UnavailableError: It cannot be written; nothing of it stays.
    """
    if path.exists():
        raise RejectedError(f"file {path} exists and is not overwritten")
    make_directory(path.parent)
    part = path.with_name(PART_PREFIX + path.name)
    try:
        yield part
        _sync_file(part)
        part.rename(path)
        sync_directory(path.parent)
    except OSError as error:
        raise UnavailableError(f"file {path} cannot be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
