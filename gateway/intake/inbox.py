"""The durable inbox: keeps signed batches and offers from their fsync until they are committed.

One SQLite file with synchronous=FULL. Every write is idempotent: a batch is named
by its signature, a recording by trip, device and hash.
"""

import json
import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import is_point
from contracts.proto.wire_pb2 import Receipt
from contracts.records.clock import now_ms
from contracts.runtime.connection import Connection
from contracts.runtime.running import RunningTime
from contracts.runtime.sqlite import used_bytes
from gateway.intake.held import End, HeldBatch, KeptReceipt, KnownBatch, Offer, State
from gateway.intake.numbers import Numbers, last_visits, look
from gateway.intake.quotas import DeviceLimits, Sieve, check_limit, forget_receipted
from gateway.intake.salvage import PROOFS
from gateway.intake.schema import CHAIN, COLUMNS, INBOX
from gateway.intake.waiting import Waiting
from storage.checked.damage import DamageNotes
from storage.checked.kept import Kept, open_kept

ORDERED_CHAINS_MAX: Final = 20
"""Chains that wait for others up to which their order is always the same; with more, random."""
_FIELDS: Final = COLUMNS.replace(" ", "").split(",")
_ADD: Final = (
    f"INSERT INTO batches ({COLUMNS}, received_ms) VALUES (?,?,?,?,?,?,?,?,?,?,?)"  # noqa: S608
    f" ON CONFLICT (batch_id) DO UPDATE SET received_ms = excluded.received_ms,"
    f" {', '.join(f'{name} = excluded.{name}' for name in _FIELDS)}"
    f" WHERE batches.state IN ('{State.LOST}', '{State.DROPPED}')"
    f" OR (batches.state = '{State.QUARANTINED}' AND batches.trip_id = ''"
    " AND excluded.trip_id <> '')"
)
_row: Final = attrgetter(*(each.name for each in fields(HeldBatch)))
_offer: Final = attrgetter(*(each.name for each in fields(Offer)))
_log: Final = logging.getLogger(__name__)


