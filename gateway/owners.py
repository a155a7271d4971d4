"""Looks for files that the gateway's user may be unable to use: its data belong to that user.

root may write everywhere, so a look at what this process may do would find nothing.
"""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contracts.runtime.checks import Finding, error
from gateway.settings import Settings

_OURS: Final = ("recordings", "volume-ids")
"""Directories of the gateway's own, besides volumes and blobs."""
_OTHERS_WRITE: Final = 0o022


def files_of_others(settings: Settings) -> Iterator[Finding]:
    """Yield the gateway's files in its data directory that belong to another user."""
    if not settings.data.is_dir():
        return
    owner = settings.data.stat().st_uid
    for path in sorted(settings.data.iterdir()):
        try:
            found = path.lstat()
        except FileNotFoundError:  # a running gateway makes and removes files
            continue
        if found.st_uid != owner and (stat.S_ISREG(found.st_mode) or path.name in _OURS):
            yield _others(path.name, path, found.st_uid, owner)


def place_of_others(subject: str, path: Path, settings: Settings) -> Finding | None:
    """Return the fault of the owner of a volume or of blobs; None if it is right."""
    if not (settings.data.is_dir() and path.is_dir()):
        return None
    owner, found = settings.data.stat().st_uid, path.stat()
    if found.st_uid == owner or found.st_mode & _OTHERS_WRITE:
        return None
    return _others(subject, path, found.st_uid, owner)


def _others(subject: str, path: Path, found: int, owner: int) -> Finding:
    why = f"{path} belongs to user {found}: user {owner}, who has the gateway's data, cannot use it"
    return error(subject, why, f"chown -R {owner} {path}")
