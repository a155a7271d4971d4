"""Changes a database whose pages have checksums, as only a program that knows them can."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from contracts.runtime.connection import Connection, Synchronous
from contracts.runtime.sqlite import transaction
from storage.checked.connection import connect_checked


@contextmanager
def edited(path: Path) -> Iterator[Connection]:
    """Yield a connection in a transaction, which is committed after the block."""
    with closing(connect_checked(path, Synchronous.FULL)) as db, transaction(db):
        yield db
