"""Why nothing can be recorded, as a remark says it once something can be."""

import errno
import sqlite3
from typing import Final

from contracts.errors import UnavailableError
from contracts.records.remark import RemarkKind
from device.journal.logbook import BufferFullError

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_PRIMARY: Final = 0xFF
"""The primary result code of SQLite within an extended one."""


def why_paused(error: UnavailableError) -> RemarkKind | None:
    """Return what is to be said of an error that ended recording; None if the log says enough."""
    if isinstance(error, BufferFullError):
        return RemarkKind.CARD_FULL
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        code = (cause.sqlite_errorcode or 0) & _PRIMARY
        return {
            sqlite3.SQLITE_FULL: RemarkKind.CARD_FULL,
            sqlite3.SQLITE_READONLY: RemarkKind.CARD_READ_ONLY,
        }.get(code)
    if not isinstance(cause, OSError):
        return None
    if cause.errno in _FULL:
        return RemarkKind.CARD_FULL
    return RemarkKind.CARD_READ_ONLY if cause.errno == errno.EROFS else None
