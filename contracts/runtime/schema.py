"""The kind of a database file and its versions: a file of an older version takes the missing steps.

Source: SQLite, "PRAGMA user_version" and "PRAGMA application_id".
"""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import UnavailableError, WaysealError
from contracts.runtime.connection import Connection


@dataclass(frozen=True, slots=True)
class Schema:
    """One kind of database file and its versions; `PRAGMA user_version` numbers them from 1.

    Attributes:
        what: Names the kind in messages.
        steps: The SQL script that makes each version out of the one before; a new file takes all.
        application_id: Marks files of this kind (`PRAGMA application_id`); 0 if they are unmarked.
        refused: The error for a file that is damaged, of another kind or of a newer version.
    """

    what: str
    steps: tuple[str, ...]
    application_id: int = 0
    refused: type[WaysealError] = UnavailableError

    @property
    def version(self) -> int:
        """Return the version that this program reads and writes."""
        return len(self.steps)

    def bring_up(
        self, connection: Connection, path: Path, fill: Callable[[Connection], object]
    ) -> None:
        """Bring a file to this version, within the transaction that is open.

        Args:
            connection: To the file.
            path: The file, for messages.
            fill: Adds the first rows of a new file.

        Raises:
            WaysealError: `refused`: the file is of another kind or of a newer version.
        """
        version, application_id, changes = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("user_version", "application_id", "schema_version")
        )
        is_new = not (version or application_id or changes)
        if not is_new:
            self._check(path, version, application_id)
        if version == self.version:
            return
        for script in self.steps[version:]:
            for statement in _statements_of(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {self.version}")
        if is_new:
            connection.execute(f"PRAGMA application_id = {self.application_id}")
            fill(connection)

    def _check(self, path: Path, version: int, application_id: int) -> None:
        file = f"{self.what} {path}"
        if application_id != self.application_id:
            raise self.refused(
                f"{file}: expected application id {self.application_id:#x}, "
                f"got {application_id:#x}: the file holds something else"
            )
        if not 1 <= version <= self.version:
            why = ": a newer program wrote it" if version > self.version else ""
            raise self.refused(f"{file}: expected version 1 to {self.version}, got {version}{why}")


def _statements_of(script: str) -> Iterator[str]:
    """Yield each statement: `executescript` would commit the transaction that is open."""
    statement = ""
    for part in script.split(";")[:-1]:
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
