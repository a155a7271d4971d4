"""Rows of which each names the one before by its hash, so that none can be left out unseen."""

import hashlib
from typing import NamedTuple

from contracts.runtime.connection import Connection


class Following(NamedTuple):
    """The place of a new row.

    Attributes:
        number: Its number, from 1 on.
        before_sha256: Hash of the row before, 32 bytes; empty for the first.
    """

    number: int
    before_sha256: bytes


def following(db: Connection, table: str) -> Following:
    """Return the place after the last row of a table with the columns `number` and `wire`.

    What is stored is canonical, so its hash is that of the entry. Of a rotten row it is the hash of
    the rotten bytes: an auditor who has the sound entry sees the difference.
    """
    last = db.execute(
        f"SELECT number, wire FROM {table} ORDER BY number DESC LIMIT 1"  # noqa: S608 - our own name
    ).fetchone()
    if last is None:
        return Following(1, b"")
    return Following(last[0] + 1, hashlib.sha256(wire_of(last[1])).digest())


def wire_of(value: object) -> bytes:
    """Return a value of a column `wire`, which SQLite lets be of any type."""
    return value if isinstance(value, bytes) else str(value).encode()
