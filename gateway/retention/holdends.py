"""The durable record of automatic holds that a person ended; nothing is ever removed from it.

Each end is signed, and names the one before by hash. One whose bytes are not what was signed stays
in the file, is named, and ends nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.hold_end import open_hold_end, sign_hold_end
from contracts.keys import SigningKey
from contracts.proto.hold_end_pb2 import HoldEnd, HoldEndBody
from contracts.runtime.sqlite import VersionedDatabase
from storage.checked.chained import following, wire_of
from storage.checked.salvage import Row

TABLE: Final = """
CREATE TABLE hold_ends (
  number INTEGER PRIMARY KEY,
  trip_id TEXT NOT NULL,
  wire BLOB NOT NULL
);
CREATE INDEX hold_ends_by_trip ON hold_ends (trip_id);
"""
_COLUMNS: Final = "number, trip_id, wire"
Signed = tuple[HoldEnd, HoldEndBody]
"""An end as it was signed, and what the gateway signed."""


class ReadHoldEnds:
    """The ends in a file of deletions, to be read.

    Args:
        query: Returns the rows that a statement selects.
        name: Called with each rotten end, in words.
    """

    def __init__(self, query: Callable[..., list[Row]], name: Callable[[str], None]) -> None:
        self._query = query
        self._name = name

    def of(self, trip_id: str) -> list[HoldEndBody]:
        """Return the ends of holds on a trip, oldest first."""
        rows = self._rows("WHERE trip_id = ? ORDER BY number", trip_id)
        return [body for _, body in self._opened(rows)]

    def listed(self, after: int, count: int) -> list[tuple[int, Signed]]:
        """Return up to `count` ends whose numbers follow `after`, each with its number."""
        found: list[tuple[int, Signed]] = []
        while rows := self._rows(
            "WHERE number > ? ORDER BY number LIMIT ?", after, count - len(found)
        ):
            after = rows[-1][0]
            found.extend((each[1].number, each) for each in self._opened(rows))
        return found

    def _rows(self, where: str, *values: object) -> list[Row]:
        return self._query(f"SELECT {_COLUMNS} FROM hold_ends {where}", *values)  # noqa: S608

    def _opened(self, rows: Iterable[Row]) -> Iterator[Signed]:
        """Yield what the rows hold; name each that is rotten, and leave it out."""
        for row in rows:
            try:
                yield signed_for(row)
            except RejectedError as error:
                self._name(f"end {row[0]} of automatic holds is damaged, and ends none: {error}")


class HoldEnds(ReadHoldEnds):
    """The ends of a gateway that runs; safe to use from several threads.

    Args:
        db: The file.
        signer: The gateway's key.
        name: Called with each rotten end, in words.
    """

    def __init__(
        self, db: VersionedDatabase, signer: SigningKey, name: Callable[[str], None]
    ) -> None:
        super().__init__(db.query, name)
        self._db = db
        self._signer = signer

    def add(self, draft: HoldEndBody) -> Signed:
        """Number, sign and record an end; durable on return.

        Args:
            draft: All but `number` and `before_sha256`.
        """
        body = HoldEndBody()
        body.CopyFrom(draft)
        with self._db.transaction() as db:
            body.number, body.before_sha256 = following(db, "hold_ends")
            end = sign_hold_end(self._signer, body)
            wire = end.SerializeToString(deterministic=True)
            db.execute("INSERT INTO hold_ends VALUES (?,?,?)", (body.number, body.trip_id, wire))
        return end, body


def signed_for(row: Row) -> Signed:
    """Return the end of a row; the signature, by any key, shows that it was signed.

    Raises:
        RejectedError: The row does not hold the end that was signed for it.
    """
    number, trip_id, wire = row
    end, body = _signed(wire)
    if (body.number, body.trip_id) != (number, trip_id):
        raise RejectedError(
            f"expected end {number} on trip {trip_id}, got {body.number} on {body.trip_id}"
        )
    return end, body


def by_signature(row: Row) -> Row:
    """Return a row from a damaged page, with everything that its signed end says.

    Raises:
        RejectedError: The bytes are not an end whose signature is valid.
    """
    _, body = _signed(row[2])
    return body.number, body.trip_id, row[2]


def _signed(wire: object) -> Signed:
    end = parse(HoldEnd, wire_of(wire))
    return end, open_hold_end(end, {end.gateway_public_key})
