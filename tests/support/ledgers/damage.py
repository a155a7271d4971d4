"""A disk that changes the index of a node."""

from collections.abc import Callable
from pathlib import Path

import lmdb

from contracts.ledger.blocks.chain import TABLES
from contracts.ledger.state import store as store_module

Change = Callable[[lmdb.Transaction, bytes, bytes], object]
"""Changes the record at a key."""


def change_all(index: Path, table: str, change: Change) -> None:
    """Change every record of an LMDB table."""
    env = lmdb.open(str(index), max_dbs=len(TABLES), map_size=store_module.MAP_BYTES)
    database = env.open_db(table.encode(), create=False)
    with env.begin(write=True, db=database) as view:
        for key, value in list(view.cursor()):
            change(view, key, value)
    env.close()


def flipped(view: lmdb.Transaction, key: bytes, value: bytes) -> None:
    view.put(key, value[:-9] + bytes((value[-9] ^ 1,)) + value[-8:])
