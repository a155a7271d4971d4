"""The journal's file: one SQLite database, every commit on the medium before it counts."""

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Self

from contracts.errors import RejectedError
from contracts.files import OWNER_ONLY, sync_directory
from contracts.sqlite import Synchronous, connect, transaction, translated

APPLICATION_ID: Final = 0x57534A31
_FIRST: Final = (
    "CREATE TABLE device (device_id TEXT NOT NULL, public_key TEXT NOT NULL)",
    """CREATE TABLE trips (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        trip_id TEXT NOT NULL UNIQUE,
        input_id BLOB NOT NULL,
        start BLOB NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('open', 'sealed', 'receipted')),
        reported INTEGER NOT NULL DEFAULT 0,
        readings INTEGER NOT NULL DEFAULT 0,
        head_sha256 BLOB NOT NULL DEFAULT x'',
        last_transaction_id TEXT NOT NULL,
        clock BLOB NOT NULL,
        seal_transaction_id TEXT NOT NULL DEFAULT '',
        receipt BLOB
    )""",
    # Signed transactions that wait for their batch to fill.
    """CREATE TABLE pending (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        trip_id TEXT NOT NULL REFERENCES trips (trip_id),
        monotonic_ms INTEGER,
        wire BLOB NOT NULL
    )""",
    """CREATE TABLE batches (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        batch_id TEXT NOT NULL UNIQUE,
        trip_id TEXT NOT NULL REFERENCES trips (trip_id),
        digest_of BLOB,
        wire BLOB NOT NULL,
        held INTEGER NOT NULL DEFAULT 0,
        refused TEXT
    )""",
    "CREATE INDEX batches_by_trip ON batches (trip_id)",
    """CREATE TABLE recordings (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        trip_id TEXT NOT NULL REFERENCES trips (trip_id),
        sha256 BLOB NOT NULL,
        size INTEGER NOT NULL,
        tree_root BLOB NOT NULL,
        name TEXT NOT NULL,
        media_type TEXT NOT NULL,
        duration_ms INTEGER NOT NULL,
        source_sha256 BLOB NOT NULL,
        UNIQUE (trip_id, sha256)
    )""",
)
_RUNS_AND_JOINED_TRIPS: Final = (
    # Readings that are durable and wait for their run to end, unsigned, in their chain's order.
    """CREATE TABLE waiting (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        trip_id TEXT NOT NULL REFERENCES trips (trip_id),
        record BLOB NOT NULL
    )""",
    "ALTER TABLE trips ADD COLUMN run_ended INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE trips ADD COLUMN joined_at_ms INTEGER",
    "ALTER TABLE pending ADD COLUMN readings INTEGER NOT NULL DEFAULT 0",
    "UPDATE pending SET readings = 1 WHERE monotonic_ms IS NOT NULL",
)
_PROVISIONAL_RECEIPTS: Final = (
    # What the receipt of a sealed trip lacks, in words: such a receipt lets nothing go.
    """CREATE TABLE lacking (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        trip_id TEXT NOT NULL REFERENCES trips (trip_id),
        what TEXT NOT NULL
    )""",
)
_STEPS: Final = (_FIRST, _RUNS_AND_JOINED_TRIPS, _PROVISIONAL_RECEIPTS)
"""What makes each version out of the one before; a new journal takes them all."""
SCHEMA_VERSION: Final = len(_STEPS)


class Database:
    """An open journal; one per thread, any number of processes.

    Attributes:
        path: Its file.
        device_id: The device whose journal it is.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, device_id: str) -> None:
        self._connection = connection
        self.path = path
        self.device_id = device_id

    @classmethod
    def open(cls, path: Path, device_id: str, public_key: str) -> Self:
        """Open the journal at `path`, or make a new one for this device and key.

        A journal that an older version wrote is brought to this one, as a whole or not at all.

        Raises:
            RejectedError: No journal, of a newer version, or another device's.
            UnavailableError: The medium failed.
        """
        with translated(f"journal {path}"):
            connection = connect(path, Synchronous.FULL)
            journal = cls(connection, path, device_id)
            try:
                journal.prepare(public_key)
                sync_directory(path.parent)
            except BaseException:
                connection.close()
                raise
        return journal

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def prepare(self, public_key: str) -> None:
        """Make the tables when the file is new, bring older ones up; check whose it is."""
        self._connection.execute("PRAGMA foreign_keys = ON")
        with self.transaction():
            version = self.one("PRAGMA user_version")[0]
            application = self.one("PRAGMA application_id")[0]
            if (version, application) == (0, 0) and not self.one("PRAGMA schema_version")[0]:
                self._create(public_key)
            elif application != APPLICATION_ID or not 1 <= version <= SCHEMA_VERSION:
                raise RejectedError(
                    f"journal {self.path}: expected version 1 to {SCHEMA_VERSION} of a wayseal "
                    f"journal, got version {version} of application {application:#x}"
                )
            else:
                self._upgrade(version)
            owner = self.one("SELECT device_id, public_key FROM device")
            if owner != (self.device_id, public_key):
                raise RejectedError(
                    f"journal {self.path}: expected device {self.device_id} with key {public_key}, "
                    f"it belongs to device {owner[0]} with key {owner[1]}"
                )

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what is executed inside durable as one, or leave no trace of it.

        Raises:
            RejectedError: The file is no sound SQLite database.
            UnavailableError: The disk is full or the medium failed; nothing was changed.
        """
        with translated(f"journal {self.path}"), transaction(self._connection):
            yield

    def execute(self, statement: str, *values: object) -> int:
        """Change rows inside `transaction`; return how many."""
        return self._connection.execute(statement, values).rowcount

    def execute_many(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Change rows inside `transaction`, once per tuple of values."""
        self._connection.executemany(statement, rows)

    def all(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query, as tuples.

        Raises:
            RejectedError: The file is no sound SQLite database.
            UnavailableError: The medium failed.
        """
        with translated(f"journal {self.path}"):
            return self._connection.execute(query, values).fetchall()

    def one(self, query: str, *values: object) -> Any:  # noqa: ANN401 - SQL rows have no static type
        """Return the only row of a query, as a tuple.

        Raises:
            RejectedError: There is not one row, or no sound database.
            UnavailableError: The medium failed.
        """
        rows = self.all(query, *values)
        if len(rows) != 1:
            raise RejectedError(f"journal {self.path}: expected one row, got {len(rows)}: {query}")
        return rows[0]

    def _create(self, public_key: str) -> None:
        self._upgrade(0)
        self.execute("INSERT INTO device VALUES (?, ?)", self.device_id, public_key)
        self.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self.path.chmod(OWNER_ONLY)

    def _upgrade(self, version: int) -> None:
        for statements in _STEPS[version:]:
            for statement in statements:
                self.execute(statement)
        if version < SCHEMA_VERSION:
            self.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
