"""The durable inbox: keeps signed batches and offers from their fsync until they are committed.

One SQLite file with synchronous=FULL. Every write is idempotent: a batch is named
by its signature, a recording by trip, device and hash. A device gets no more than its
share, so that it cannot fill the inbox for all.
"""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.runtime.connection import Connection
from contracts.runtime.running import RunningTime
from contracts.runtime.sqlite import used_bytes
from gateway.intake.held import End, HeldBatch, KnownBatch, Offer, State
from gateway.intake.numbers import Numbers, look
from gateway.intake.quotas import DeviceLimits
from gateway.intake.salvage import PROOFS
from gateway.intake.schema import (
    ADD_VISIT,
    CHAIN,
    COLUMNS,
    INBOX,
    NOW_MS,
    REASON,
    SELECTED,
)
from gateway.intake.visits import HeldVisits, forget_receipted
from gateway.intake.waiting import Waiting
from storage.checked.damage import DamageNotes
from storage.checked.kept import Kept, open_kept

ORDERED_CHAINS_MAX: Final = 20
"""Chains that wait for others up to which their order is always the same; with more, random."""
_FIELDS: Final = COLUMNS.replace(" ", "").split(",")
_ADD: Final = (
    f"INSERT INTO batches ({COLUMNS}, received_ms) VALUES (?,?,?,?,?,?,?,?,?,?,{NOW_MS})"  # noqa: S608
    f" ON CONFLICT (batch_id) DO UPDATE SET received_ms = excluded.received_ms,"
    f" {', '.join(f'{name} = excluded.{name}' for name in _FIELDS)}"
    f" WHERE batches.state IN ('{State.LOST}', '{State.DROPPED}')"
    f" OR (batches.state = '{State.QUARANTINED}' AND batches.trip_id = ''"
    " AND excluded.trip_id <> '')"
)
_WAITING: Final = (State.HELD, State.SUBMITTED, State.QUARANTINED)
_COMES_AGAIN: Final = (State.LOST, State.DROPPED)
_but_reason: Final = attrgetter(*(each.name for each in fields(HeldBatch)[:-1]))
_offer: Final = attrgetter(*(each.name for each in fields(Offer)))


