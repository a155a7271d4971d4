"""File operations that survive a power cut.

A file is durable after its own fsync; its name is durable after the fsync of
its directory. Every failure of the medium is an `UnavailableError`: with room
or a healthy disk, the same call succeeds.
"""

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError

OWNER_ONLY: Final = 0o600
GROUP_AND_OTHERS: Final = 0o077
PARENT_MODE: Final = 0o755
PART_PREFIX: Final = ".part-"
"""A prefix, since some writers choose the format by the suffix."""


@contextmanager
def disk_errors(action: str, path: Path) -> Iterator[None]:
    """Turn an OSError into an UnavailableError that says what failed, where, and why.

    Args:
        action: What is done to the path, such as `write 1048576 bytes to`.
        path: File or directory.
    """
    try:
        yield
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "OSError")
        raise UnavailableError(
            f"cannot {action} {path}: {error.strerror or error} ({name})"
        ) from error


def check_private(what: str, path: Path) -> None:
    """Check that nobody but its owner may use a file with a secret, as ssh does for its keys.

    Args:
        what: Names the file's kind in the message.
        path: The file.

    Raises:
        RejectedError: Group or others may read, write or run it.
        OSError: It cannot be examined.
    """
    mode = path.stat().st_mode & 0o777
    if mode & GROUP_AND_OTHERS:
        raise RejectedError(
            f"{what} {path}: expected a file for its owner alone, got mode {mode:04o}, so others "
            f"may have copied it; if they have not: chmod 600 {path}"
        )


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directory(path: Path) -> None:
    """Make a directory and its missing parents, each durable; it may exist.

    It has the rights that the umask leaves; `make_parents` says which its parents have.

    Raises:
        UnavailableError: The directory cannot be made.
    """
    with disk_errors("make directory", path):
        if path.is_dir():
            return
    make_parents(path)
    _make_one(path)


def make_parents(path: Path) -> None:
    """Make the missing directories above a path, each durable.

    Each has the rights that the umask leaves, unless root makes it in its own directory
    through which all may pass: there it is open too, since services of other users use what is
    below it.

    Raises:
        UnavailableError: A directory cannot be made.
    """
    with disk_errors("make the directories above", path):
        missing = [each for each in reversed(path.parents) if not each.is_dir()]
    for parent in missing:
        _make_one(parent)
        with disk_errors("open to all", parent):
            if parent.stat().st_uid == os.geteuid() == 0 and parent.parent.stat().st_mode & 1:
                parent.chmod(PARENT_MODE)


def write_all(descriptor: int, parts: Sequence[bytes | memoryview]) -> None:
    """Write the parts one after the other, in as many calls as the kernel needs."""
    waiting = [memoryview(part) for part in parts if len(part)]
    while waiting:
        taken = os.writev(descriptor, waiting)
        while waiting and taken >= len(waiting[0]):
            taken -= len(waiting.pop(0))
        if taken:
            waiting[0] = waiting[0][taken:]


def write_file(path: Path, data: bytes, *, temporary: Path, mode: int) -> None:
    """Replace the file at `path` as a whole: after a power cut it is the old file or the new one.

    Args:
        path: The file; a missing directory is made.
        data: All of its bytes.
        temporary: A path on the same file system that nobody else uses.
        mode: Permissions of the file, whatever the umask is.

    Raises:
        UnavailableError: The medium failed or is full; `path` is unchanged.
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


def create(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a new file; it appears at `path` only once it is whole and durable.

    Raises:
        RejectedError: The file exists.
        UnavailableError: It cannot be written; nothing of it stays.
    """
    with created(path) as part, part.open("wb") as file:
        for piece in pieces:
            file.write(piece)


