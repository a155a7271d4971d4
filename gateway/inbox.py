"""The durable inbox: signed batches and offers, held from the fsync on until committed.

One SQLite file with synchronous=FULL. Every write is idempotent: a batch is named
by its signature, a recording by trip, device and hash.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from contracts.errors import UnavailableError
from contracts.records.clock import now_ms
from contracts.sqlite import open_versioned, transaction, translated
from gateway.inboxschema import CHAIN, COLUMNS, STEPS


class State(StrEnum):
    """Where a batch stands."""

    HELD = "held"
    SUBMITTED = "submitted"
    COMMITTED = "committed"
    QUARANTINED = "quarantined"
    LOST = "lost"
    """Was committed, is no longer, and its bytes were dropped: it must come again."""


@dataclass(frozen=True, slots=True)
class HeldBatch:
    """A batch in the inbox.

    Attributes:
        batch_id: Its header signature.
        device_id: The device that signed it.
        trip_id: The trip that it belongs to.
        wire: The serialised batch.
        readings: How many of its transactions are readings.
        dependency: Id of the transaction outside the batch that must be committed before; or "".
        last_transaction_id: What the device's next batch will depend on.
        recording: SHA-256 of the recording whose digest it is; None for readings.
        state: Where it stands.
        reason: Why it is quarantined, else empty.
    """

    batch_id: str
    device_id: str
    trip_id: str
    wire: bytes
    readings: int
    dependency: str
    last_transaction_id: str
    recording: bytes | None = None
    state: State = State.HELD
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A recording that a device announced, with the digest it signed."""

    trip_id: str
    device_id: str
    recording: bytes
    size: int
    tree_root: bytes
    batch_id: str


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """The newest receipt of a visit.

    Attributes:
        wire: As it is sent.
        final: Whether it ends the visit; a provisional one is followed by another.
    """

    wire: bytes
    final: bool


