"""The file operations that must survive a power cut, and what their failures mean.

A file is durable after its own fsync; its name is durable after the fsync of
the directory that holds it. Every failure of the medium is an
`UnavailableError`: with room, or a healthy disk, the same call succeeds.
"""

import errno
import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError

OWNER_ONLY: Final = 0o600


@contextmanager
def disk_errors(action: str, path: Path) -> Iterator[None]:
    """Turn an OSError into an UnavailableError that says what was tried, where, and why not.

    Args:
        action: What is done to the path, as in `write 1048576 bytes to`.
        path: File or directory.
    """
    try:
        yield
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "OSError")
        raise UnavailableError(
            f"cannot {action} {path}: {error.strerror or error} ({name})"
        ) from error


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directory(path: Path) -> None:
    """Make a directory and its missing parents, each of them durable; an existing one is fine.

    Raises:
        UnavailableError: It cannot be made.
    """
    with disk_errors("make directory", path):
        if path.is_dir():
            return
        make_directory(path.parent)
        path.mkdir(exist_ok=True)
        sync_directory(path.parent)


def write_all(descriptor: int, parts: Sequence[bytes | memoryview]) -> None:
    """Write the parts one after the other; the kernel may take them in several bites."""
    waiting = [memoryview(part) for part in parts if len(part)]
    while waiting:
        taken = os.writev(descriptor, waiting)
        while waiting and taken >= len(waiting[0]):
            taken -= len(waiting.pop(0))
        if taken:
            waiting[0] = waiting[0][taken:]


def write_file(path: Path, data: bytes, *, temporary: Path, mode: int) -> None:
    """Replace the file at `path` as a whole: after a power cut it is the old one or the new one.

    Args:
        path: Where the file shall be; its directory is made where it is missing.
        data: All of its bytes.
        temporary: A path on the same file system that nobody else uses meanwhile.
        mode: Who may read and write it, should it be new.

    Raises:
        UnavailableError: The medium failed or is full; `path` is as it was.
    """
    make_directory(path.parent)
    with disk_errors(f"write {len(data)} bytes to", path):
        try:
            _write_synced(temporary, data, mode)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        sync_directory(path.parent)


@contextmanager
def locked(path: Path, otherwise: str) -> Iterator[None]:
    """Hold the lock file at `path`; the kernel frees it however the process ends.

    Args:
        path: Made where it is missing, and left behind.
        otherwise: Says who else holds it, should it be taken.

    Raises:
        UnavailableError: Another process holds it, or it cannot be made.
    """
    with disk_errors("lock", path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
    try:
        with disk_errors("lock", path):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UnavailableError(f"{otherwise}: it holds {path}") from error
        yield
    finally:
        os.close(descriptor)


def _write_synced(path: Path, data: bytes, mode: int) -> None:
    path.unlink(missing_ok=True)  # left over from a kill, with whatever mode it had
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        write_all(descriptor, [data])
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
