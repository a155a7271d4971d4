"""Opens databases that must not be lost; one that is damaged mends itself.

The damaged file stays beside the new one, as `NAME.damaged`, for an operator to look at; it
takes the place of an older one.
"""

import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError, WaysealError
from contracts.runtime.connection import Connection, Synchronous
from contracts.runtime.files import sync_directory
from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import VersionedDatabase, translated
from storage.checked.connection import APSW, connect_checked, give_checksums, has_checksums
from storage.checked.damage import DamageNotes
from storage.checked.salvage import Proofs, salvage
from storage.checked.wal import damage_in_wal

HEADER_BYTES: Final = 100
"""At the beginning of each database."""
_SUFFIXES: Final = ("-wal", "-shm", "")
"""In the order of renames: a log must never be beside a database that is not its own."""


def open_kept(
    path: Path, schema: Schema, damage: DamageNotes | None = None, proofs: Proofs | None = None
) -> VersionedDatabase:
    """Open the database at `path`, or create it; its pages have checksums.

    A damaged file is replaced by a new one with all rows that are good, at once or whenever the
    damage is found, and what is lost is noted.

    Args:
        path: The file.
        schema: What it must be.
        damage: Where damage is noted.
        proofs: How rows of damaged pages prove themselves.

    Raises:
        WaysealError: `schema.refused`: it is of another kind or of a newer version.
        UnavailableError: It cannot be opened, or not be mended now, such as on a full disk.
    """
    mender = _Mender(path, schema, damage or DamageNotes(), proofs or Proofs())
    with translated(f"{schema.what} {path}", damaged=schema.refused):
        mender.look()
    return VersionedDatabase(
        path, schema, connect_to=mender.connect, foreign=APSW, mend=mender.mend
    )


class Kept:
    """What is kept in one file by `open_kept`: read whole now and then, and closed."""

    _db: VersionedDatabase

    def check(self) -> None:
        """Read the whole file, so that damage is found and mended.

        Raises:
            UnavailableError: The medium failed.
        """
        self._db.check()

    def close(self) -> None:
        """Close the file."""
        self._db.close()


class _Mender:
    """Mends one database."""

    def __init__(self, path: Path, schema: Schema, damage: DamageNotes, proofs: Proofs) -> None:
        self._path = path
        self._schema = schema
        self._damage = damage
        self._proofs = proofs
        self._new = path.with_name(f"{path.name}.mending")
        self._whole = path.with_name(f"{path.name}.mended")
        self._old = path.with_name(f"{path.name}.damaged")

    def look(self) -> None:
        """Mend what SQLite itself would take for a sound file that is older, or new."""
        self._finish()
        if not self._path.exists():
            return
        size = _size(self._path)
        if size < HEADER_BYTES and not _size(Path(f"{self._path}-wal")):
            self.mend(f"it has {size} bytes")  # SQLite takes it for a new file
            return
        if found := damage_in_wal(self._path):
            self.mend(found)
            return
        try:
            if not has_checksums(self._path):
                give_checksums(self._path)
        except sqlite3.OperationalError as error:  # a full disk must not keep the file closed
            self._damage.doubt(f"{self._schema.what} {self._path} has no checksums yet: {error}")
        except sqlite3.DatabaseError as error:
            self.mend(str(error))

    def connect(self, path: Path, synchronous: Synchronous) -> Connection:
        """Open the file; see `connect_checked`."""
        self._finish()
        return connect_checked(path, synchronous)

    def mend(self, reason: str) -> bool:
        """Put a database with all good rows in the place of the damaged one.

        Raises:
            UnavailableError: It cannot be mended now, such as on a full disk; no row is lost.
        """
        try:
            outcome = self._salvaged()
            self._exchange()
        except (sqlite3.OperationalError, UnavailableError, OSError) as error:
            with suppress(OSError):
                _remove(self._new)
            raise UnavailableError(
                f"{self._schema.what} {self._path} is damaged ({reason}) and cannot be mended now: "
                f"{error}{self._room()}"
            ) from error
        self._damage.lost(
            f"{self._schema.what} {self._path} was damaged ({reason}): {outcome}; the damaged file "
            f"is {self._old}"
        )
        return True

    def _room(self) -> str:
        """Say how much room a mend takes: the good rows, and perhaps a copy with another head."""
        where = self._path.parent
        try:
            size = _size(self._path) + _size(Path(f"{self._path}-wal"))
            free = shutil.disk_usage(where).free
        except OSError:
            return ""
        return f"; it takes up to {2 * size} bytes of free room in {where}, where {free} are free"

    def _salvaged(self) -> str:
        """Make the new database, unless nothing can be read; return what became of the rows."""
        _remove(self._new)
        try:
            outcome = str(salvage(self._path, self._new, self._schema, self._proofs))
        except (sqlite3.OperationalError, UnavailableError):
            raise
        except (sqlite3.Error, WaysealError) as error:
            _remove(self._new)
            _remove(self._old)
            return f"nothing of it can be read, and it begins again: {error}"
        _remove(self._old)
        self._new.replace(self._whole)
        return outcome

    def _finish(self) -> None:
        """Put a whole new database in its place, if a kill or an error kept it from there."""
        if self._whole.exists():
            self._exchange()
            self._damage.lost(
                f"{self._schema.what} {self._path} was damaged, and what can be read of it is "
                f"kept; the damaged file is {self._old}"
            )

    def _exchange(self) -> None:
        for suffix in _SUFFIXES:
            with suppress(FileNotFoundError):
                Path(f"{self._path}{suffix}").replace(f"{self._old}{suffix}")
        with suppress(FileNotFoundError):
            self._whole.replace(self._path)
        sync_directory(self._path.parent)


def _remove(path: Path) -> None:
    for suffix in _SUFFIXES:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