class Inbox(Kept):
    """The inbox in one file; safe to use from several threads.

    Attributes:
        visits: Visits of devices, and their receipts.
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
        self.visits = HeldVisits(self._db)
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
        with self._db.transaction() as db:
            refused = _Sieve(db, self._quarantine_bytes_max, self._of_device).sift(batches)
            taken = [batch for batch in batches if batch.batch_id not in refused]
            self._check_room(db, sum(len(batch.wire) for batch in taken))
            db.executemany(_ADD, [_row(batch) for batch in taken])
            db.executemany(
                "INSERT INTO offers VALUES (?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                [_offer(offer) for offer in offers if offer.batch_id not in refused],
            )
            visits = {(batch.trip_id, batch.device_id) for batch in taken if batch.trip_id}
            db.executemany(ADD_VISIT, visits)
        return refused

    def mark(self, batch_ids: Iterable[str], state: State, reason: str = "") -> None:
        """Move batches to `state`."""
        with self._db.transaction() as db:
            db.executemany(
                "UPDATE batches SET state = ?, reason = ? WHERE batch_id = ?",
                [(state, _with_room(state, reason), batch_id) for batch_id in batch_ids],
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
            f"SELECT batch_id, trip_id, state, {REASON} FROM batches"  # noqa: S608
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

    def changes(self) -> int:
        """Return a number that grows with every change of a batch, a visit or a receipt."""
        return self._db.changes

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

    def in_numbers(self) -> Numbers:
        """Return the inbox in numbers.

        Raises:
            UnavailableError: The medium failed.
        """
        return look(self._db)

    def _check_room(self, db: Connection, more: int) -> None:
        if used_bytes(self._db.query) + more > self._bytes_max:
            forget_receipted(db)
        why = _full("inbox", self._bytes_max, used_bytes(self._db.query), more)
        if why:
            raise UnavailableError(why)

    def _select(self, where: str, *values: object) -> list[HeldBatch]:
        return _held(self._db.query(f"SELECT {SELECTED} FROM batches {where}", *values))  # noqa: S608


def _with_room(state: State, reason: str) -> str:
    """Return a reason as the inbox keeps it: an empty one leaves room for a longer state.

    If a row's length changes, SQLite writes all of its pages again, the batch's bytes among them;
    else only those that differ.
    """
    return reason or " " * (len(State.SUBMITTED) - len(state))


def _row(batch: HeldBatch) -> tuple[Any, ...]:
    return (*_but_reason(batch), _with_room(batch.state, batch.reason))


def _held(rows: Iterable[tuple[Any, ...]]) -> list[HeldBatch]:
    return [HeldBatch(*(*row[:8], State(row[8]), *row[9:])) for row in rows]


@dataclass(slots=True)
class _Usage:
    """What a device takes at the moment."""

    bytes: int
    waiting: int
    quarantined: int
    trips: set[str]


class _Sieve:
    """Takes the batches of one transaction that are within the limits.

    Args:
        db: The transaction's connection.
        quarantine_bytes_max: Bytes of all quarantined batches.
        of_device: The share of each device.
    """

    def __init__(self, db: Connection, quarantine_bytes_max: int, of_device: DeviceLimits) -> None:
        self._db = db
        self._quarantine_bytes_max = quarantine_bytes_max
        self._limits = of_device
        self._usages: dict[str, _Usage] = {}
        self._new: set[str] = set()
        self._quarantined = 0
        for (size,) in db.execute(
            "SELECT coalesce(sum(bytes), 0) FROM usage WHERE state = ?", (State.QUARANTINED,)
        ):
            self._quarantined = size

    def sift(self, batches: Sequence[HeldBatch]) -> dict[str, str]:
        """Return the ids of the batches that do not fit, each with the reason."""
        refused: dict[str, str] = {}
        for batch in batches:
            if batch.batch_id in self._new or self._is_kept(batch.batch_id):
                continue
            usage = self._usages.get(batch.device_id) or self._usage(batch.device_id)
            self._usages[batch.device_id] = usage
            why = self._excess(batch, usage)
            if why and forget_receipted(self._db, batch.device_id):
                usage = self._usages[batch.device_id] = self._usage(batch.device_id)
                why = self._excess(batch, usage)
            if why:
                refused[batch.batch_id] = why
            else:
                self._count(batch, usage)
        return refused

    def _is_kept(self, batch_id: str) -> bool:
        """Say whether a batch takes its room already."""
        rows = self._db.execute("SELECT state FROM batches WHERE batch_id = ?", (batch_id,))
        return any(state not in _COMES_AGAIN for (state,) in rows)

    def _usage(self, device_id: str) -> _Usage:
        rows = self._db.execute(
            "SELECT state, amount, bytes FROM usage WHERE device_id = ?", (device_id,)
        ).fetchall()
        trips = self._db.execute(
            "SELECT trip_id FROM visits WHERE device_id = ? AND NOT EXISTS (SELECT 1 FROM receipts"
            " WHERE receipts.trip_id = visits.trip_id"
            " AND receipts.device_id = visits.device_id AND receipts.final)",
            (device_id,),
        ).fetchall()
        return _Usage(
            sum(size for _, _, size in rows),
            sum(amount for state, amount, _ in rows if state in _WAITING),
            sum(size for state, _, size in rows if state == State.QUARANTINED),
            {trip_id for (trip_id,) in trips},
        )

    def _excess(self, batch: HeldBatch, usage: _Usage) -> str:
        """Return why a batch does not fit, or ""."""
        limits, device_id, more = self._limits, batch.device_id, len(batch.wire)
        if batch.trip_id and len(usage.trips | {batch.trip_id}) > limits.visits_max:
            return (
                f"{device_id} has {len(usage.trips)} visits without a final receipt, "
                f"at most {limits.visits_max} allowed"
            )
        if usage.waiting >= limits.batches_max:
            return (
                f"{usage.waiting} batches of {device_id} wait here, "
                f"at most {limits.batches_max} allowed"
            )
        why = _full(f"inbox of {device_id}", limits.bytes_max, usage.bytes, more)
        if why or batch.state is not State.QUARANTINED:
            return why
        return _full(
            f"quarantine of {device_id}", limits.quarantine_bytes_max, usage.quarantined, more
        ) or _full("quarantine", self._quarantine_bytes_max, self._quarantined, more)

    def _count(self, batch: HeldBatch, usage: _Usage) -> None:
        size = len(batch.wire)
        self._new.add(batch.batch_id)
        usage.bytes += size
        usage.waiting += 1
        if batch.trip_id:
            usage.trips.add(batch.trip_id)
        if batch.state is State.QUARANTINED:
            usage.quarantined += size
            self._quarantined += size


def _full(name: str, limit: int, used: int, more: int) -> str:
    """Return why `more` bytes do not fit, or ""."""
    if used + more <= limit:
        return ""
    return f"{name} is full: {used} of {limit} bytes are used, {more} more do not fit"
