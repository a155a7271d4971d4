"""Visits: each trip that a device offers here, what is held of it, and the receipt that ends it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import is_point
from contracts.proto.wire_pb2 import Receipt
from contracts.runtime.connection import Connection
from contracts.runtime.sqlite import VersionedDatabase, changed_rows
from gateway.intake.held import KeptReceipt, State
from gateway.intake.schema import ADD_VISIT

_BEHIND_ALL: Final = (1 << 63) - 1
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Visit:
    """A device that brought a trip.

    Attributes:
        since_ms: When it began, ms since the epoch.
    """

    trip_id: str
    device_id: str
    since_ms: int


class HeldVisits:
    """The visits in the inbox, and their receipts; safe to use from several threads."""

    def __init__(self, db: VersionedDatabase) -> None:
        self._db = db

    def note(self, trip_id: str, device_id: str) -> None:
        """Note that a device offers a trip whose batches came in at another gateway."""
        with self._db.transaction() as db:
            db.execute(ADD_VISIT, (trip_id, device_id))

    def listed(
        self, after: int, count: int, *, newest_first: bool = False, only_open: bool = False
    ) -> list[tuple[int, Visit]]:
        """Return visits, each with its place, which stays as it is while others come and go.

        Args:
            after: The place after which the page begins; 0 begins with the first.
            count: Most visits.
            newest_first: The last visit is the first.
            only_open: Leave out the visits with a final receipt.
        """
        begin = (after or _BEHIND_ALL) if newest_first else after
        where = "place < ?1" if newest_first else "place > ?1"
        order = "DESC" if newest_first else "ASC"
        rows = self._db.query(
            "SELECT place, trip_id, device_id, since_ms FROM visit_places"  # noqa: S608
            " JOIN visits USING (trip_id, device_id)"
            " LEFT JOIN receipts USING (trip_id, device_id)"
            f" WHERE {where} AND (NOT ?2 OR final IS NOT 1) ORDER BY place {order} LIMIT ?3",
            begin,
            only_open,
            count,
        )
        return [(place, Visit(*visit)) for place, *visit in rows]

    def open(self) -> list[tuple[str, str, KeptReceipt | None]]:
        """Return trip id, device id and receipt of every visit without a final receipt.

        HeldVisits with a provisional receipt come first.
        """
        rows = self._db.query(
            "SELECT trip_id, device_id, wire FROM visits LEFT JOIN receipts"
            " USING (trip_id, device_id) WHERE final IS NOT 1 ORDER BY wire IS NULL"
        )
        return [
            (trip_id, device_id, None if wire is None else KeptReceipt(bytes(wire), final=False))
            for trip_id, device_id, wire in rows
        ]

    def moving(self) -> set[tuple[str, str]]:
        """Return trip id and device id of every visit with batches that the ledger decides now."""
        rows = self._db.query(
            "SELECT DISTINCT trip_id, device_id FROM batches WHERE state = ?", State.SUBMITTED
        )
        return set(rows)

    def stuck(self) -> set[tuple[str, str]]:
        """Return trip id and device id of every visit that cannot be complete.

        Batches of it are held here, and none is committed.
        """
        rows = self._db.query(
            "SELECT * FROM (SELECT DISTINCT trip_id, device_id FROM batches WHERE state = ?)"
            " AS held WHERE NOT EXISTS"
            " (SELECT 1 FROM batches WHERE batches.trip_id = held.trip_id"
            " AND batches.device_id = held.device_id AND batches.state = ?)",
            State.HELD,
            State.COMMITTED,
        )
        return set(rows)

    def last(self) -> dict[str, int]:
        """Return when each device's last visit began, ms since the epoch."""
        rows = self._db.query("SELECT device_id, max(since_ms) FROM visits GROUP BY device_id")
        return dict(rows)

    def counts(self, trip_id: str, device_id: str) -> dict[State, tuple[int, int]]:
        """Return the number of batches and of readings of a visit, by state."""
        rows = self._db.query(
            "SELECT state, count(*), sum(readings) FROM batches"
            " WHERE trip_id = ? AND device_id = ? GROUP BY state",
            trip_id,
            device_id,
        )
        return {State(state): (batches, readings) for state, batches, readings in rows}

    def batch_ids(self, trip_id: str, device_id: str, state: State) -> list[str]:
        """Return the ids of a visit's batches in `state`."""
        rows = self._db.query(
            "SELECT batch_id FROM batches WHERE trip_id = ? AND device_id = ? AND state = ?",
            trip_id,
            device_id,
            state,
        )
        return [batch_id for (batch_id,) in rows]

    def offered(self, trip_id: str, device_id: str) -> list[tuple[bytes, int, State]]:
        """Return, for each recording of a visit, hash, size in bytes and its digest's state."""
        rows = self._db.query(
            "SELECT offers.recording, size, state FROM offers JOIN batches USING (batch_id)"
            " WHERE offers.trip_id = ? AND offers.device_id = ?",
            trip_id,
            device_id,
        )
        return [(recording, size, State(state)) for recording, size, state in rows]

    def put_receipt(self, trip_id: str, device_id: str, wire: bytes, *, final: bool) -> None:
        """Keep a signed receipt; it replaces the visit's earlier one."""
        self.put_receipts([(trip_id, device_id, wire, final)])

    def put_receipts(self, receipts: Sequence[tuple[str, str, bytes, bool]]) -> None:
        """Keep signed receipts, all or none; see `put_receipt`."""
        if not receipts:
            return
        with self._db.transaction() as db:
            db.executemany(
                "INSERT INTO receipts (trip_id, device_id, wire, final) VALUES (?,?,?,?)"
                " ON CONFLICT DO UPDATE SET wire = excluded.wire, final = excluded.final",
                receipts,
            )

    def receipt(self, trip_id: str, device_id: str) -> KeptReceipt | None:
        """Return the receipt of a visit, or None."""
        rows = self._db.query(
            "SELECT wire, final FROM receipts WHERE trip_id = ? AND device_id = ?",
            trip_id,
            device_id,
        )
        return KeptReceipt(bytes(rows[0][0]), final=bool(rows[0][1])) if rows else None

    def receipts(self) -> list[tuple[str, str, bytes]]:
        """Return trip id, device id and bytes of every receipt."""
        rows = self._db.query("SELECT trip_id, device_id, wire FROM receipts")
        return [(trip_id, device_id, bytes(wire)) for trip_id, device_id, wire in rows]

    def withdraw_receipt(self, trip_id: str, device_id: str) -> None:
        """Delete the receipt of a visit; the visit is open again."""
        with self._db.transaction() as db:
            db.execute(
                "DELETE FROM receipts WHERE trip_id = ? AND device_id = ?", (trip_id, device_id)
            )

    def signers(self) -> set[str]:
        """Return the public keys by which the kept receipts are signed; name rotten receipts."""
        keys: set[str] = set()
        for trip_id, device_id, wire in self.receipts():
            try:
                key = parse(Receipt, wire).gateway_public_key
            except RejectedError:
                key = ""
            if key in keys or is_point(key):
                keys.add(key)
            else:
                _log.warning(
                    "the kept receipt of trip %s from %s is damaged",
                    trip_id,
                    device_id,
                    extra={"trip_id": trip_id, "device_id": device_id},
                )
        return keys


def forget_receipted(db: Connection, device_id: str | None = None) -> bool:
    """Drop the bytes of batches whose visit has a final receipt: the ledger has them.

    A final receipt has waited for its confirmations. Before that a fork may remove the batches
    from the ledger, and the saga needs their bytes to submit them again.

    Args:
        db: The transaction's connection.
        device_id: The device whose batches are meant; None for all.

    Returns:
        Whether there were any.
    """
    db.execute(
        "UPDATE batches SET wire = x'' WHERE state = ?1 AND wire <> x''"
        " AND (?2 IS NULL OR device_id = ?2) AND EXISTS (SELECT 1 FROM receipts"
        " WHERE receipts.trip_id = batches.trip_id"
        " AND receipts.device_id = batches.device_id AND receipts.final)",
        (State.COMMITTED, device_id),
    )
    return changed_rows(db) > 0
