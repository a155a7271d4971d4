"""Files that are either whole and durable or not there."""

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError

PART_PREFIX: Final = ".part-"
"""A prefix, since some writers choose the format by the suffix."""


def make_directory(path: Path) -> None:
    """Make the folder `path` and those above it, durably; one that exists is kept.

    Raises:
        UnavailableError: It cannot be made.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        for folder in missing:
            sync_directory(folder.parent)
    except OSError as error:
        raise UnavailableError(f"folder {path}: {error}") from error


def sync_directory(path: Path) -> None:
    """Make the entries of the folder `path` survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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


@contextlib.contextmanager
def locked(path: Path, purpose: str) -> Iterator[None]:
    """Hold the lock file at `path`; the kernel frees it however the process ends.

    Raises:
        UnavailableError: Another process holds it, or it cannot be made.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise UnavailableError(f"lock {path}: {error}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise UnavailableError(f"another wayseal-device is {purpose}: it holds {path}") from error
    finally:
        os.close(descriptor)


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
