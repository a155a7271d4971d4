"""The backups of one gateway or node in one directory: the newest, and how many are kept."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from contracts.backup.manifest import FILE, Manifest
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.records.clock import moment, utc_ms_of
from contracts.runtime.files import PART_PREFIX, disk_errors, sync_directory

_TIME: Final = "%Y%m%dT%H%M%S.%fZ"


def name_of(of: str, made_ms: int) -> str:
    """Return the name of a backup; names in their order are in the order of time."""
    at = moment(made_ms)
    return f"{of}-{at:%Y%m%dT%H%M%S}.{at.microsecond // 1000:03d}Z"


def backups(directory: Path, of: str) -> list[Path]:
    """Return the backups in a directory, the oldest first.

    Raises:
        UnavailableError: The directory cannot be read.
    """
    with disk_errors("list", directory):
        return sorted(each for each in directory.glob(f"{of}-*Z") if each.is_dir())


def newest(directory: Path, of: str) -> tuple[Path, Manifest] | None:
    """Return the newest backup whose manifest is good and whose files are there, if any.

    Raises:
        UnavailableError: The directory cannot be read.
    """
    if not directory.is_dir():
        return None
    for path in reversed(backups(directory, of)):
        try:
            manifest = Manifest.read(path)
        except WaysealError:
            continue
        if all(_has_size(path / each.path, each.size) for each in manifest.files):
            return path, manifest
    return None


def newest_made_ms(directory: Path, of: str) -> int | None:
    """Return when the newest backup was begun, UTC, as its name says; None without one.

    Cheap enough for each time that metrics are read: a backup has its name only once it is whole.
    """
    try:
        found = [each.name for each in backups(directory, of) if (each / FILE).exists()]
        if not found:
            return None
        return utc_ms_of(datetime.strptime(found[-1], f"{of}-{_TIME}").replace(tzinfo=UTC))
    except (UnavailableError, ValueError):
        return None


def chosen(path: Path, of: str) -> Path:
    """Return the backup at `path`, or the newest one in the directory `path`.

    Raises:
        RejectedError: There is no backup.
        UnavailableError: The directory cannot be read.
    """
    if (path / FILE).exists():
        return path
    found = backups(path, of) if path.is_dir() else []
    if not found:
        raise RejectedError(f"expected a backup of a {of} in {path}, got none")
    return found[-1]


def check_owner(directory: Path, of: str, name: str) -> None:
    """Check that the backups in a directory are of this gateway or node.

    Raises:
        RejectedError: One is of another.
        UnavailableError: The directory cannot be read.
    """
    found = newest(directory, of)
    if found is not None and found[1].name != name:
        raise RejectedError(
            f"{directory} has backups of {of} {found[1].name}, expected those of {name}: give each "
            f"{of} a directory of its own"
        )


def drop_old(directory: Path, of: str, keep: int) -> list[str]:
    """Remove all but the newest `keep` backups; return the names of those that are gone.

    Raises:
        UnavailableError: One cannot be removed.
    """
    old = backups(directory, of)[:-keep]
    for path in old:
        with disk_errors("remove", path):
            part = path.with_name(PART_PREFIX + path.name)  # a kill leaves no half backup by a name
            path.rename(part)
            sync_directory(directory)
            shutil.rmtree(part)
    return [path.name for path in old]


def drop_parts(directory: Path) -> None:
    """Remove what a backup or removal that was cut short has left.

    Raises:
        UnavailableError: It cannot be removed.
    """
    for path in _parts(directory):
        with disk_errors("remove", path):
            shutil.rmtree(path)


def _parts(directory: Path) -> Iterator[Path]:
    with disk_errors("list", directory):
        yield from (each for each in directory.glob(f"{PART_PREFIX}*") if each.is_dir())


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UnavailableError(f"cannot look at {path}: {error}") from error