class Inbox(Kept):
    """The inbox in one file; safe to use from several threads.

    Attributes:
        waiting: What is held and cannot move on.
    """

    def __init__(
        self,
        path: Path,
        *,
        bytes_max: int,
        quarantine_bytes_max: int,
        of_device: DeviceLimits | None = None,
        damage: DamageNotes | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the inbox at `path`, or create it; an older version is upgraded.

        Args:
            path: The file.
            bytes_max: Bytes of the file.
            quarantine_bytes_max: Bytes of all quarantined batches.
            of_device: The share of each device.
            damage: Where damage of the file is noted.
            monotonic_s: Seconds since any moment; what waits grows old by it.

        Raises:
            UnavailableError: The file cannot be opened, or has a newer version.
        """
        self._bytes_max = bytes_max
        self._quarantine_bytes_max = quarantine_bytes_max
        self._of_device = of_device or DeviceLimits()
        self._db = open_kept(path, INBOX, damage, PROOFS)
        self.waiting = Waiting(self._db, RunningTime(self._db, monotonic_s))

    def add(self, batches: Sequence[HeldBatch], offers: Sequence[Offer]) -> dict[str, str]:
        """Store batches and offers durably: all that their devices have room for.

        Known batches and offers stay as they are. A lost or dropped batch is stored again, and so
        is one that was quarantined because no rule accepted it, if one does now.

        Returns:
            The ids of the batches that were not stored, each with the reason.

        Raises:
            UnavailableError: The inbox or the disk is full; nothing was stored.
        """
        received_ms = now_ms()
        with self._db.transaction() as db:
            refused = Sieve(db, self._quarantine_bytes_max, self._of_device).sift(batches)
            taken = [batch for batch in batches if batch.batch_id not in refused]
            self._check_room(db, sum(len(batch.wire) for batch in taken))
            db.executemany(_ADD, [(*_row(batch), received_ms) for batch in taken])
            db.executemany(
                "INSERT INTO offers VALUES (?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                [_offer(offer) for offer in offers if offer.batch_id not in refused],
            )
            _visit(db, {(batch.trip_id, batch.device_id) for batch in taken if batch.trip_id})
        return refused

    def visit(self, trip_id: str, device_id: str) -> None:
        """Note that a device offers a trip whose batches came in at another gateway."""
        with self._db.transaction() as db:
            _visit(db, [(trip_id, device_id)])

    def mark(self, batch_ids: Iterable[str], state: State, reason: str = "") -> None:
        """Move batches to `state`."""
        with self._db.transaction() as db:
            db.executemany(
                "UPDATE batches SET state = ?, reason = ? WHERE batch_id = ?",
                [(state, reason, batch_id) for batch_id in batch_ids],
            )

    def in_state(self, state: State, limit: int) -> list[HeldBatch]:
        """Return the batches in `state`, oldest first, at most `limit`."""
        return self._select("WHERE state = ? ORDER BY arrival LIMIT ?", state, limit)

    def ids_in(self, state: State, limit: int) -> list[str]:
        """Return the ids of the batches in `state`, oldest first, at most `limit`."""
        rows = self._db.query(
            "SELECT batch_id FROM batches WHERE state = ? ORDER BY arrival LIMIT ?", state, limit
        )
        return [batch_id for (batch_id,) in rows]

    def ends_in(self, state: State) -> dict[str, End]:
        """Return the batches in `state`, each by the id of its last transaction."""
        rows = self._db.query(
            "SELECT last_transaction_id, trip_id, device_id, length(wire) FROM batches"
            " WHERE state = ?",
            state,
        )
        return {transaction_id: End(*end) for transaction_id, *end in rows}

    def committed_after(self, arrival: int, limit: int) -> list[tuple[int, str]]:
        """Return arrival number and id of the committed batches after `arrival`, in order."""
        rows = self._db.query(
            "SELECT arrival, batch_id FROM batches WHERE state = ? AND arrival > ?"
            " ORDER BY arrival LIMIT ?",
            State.COMMITTED,
            arrival,
            limit,
        )
        return [(at, batch_id) for at, batch_id in rows]

    def chains(self, limit: int, bytes_max: int) -> Iterator[list[HeldBatch]]:
        """Yield the held batches of each chain of readings, in its order.

        Chains that begin with a trip's start come first, in their order of arrival: the ledger
        has a finding on a trip that it gets before an earlier one of the same device. The others
        come in any order.

        Each chain has at most `limit` batches, the last of which may exceed `bytes_max`, the bytes
        of all. It begins with the batches whose predecessor is not
        held, whatever the order of arrival, since only these can move. Digests are left out: they
        wait for their recordings.
        """
        chains = self._db.query(
            "SELECT trip_id, device_id, MAX(dependency = '') FROM batches"
            " WHERE state = ? AND recording IS NULL GROUP BY trip_id, device_id"
            " ORDER BY MIN(arrival)",
            State.HELD,
        )
        starts = [(trip_id, device_id) for trip_id, device_id, starts in chains if starts]
        others = [(trip_id, device_id) for trip_id, device_id, starts in chains if not starts]
        if len(others) > ORDERED_CHAINS_MAX:
            random.shuffle(others)  # however many there are, each one's turn comes
        for trip_id, device_id in starts:
            yield _held(self._db.query(CHAIN, State.HELD, trip_id, device_id, limit, bytes_max))
        for trip_id, device_id in others:
            chain = _held(self._db.query(CHAIN, State.HELD, trip_id, device_id, limit, bytes_max))
            # A start that was released since has its turn next time, after those before it.
            if all(batch.dependency for batch in chain):
                yield chain

    def batch(self, batch_id: str) -> HeldBatch | None:
        """Return one batch, or None."""
        return next(iter(self._select("WHERE batch_id = ?", batch_id)), None)

    def standing(self, batch_id: str) -> KnownBatch | None:
        """Return where one batch stands, or None if it never came in; its bytes are not read."""
        return self.standings([batch_id]).get(batch_id)

    def standings(self, batch_ids: Sequence[str]) -> dict[str, KnownBatch]:
        """Return where the batches that came in stand, by their ids; their bytes are not read."""
        rows = self._db.query(
            "SELECT batch_id, trip_id, state, reason FROM batches"
            " WHERE batch_id IN (SELECT value FROM json_each(?))",
            json.dumps(list(batch_ids)),
        )
        return {
            batch_id: KnownBatch(trip_id, State(state), reason)
            for batch_id, trip_id, state, reason in rows
        }

    def offers_in(self, state: State) -> list[Offer]:
        """Return the offers whose digest is in `state`."""
        rows = self._db.query(
            "SELECT offers.* FROM offers JOIN batches USING (batch_id) WHERE state = ?", state
        )
        return [Offer(*row) for row in rows]

    def offers_of(self, recording: bytes) -> list[Offer]:
        """Return the offers of one recording; two trips may hold the same video."""
        rows = self._db.query("SELECT * FROM offers WHERE recording = ?", recording)
        return [Offer(*row) for row in rows]

    def visits(self) -> list[tuple[str, str, int]]:
        """Return trip id, device id and start (ms since the epoch) of every visit, newest last."""
        rows = self._db.query("SELECT trip_id, device_id, since_ms FROM visits ORDER BY since_ms")
        return [(trip_id, device_id, since_ms) for trip_id, device_id, since_ms in rows]

    def changes(self) -> int:
        """Return a number that grows with every change of a batch, a visit or a receipt."""
        return self._db.changes

    def open_visits(self) -> list[tuple[str, str, KeptReceipt | None]]:
        """Return trip id, device id and receipt of every visit without a final receipt.

        Visits with a provisional receipt come first.
        """
        rows = self._db.query(
            "SELECT trip_id, device_id, wire FROM visits LEFT JOIN receipts"
            " USING (trip_id, device_id) WHERE final IS NOT 1 ORDER BY wire IS NULL"
        )
        return [
            (trip_id, device_id, None if wire is None else KeptReceipt(bytes(wire), final=False))
            for trip_id, device_id, wire in rows
        ]

    def moving_visits(self) -> set[tuple[str, str]]:
        """Return trip id and device id of every visit with batches that the ledger decides now."""
        rows = self._db.query(
            "SELECT DISTINCT trip_id, device_id FROM batches WHERE state = ?", State.SUBMITTED
        )
        return set(rows)

    def stuck_visits(self) -> set[tuple[str, str]]:
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

    def genesis_id(self) -> str | None:
        """Return the recorded id of the ledger's first block, or None before it is recorded."""
        rows = self._db.query("SELECT genesis_id FROM network")
        return str(rows[0][0]) if rows else None

    def put_genesis_id(self, genesis_id: str) -> None:
        """Record the id of the ledger's first block; a recorded id never changes."""
        with self._db.transaction() as db:
            db.execute("INSERT INTO network VALUES (0, ?) ON CONFLICT DO NOTHING", (genesis_id,))

    def replace_genesis_id(self, genesis_id: str) -> None:
        """Record another ledger: the successor of the one on record."""
        with self._db.transaction() as db:
            db.execute("DELETE FROM network")
            db.execute("INSERT INTO network VALUES (0, ?)", (genesis_id,))

    def put_receipt(self, trip_id: str, device_id: str, wire: bytes, *, final: bool) -> None:
        """Keep a signed receipt; it replaces the visit's earlier one."""
        with self._db.transaction() as db:
            db.execute(
                "INSERT INTO receipts (trip_id, device_id, wire, final) VALUES (?,?,?,?)"
                " ON CONFLICT DO UPDATE SET wire = excluded.wire, final = excluded.final",
                (trip_id, device_id, wire, final),
            )

    def receipt(self, trip_id: str, device_id: str) -> KeptReceipt | None:
        """Return the receipt of a visit, or None."""
        rows = self._db.query(
            "SELECT wire, final FROM receipts WHERE trip_id = ? AND device_id = ?",
            trip_id,
            device_id,
        )
        return KeptReceipt(bytes(rows[0][0]), final=bool(rows[0][1])) if rows else None

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

    def in_numbers(self) -> Numbers:
        """Return the inbox in numbers.

        Raises:
            UnavailableError: The medium failed.
        """
        return look(self._db)

    def last_visits(self) -> dict[str, int]:
        """Return when each device's last visit began, ms since the epoch."""
        return last_visits(self._db)

    def _check_room(self, db: Connection, more: int) -> None:
        if used_bytes(self._db.query) + more > self._bytes_max:
            forget_receipted(db)
        why = check_limit("inbox", self._bytes_max, used_bytes(self._db.query), more)
        if why:
            raise UnavailableError(why)

    def _select(self, where: str, *values: object) -> list[HeldBatch]:
        return _held(self._db.query(f"SELECT {COLUMNS} FROM batches {where}", *values))  # noqa: S608


def _visit(db: Connection, visits: Iterable[tuple[str, str]]) -> None:
    db.executemany(
        "INSERT INTO visits VALUES (?,?,?,(SELECT elapsed_s FROM clock)) ON CONFLICT DO NOTHING",
        [(trip_id, device_id, now_ms()) for trip_id, device_id in visits],
    )


def _held(rows: Iterable[tuple[Any, ...]]) -> list[HeldBatch]:
    return [HeldBatch(*(*row[:8], State(row[8]), *row[9:])) for row in rows]
