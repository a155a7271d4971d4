"""Port: one connection to a SQLite file, as `sqlite3.Connection` is one.

A connection of another library raises that library's errors, which `ForeignErrors` names;
`contracts.runtime.sqlite` translates them into ours.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

Values = Sequence[object] | Mapping[str, object]
"""What stands for the placeholders of a statement."""


class Cursor(Protocol):
    """The rows of one statement; `sqlite3.Cursor` is one."""

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
    """One connection to a SQLite file; `sqlite3.Connection` is one."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
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


class ForeignErrors(NamedTuple):
    """The errors of a library of SQLite other than Python's own.

    Attributes:
        root: All of them are of this class.
        as_sqlite3: Returns the error of `sqlite3` that says the same.
    """

    root: type[Exception]
    as_sqlite3: Callable[[Any], sqlite3.Error]


Connect = Callable[[Path, Synchronous], Connection]
"""Opens or creates the database at a path."""