@contextmanager
def created(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; after the block the file stands at `path`, durable.

    Raises:
        RejectedError: The file exists.
        UnavailableError: It cannot be written; nothing of it stays.
    """
    if path.exists():
        raise RejectedError(f"file {path} exists and is not overwritten")
    make_directory(path.parent)
    part = path.with_name(PART_PREFIX + path.name)
    try:
        with disk_errors("write", path):
            yield part
            give_to_owner_of(path.parent, part)
            _sync_file(part)
            part.rename(path)
            sync_directory(path.parent)
    finally:
        part.unlink(missing_ok=True)


def give_to_owner_of(directory: Path, made: int | Path) -> None:
    """Let the owner of a directory use what root has just made in it; for others, do nothing.

    Root types commands for services that run as users of their own, and a token file or lock of
    root's would keep the service out.

    Args:
        directory: Where it was made.
        made: Its descriptor or path. A link is not followed.

    Raises:
        OSError: It cannot be given away.
    """
    if os.geteuid() == 0:
        owner = directory.stat()
        if isinstance(made, int):
            os.fchown(made, owner.st_uid, owner.st_gid)
        else:
            os.lchown(made, owner.st_uid, owner.st_gid)


def make_private(path: Path) -> None:
    """Make an empty file for its owner alone, unless there is one.

    An existing file is not even opened: closing it would end the locks that SQLite has on it.

    Raises:
        OSError: It cannot be made.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    except FileExistsError:
        return
    try:
        give_to_owner_of(path.parent, descriptor)
    finally:
        os.close(descriptor)


def remove_file(path: Path) -> None:
    """Remove a file durably; a missing one is fine.

    Raises:
        UnavailableError: The medium failed.
    """
    with disk_errors("remove", path):
        try:
            path.unlink()
        except FileNotFoundError:
            return
        sync_directory(path.parent)


def locked(path: Path, otherwise: str) -> AbstractContextManager[None]:
    """Hold the lock file at `path`; the kernel frees it however the process ends.

    Args:
        path: The lock file; made if it is missing, and never removed.
        otherwise: The start of the error when another process holds it.

    Raises:
        UnavailableError: Another process holds it, or the file cannot be made.
    """
    return _held(path, fcntl.LOCK_EX | fcntl.LOCK_NB, otherwise)


def holder_of(path: Path, proc: Path = Path("/proc")) -> int | None:
    """Return the process that holds the lock file at `path`; None if none does, or it is not told.

    Only the kernel's list is read: taking the lock would keep its owner from starting.

    Source: proc_locks(5).
    """
    try:
        found = path.stat()
        lines = (proc / "locks").read_text("ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        words = line.split()
        is_alike = words[1] == "FLOCK" and words[5].endswith(f":{found.st_ino}")
        if is_alike and int(words[4]) > 0 and _has_open(proc / words[4], found, words[5]):
            return int(words[4])
    return None


def _has_open(process: Path, file: os.stat_result, told: str) -> bool:
    """Say whether a process has a file open: a file of another file system may have its inode.

    Args:
        process: Directory of the process in /proc.
        file: The file.
        told: Device and inode as the list of locks has them. On an overlay they are others than
            `file` has, so they count only where nobody may look at the process.
    """
    try:
        opened = list((process / "fd").iterdir())
    except PermissionError:
        device = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}"
        return told == f"{device}:{file.st_ino}"
    except OSError:  # it has ended
        return False
    for each in opened:
        with suppress(OSError):  # closed in between
            if os.path.samestat(each.stat(), file):
                return True
    return False


def in_turn(path: Path) -> AbstractContextManager[None]:
    """Hold the lock file at `path`, once its present holder is done; for short work.

    Args:
        path: The lock file; made if it is missing, and never removed.

    Raises:
        UnavailableError: The file cannot be made.
    """
    return _held(path, fcntl.LOCK_EX)


@contextmanager
def _held(path: Path, operation: int, otherwise: str = "") -> Iterator[None]:
    with disk_errors("lock", path):
        make_private(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        with disk_errors("lock", path):
            try:
                fcntl.flock(descriptor, operation)
            except BlockingIOError as error:
                raise UnavailableError(f"{otherwise}: it holds {path}") from error
        yield
    finally:
        os.close(descriptor)


def _make_one(path: Path) -> None:
    with disk_errors("make directory", path):
        path.mkdir(exist_ok=True)
        give_to_owner_of(path.parent, path)
        sync_directory(path.parent)


def _write_synced(path: Path, data: bytes, mode: int) -> None:
    path.unlink(missing_ok=True)  # a kill may have left one, in any mode
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        give_to_owner_of(path.parent, descriptor)
        os.fchmod(descriptor, mode)
        write_all(descriptor, [data])
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