class Inbox:
    """The inbox in one file; used by several threads, one at a time."""

    def __init__(self, path: Path, *, bytes_max: int, quarantine_bytes_max: int) -> None:
        """Open the inbox at `path`, or make it; one of an older version is brought to this one.

        Raises:
            UnavailableError: The file cannot be opened, or is of a newer version.
        """
        self._lock = threading.RLock()
        self._bytes_max = bytes_max
        self._quarantine_bytes_max = quarantine_bytes_max
        self._db = open_versioned(path, "inbox", STEPS)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def add(self, batches: Sequence[HeldBatch], offers: Sequence[Offer]) -> None:
        """Store batches and offers durably, all or none; those known stay as they are, but lost.

        Raises:
            UnavailableError: The inbox or the disk is full; nothing was stored.
        """
        with self._transaction():
            self._check_room(batches)
            self._db.executemany(
                "INSERT INTO batches (batch_id, device_id, trip_id, wire, readings, dependency,"
                " last_transaction_id, recording, state, reason, received_ms)"
                " VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (batch_id) DO UPDATE"
                " SET wire = excluded.wire, state = excluded.state, reason = excluded.reason"
                " WHERE batches.state = ?",
                [
                    (
                        batch.batch_id,
                        batch.device_id,
                        batch.trip_id,
                        batch.wire,
                        batch.readings,
                        batch.dependency,
                        batch.last_transaction_id,
                        batch.recording,
                        batch.state,
                        batch.reason,
                        now_ms(),
                        State.LOST,
                    )
                    for batch in batches
                ],
            )
            self._db.executemany(
                "INSERT INTO offers VALUES (?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                [
                    (
                        offer.trip_id,
                        offer.device_id,
                        offer.recording,
                        offer.size,
                        offer.tree_root,
                        offer.batch_id,
                    )
                    for offer in offers
                ],
            )

            self._visit({(batch.trip_id, batch.device_id) for batch in batches if batch.trip_id})

    def visit(self, trip_id: str, device_id: str) -> None:
        """Note that a device offers a trip whose batches came in at another gateway."""
        with self._transaction():
            self._visit([(trip_id, device_id)])

    def mark(self, batch_ids: Iterable[str], state: State, reason: str = "") -> None:
        """Move batches to `state`."""
        with self._transaction():
            self._db.executemany(
                "UPDATE batches SET state = ?, reason = ? WHERE batch_id = ?",
                [(state, reason, batch_id) for batch_id in batch_ids],
            )

    def in_state(self, state: State, limit: int) -> list[HeldBatch]:
        """Return the batches in `state`, oldest first, at most `limit`."""
        return self._select("WHERE state = ? ORDER BY arrival LIMIT ?", state, limit)

    def ids_in(self, state: State, limit: int) -> list[str]:
        """Return the ids of the batches in `state`, oldest first, at most `limit`."""
        rows = self._query(
            "SELECT batch_id FROM batches WHERE state = ? ORDER BY arrival LIMIT ?", state, limit
        )
        return [batch_id for (batch_id,) in rows]

    def committed_after(self, arrival: int, limit: int) -> list[tuple[int, str]]:
        """Return arrival and id of the committed batches that came after `arrival`, in order."""
        rows = self._query(
            "SELECT arrival, batch_id FROM batches WHERE state = ? AND arrival > ?"
            " ORDER BY arrival LIMIT ?",
            State.COMMITTED,
            arrival,
            limit,
        )
        return [(at, batch_id) for at, batch_id in rows]

    def chains(self, limit: int) -> Iterator[list[HeldBatch]]:
        """Yield each device's held batches of readings of a trip, each after its predecessor.

        At most `limit` a chain. However they arrived, those come first whose predecessor is not
        held, since only they can move. Digests are left out: they wait for their recordings.
        """
        pairs = self._query(
            "SELECT DISTINCT trip_id, device_id FROM batches WHERE state = ? AND recording IS NULL",
            State.HELD,
        )
        for trip_id, device_id in pairs:
            yield _held(self._query(CHAIN, State.HELD, trip_id, device_id, limit))

    def batch(self, batch_id: str) -> HeldBatch | None:
        """Return one batch, or None."""
        return next(iter(self._select("WHERE batch_id = ?", batch_id)), None)

    def standing(self, batch_id: str) -> tuple[str, State, str] | None:
        """Return trip, state and reason of one batch, or None."""
        rows = self._query(
            "SELECT trip_id, state, reason FROM batches WHERE batch_id = ?", batch_id
        )
        return (rows[0][0], State(rows[0][1]), rows[0][2]) if rows else None

    def offers_in(self, state: State) -> list[Offer]:
        """Return the offers whose digest is in `state`."""
        rows = self._query(
            "SELECT offers.* FROM offers JOIN batches USING (batch_id) WHERE state = ?", state
        )
        return [Offer(*row) for row in rows]

    def offers_of(self, recording: bytes) -> list[Offer]:
        """Return the offers of one recording; two trips may hold the same video."""
        rows = self._query("SELECT * FROM offers WHERE recording = ?", recording)
        return [Offer(*row) for row in rows]

    def visits(self) -> list[tuple[str, str, int]]:
        """Return trip, device and first moment (ms since the epoch) of every visit, newest last."""
        rows = self._query("SELECT trip_id, device_id, since_ms FROM visits ORDER BY since_ms")
        return [(trip_id, device_id, since_ms) for trip_id, device_id, since_ms in rows]

    def open_visits(self) -> list[tuple[str, str, KeptReceipt | None]]:
        """Return trip, device and receipt of every visit without a final one.

        Those first that have a provisional one.
        """
        rows = self._query(
            "SELECT trip_id, device_id, wire FROM visits LEFT JOIN receipts"
            " USING (trip_id, device_id) WHERE final IS NOT 1 ORDER BY wire IS NULL"
        )
        return [
            (trip_id, device_id, None if wire is None else KeptReceipt(bytes(wire), final=False))
            for trip_id, device_id, wire in rows
        ]

    def counts(self, trip_id: str, device_id: str) -> dict[State, tuple[int, int]]:
        """Return, by state, how many batches and readings of a visit there are."""
        rows = self._query(
            "SELECT state, count(*), sum(readings) FROM batches"
            " WHERE trip_id = ? AND device_id = ? GROUP BY state",
            trip_id,
            device_id,
        )
        return {State(state): (batches, readings) for state, batches, readings in rows}

    def batch_ids(self, trip_id: str, device_id: str, state: State) -> list[str]:
        """Return the ids of a visit's batches in `state`."""
        rows = self._query(
            "SELECT batch_id FROM batches WHERE trip_id = ? AND device_id = ? AND state = ?",
            trip_id,
            device_id,
            state,
        )
        return [batch_id for (batch_id,) in rows]

    def offered(self, trip_id: str, device_id: str) -> list[tuple[bytes, int, State]]:
        """Return hash, size in bytes and state of the digest of a visit's recordings."""
        rows = self._query(
            "SELECT offers.recording, size, state FROM offers JOIN batches USING (batch_id)"
            " WHERE offers.trip_id = ? AND offers.device_id = ?",
            trip_id,
            device_id,
        )
        return [(recording, size, State(state)) for recording, size, state in rows]

    def genesis_id(self) -> str | None:
        """Return the id of the ledger's first block, once it is on record."""
        rows = self._query("SELECT genesis_id FROM network")
        return str(rows[0][0]) if rows else None

    def put_genesis_id(self, genesis_id: str) -> None:
        """Put the ledger's first block on record; the first one stands."""
        with self._transaction():
            self._db.execute(
                "INSERT INTO network VALUES (0, ?) ON CONFLICT DO NOTHING", (genesis_id,)
            )

    def put_receipt(self, trip_id: str, device_id: str, wire: bytes, *, final: bool) -> None:
        """Keep a signed receipt in the place of the one before."""
        with self._transaction():
            self._db.execute(
                "INSERT INTO receipts (trip_id, device_id, wire, final) VALUES (?,?,?,?)"
                " ON CONFLICT DO UPDATE SET wire = excluded.wire, final = excluded.final",
                (trip_id, device_id, wire, final),
            )

    def receipt(self, trip_id: str, device_id: str) -> KeptReceipt | None:
        """Return the receipt of a visit, or None."""
        rows = self._query(
            "SELECT wire, final FROM receipts WHERE trip_id = ? AND device_id = ?",
            trip_id,
            device_id,
        )
        return KeptReceipt(bytes(rows[0][0]), final=bool(rows[0][1])) if rows else None

    def receipts(self) -> list[tuple[str, str, bytes]]:
        """Return trip, device and bytes of every receipt."""
        rows = self._query("SELECT trip_id, device_id, wire FROM receipts")
        return [(trip_id, device_id, bytes(wire)) for trip_id, device_id, wire in rows]

    def withdraw_receipt(self, trip_id: str, device_id: str) -> None:
        """Forget the receipt of a visit, which is open again."""
        with self._transaction():
            self._db.execute(
                "DELETE FROM receipts WHERE trip_id = ? AND device_id = ?", (trip_id, device_id)
            )

    def _visit(self, visits: Iterable[tuple[str, str]]) -> None:
        self._db.executemany(
            "INSERT INTO visits VALUES (?,?,?) ON CONFLICT DO NOTHING",
            [(trip_id, device_id, now_ms()) for trip_id, device_id in visits],
        )

    def _check_room(self, batches: Sequence[HeldBatch]) -> None:
        more = sum(len(batch.wire) for batch in batches)
        if self._used_bytes() + more > self._bytes_max:
            self._forget_receipted()
        _check_limit("inbox", self._bytes_max, self._used_bytes(), more)
        refused = sum(len(batch.wire) for batch in batches if batch.state is State.QUARANTINED)
        if refused:
            rows = self._query(
                "SELECT coalesce(sum(length(wire)), 0) FROM batches WHERE state = ?",
                State.QUARANTINED,
            )
            _check_limit("quarantine", self._quarantine_bytes_max, int(rows[0][0]), refused)

    def _used_bytes(self) -> int:
        pages, free, size = (
            int(self._db.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def _forget_receipted(self) -> None:
        """Drop the bytes of batches whose visit ended with a final receipt: the ledger has them.

        Such a receipt has waited for its confirmations; until then a fork may drop the batches,
        and they are to be submitted again from here.
        """
        self._db.execute(
            "UPDATE batches SET wire = x'' WHERE state = ? AND EXISTS (SELECT 1 FROM receipts"
            " WHERE receipts.trip_id = batches.trip_id"
            " AND receipts.device_id = batches.device_id AND receipts.final)",
            (State.COMMITTED,),
        )

    def _select(self, where: str, *values: object) -> list[HeldBatch]:
        return _held(self._query(f"SELECT {COLUMNS} FROM batches {where}", *values))  # noqa: S608

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, translated("inbox", damaged=UnavailableError):
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with (
            self._lock,
            translated("inbox", damaged=UnavailableError),
            transaction(self._db),
        ):
            yield


def _held(rows: Iterable[tuple[Any, ...]]) -> list[HeldBatch]:
    return [replace(HeldBatch(*row[:8]), state=State(row[8]), reason=row[9]) for row in rows]


def _check_limit(name: str, limit: int, used: int, more: int) -> None:
    if used + more > limit:
        raise UnavailableError(
            f"{name} is full: {used} of {limit} bytes are used, {more} more do not fit"
        )
