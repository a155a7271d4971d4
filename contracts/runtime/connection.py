"""Port: one connection to a SQLite file, as `sqlite3.Connection` is one.

An adapter raises the errors of `sqlite3`; `contracts.runtime.sqlite` translates them into ours.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

Values = Sequence[object] | Mapping[str, object]
"""What stands for the placeholders of a statement."""


class Cursor(Protocol):
    """The rows of one statement; `sqlite3.Cursor` is one."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows that are left."""
        ...

    def fetchone(self) -> Any:  # noqa: ANN401 - a row has columns of any type, as in sqlite3
        """Return the next row, or None after the last one."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        ...


class Connection(Protocol):
    """One connection to a SQLite file; `sqlite3.Connection` is one, and raises the same errors."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    @property
    def total_changes(self) -> int:
        """How many rows were changed since the connection was opened."""
        ...

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:  # noqa: ANN401 - see `Values`
        """Execute one statement."""
        ...

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> object:
        """Execute one statement for each of many values."""
        ...

    def close(self) -> None:
        """Close it; a transaction that is open is rolled back."""
        ...


class Synchronous(StrEnum):
    """What a power cut may take: no committed transaction, or the last ones."""

    FULL = "FULL"
    NORMAL = "NORMAL"


Connect = Callable[[Path, Synchronous], Connection]
"""Opens or creates the database at a path."""
