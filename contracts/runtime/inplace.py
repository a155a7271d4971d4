"""Notices that a database's files were removed or replaced while a process has them open.

SQLite goes on writing to the old files, which nobody finds any more once the process ends: all that
was committed since then would be lost without a word.
"""

import os
from pathlib import Path

from contracts.errors import UnavailableError


class InPlace:
    """The files of one open database, as they were when they were seen first.

    Args:
        what: Names the database in messages.
        path: Its file, which must be open.

    Raises:
        OSError: It cannot be looked at.
    """

    def __init__(self, what: str, path: Path) -> None:
        self._what = what
        self._main = path
        self._log = Path(f"{path}-wal")
        self._known = {path: _identity(path)}

    def require(self) -> None:
        """Check that each file is the one that is open; the log from its first time on.

        Raises:
            UnavailableError: One of them is another one, or missing.
            OSError: It cannot be looked at.
        """
        for path in (self._main, self._log):
            found = _identity(path)
            if self._known.get(path, found) != found:
                raise UnavailableError(
                    f"{self._what}: {path} was removed or replaced while it was in use, so nothing "
                    f"more is kept in it; put the file back, or copy it from "
                    f"/proc/{os.getpid()}/fd before you restart this process"
                )
            if found is not None:
                self._known[path] = found


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
