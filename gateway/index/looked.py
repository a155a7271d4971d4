"""The index of a gateway that may be running, read from its file beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contracts.errors import RejectedError
from contracts.runtime.connection import Connection
from gateway.index.coldfolder import ColdFiles
from gateway.index.schema import VERSION
from gateway.index.store import COLD, REBUILDING, IndexStore
from storage.checked.look import beside


class LookedIndex(IndexStore):
    """An index that is only read, and mends nothing; for questions alone.

    Args:
        connection: To its file.
        cold: The files of its old trips.
    """

    def __init__(  # it opens no file of its own
        self, connection: Connection, cold: ColdFiles
    ) -> None:
        self._connected = connection
        self.cold = cold

    def require(self) -> None:
        """See `IndexStore.require`; `looking_at_index` has checked it."""

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """See `IndexStore.connection`."""
        yield self._connected


@contextmanager
def looking_at_index(path: Path, cold: ColdFiles | None = None) -> Iterator[IndexStore]:
    """Open the index at `path` for reading, with its cold files as `IndexStore` has them.

    Raises:
        RejectedError: It is damaged, of another version, or being made again.
        UnavailableError: It is missing, or the medium failed.
    """
    with beside("index", path) as connection:
        index = LookedIndex(connection, cold or ColdFiles(path.with_name(COLD)))
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
