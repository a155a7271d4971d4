"""What is read from the file of a record of accesses, by the gateway and beside it."""

from collections.abc import Iterator
from typing import Any, Final, Protocol

from contracts.accesses import access_hash, open_head
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.proto.access_pb2 import Access, AccessHead

_ROWS: Final = 1000
"""Accesses that are read at a time."""
_NUMBER_MAX: Final = (1 << 63) - 1
"""Greatest number of an access: SQLite's integers end there."""


class Queried(Protocol):
    """A database that is read."""

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows that a statement selects."""
        ...


class AccessRecord:
    """A record of accesses.

    Args:
        db: Its file.
    """

    def __init__(self, db: Queried) -> None:
        self._db = db

    @property
    def sha256(self) -> bytes:
        """What names the record, the hash of its first access; empty before that."""
        return self.hash_of(1) or b""

    @property
    def newest(self) -> int:
        """The number of the newest access; 0 before the first."""
        ((number,),) = self._db.query("SELECT ifnull(max(number), 0) FROM accesses")
        return int(number)

    def hash_of(self, number: int) -> bytes | None:
        """Return the hash of an access; None if the record has no access with that number."""
        wire = self._wire(number)
        return None if wire is None else access_hash(wire)

    def at_ms(self, number: int) -> int:
        """Return the time of an access, UTC ms; 0 if it is missing or malformed."""
        wire = self._wire(number)
        return 0 if wire is None else _at_ms(wire)

    def first_ms(self, after: int, last: int = _NUMBER_MAX) -> int:
        """Return the earliest time of the accesses that follow `after`, UTC ms; 0 if none follows.

        It need not be the time of the first one, since a clock may have been ahead. A malformed
        access has no time.

        Args:
            after: Number of an access.
            last: Number of the last access that is looked at.
        """
        times_ms = (_at_ms(wire) for _, wire in self.all_wires(after, last))
        return min(filter(None, times_ms), default=0)

    def wires(self, after: int, count: int, last: int = _NUMBER_MAX) -> list[tuple[int, bytes]]:
        """Return number and bytes of up to `count` accesses that follow `after`, up to `last`."""
        return self._db.query(
            "SELECT number, wire FROM accesses WHERE number > ? AND number <= ?"
            " ORDER BY number LIMIT ?",
            after,
            last,
            count,
        )

    def all_wires(self, after: int = 0, last: int = _NUMBER_MAX) -> Iterator[tuple[int, bytes]]:
        """Yield number and bytes of the accesses that follow `after`, up to `last`, in order."""
        while rows := self.wires(after, _ROWS, last):
            yield from rows
            after = rows[-1][0]

    def heads(self, after: int = 0, count: int = -1) -> list[AccessHead]:
        """Return the heads that were signed here, oldest first.

        Args:
            after: Of accesses with greater numbers.
            count: How many at most; -1: all.

        Raises:
            RejectedError: A head is malformed.
        """
        rows = self._db.query(
            "SELECT wire FROM heads WHERE number > ? ORDER BY number LIMIT ?", after, count
        )
        return [parse(AccessHead, wire) for (wire,) in rows]

    @property
    def signers(self) -> set[str]:
        """The keys that signed heads here; a row with a wrong signature counts for no key."""
        return {each.gateway_public_key for each in self.heads() if _is_signed(each)}

    def own_keys(self, known: str | None) -> set[str]:
        """Return the public keys of this gateway, now and earlier.

        Args:
            known: Its key now, if that is known.
        """
        return self.signers | ({known} if known else set())

    def sending(self) -> tuple[int, bytes] | None:
        """Return the batch that the ledger has not decided, after its last head's number."""
        rows = self._db.query("SELECT number, wire FROM sending")
        return rows[0] if rows else None

    def _wire(self, number: int) -> bytes | None:
        rows = self._db.query("SELECT wire FROM accesses WHERE number = ?", number)
        return rows[0][0] if rows else None


def _at_ms(wire: bytes) -> int:
    try:
        return int(parse(Access, wire).at_ms)
    except RejectedError:
        return 0


def _is_signed(head: AccessHead) -> bool:
    try:
        open_head(head, [head.gateway_public_key])
    except RejectedError:
        return False
    return True
