"""The index of a gateway that may be running, read from its file beside it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from contracts.errors import RejectedError
from contracts.runtime.sqlite import translated
from gateway.index.schema import VERSION
from gateway.index.store import REBUILDING, Head, IndexStore
from storage.checked.connection import CheckedConnection


class LookedIndex(IndexStore):
    """An index that is only read, and mends nothing; for questions alone.

    Args:
        connection: To its file.
    """

    def __init__(self, connection: CheckedConnection) -> None:  # it opens no file of its own
        self._connected = connection

    def head(self) -> Head | None:
        """See `IndexStore.head`."""
        rows = self.query("SELECT block_num, block_id FROM blocks ORDER BY block_num DESC LIMIT 1")
        return Head(*rows[0]) if rows else None

    def block_id(self, block_num: int) -> str | None:
        """See `IndexStore.block_id`."""
        rows = self.query("SELECT block_id FROM blocks WHERE block_num = ?", block_num)
        return str(rows[0][0]) if rows else None

    def require(self) -> None:
        """See `IndexStore.require`; `looking_at_index` has checked it."""

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """See `IndexStore.query`."""
        return self._connected.execute(sql, values).fetchall()


@contextmanager
def looking_at_index(path: Path) -> Iterator[IndexStore]:
    """Open the index at `path` for reading.

    Raises:
        RejectedError: It is damaged, of another version, or being made again.
        UnavailableError: It is missing, or the medium failed.
    """
    with translated(f"index {path}"):
        unshared = not Path(f"{path}-wal").exists()
        with closing(CheckedConnection(path, readonly=True, unshared=unshared)) as connection:
            index = LookedIndex(connection)
            ((version,),) = index.query("PRAGMA user_version")
            if version != VERSION:
                raise RejectedError(
                    f"index {path}: expected version {VERSION}, got {version}: another version of "
                    "the gateway used it last, and the next start makes it again"
                )
            if index.query("PRAGMA application_id") == [(REBUILDING,)]:
                raise RejectedError(
                    f"index {path}: it is being made again from the ledger; ask again later"
                )
            yield index
