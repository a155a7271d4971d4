"""What waits in the inbox and does not move: shown to operators, dropped by them or by age.

Nothing is lost with it: a truck deletes nothing before its receipt, is told what was
dropped, and may send it again. Ages count the time that the gateway has run, so that a wall clock
that is wrong or set drops nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from contracts.runtime.running import RunningTime
from contracts.runtime.sqlite import VersionedDatabase
from gateway.intake.held import State
from gateway.intake.schema import NOW_MS, REASON

DROPPED_AT_ONCE_MAX: Final = 500
"""Batches that one transaction drops, so that trucks need not wait for a long one."""

_COLUMNS: Final = (
    f"arrival, batch_id, device_id, trip_id, state, recording, dependency, {REASON}, received_ms,"
    " length(wire)"
)
_DROPPABLE: Final = f"state IN ('{State.HELD}', '{State.QUARANTINED}')"
_OLDER: Final = (
    "EXISTS (SELECT 1 FROM ages WHERE ages.arrival = batches.arrival AND ages.since_s < ?)"
)


@dataclass(frozen=True, slots=True)
class WaitingBatch:
    """A batch that is held or quarantined.

    Attributes:
        recording: SHA-256 of the recording whose digest it carries; None for readings.
        dependency: The transaction that must be committed first, or "".
        reason: Why it is quarantined; empty if it is held.
        since_ms: When it came, ms since the epoch.
        bytes: Its size.
        age_s: For how long the gateway has run since then.
    """

    batch_id: str
    device_id: str
    trip_id: str
    state: State
    recording: bytes | None
    dependency: str
    reason: str
    since_ms: int
    bytes: int
    age_s: float


@dataclass(frozen=True, slots=True)
class DeviceUsage:
    """What a device's batches take in one state."""

    device_id: str
    state: State
    batches: int
    bytes: int


class Waiting:
    """Lists and drops batches that wait; safe to use from several threads."""

    def __init__(self, db: VersionedDatabase, clock: RunningTime) -> None:
        self._db = db
        self._clock = clock

    def batches(
        self,
        after: int,
        limit: int,
        device_id: str | None = None,
        state: State | None = None,
    ) -> list[tuple[int, WaitingBatch]]:
        """Return held and quarantined batches in their order of arrival.

        Args:
            after: Number of an arrival; only later batches are meant.
            limit: Most batches.
            device_id: Device whose batches are meant; None for all.
            state: Held or quarantined; None for both.

        Returns:
            Number of the arrival, and batch.
        """
        rows = self._db.query(
            f"SELECT {_COLUMNS}, ?4 - since_s FROM batches JOIN ages USING (arrival)"  # noqa: S608
            f" WHERE {_DROPPABLE} AND arrival > ?1"
            " AND (?2 IS NULL OR device_id = ?2) AND (?5 IS NULL OR state = ?5)"
            " ORDER BY arrival LIMIT ?3",
            after,
            device_id,
            limit,
            self._clock.elapsed_s,
            state,
        )
        return [(arrival, _waiting(row)) for arrival, *row in rows]

    def usage(self) -> list[DeviceUsage]:
        """Return what each device's batches take, by state."""
        rows = self._db.query("SELECT * FROM usage WHERE amount > 0 ORDER BY device_id, state")
        return [DeviceUsage(name, State(state), amount, size) for name, state, amount, size in rows]

    def drop(self, batch_id: str, reason: str) -> bool:
        """Drop a held or quarantined batch; say whether there was one."""
        return bool(self._drop("batch_id = ?", batch_id, reason))

    def drop_of(self, device_id: str, reason: str) -> int:
        """Drop everything of a device that is held or quarantined; return how many batches."""
        return sum(self._in_parts("device_id = ?", device_id, reason))

    def advance(self) -> None:
        """Let what waits grow older by the time since the last call.

        Raises:
            UnavailableError: The inbox cannot be written.
        """
        self._clock.advance()

    def expire(self, age_s: float, reason: str) -> int:
        """Forget what was dropped longer ago than `age_s`; drop what has waited for longer.

        Returns:
            How many batches were dropped.
        """
        before_s = self._clock.elapsed_s - age_s
        with self._db.transaction() as db:
            db.execute(
                f"DELETE FROM batches WHERE state = ? AND {_OLDER}",  # noqa: S608
                (State.DROPPED, before_s),
            )
            db.execute(
                "DELETE FROM visits WHERE since_s < ?1 AND NOT EXISTS (SELECT 1 FROM batches"
                " WHERE batches.trip_id = visits.trip_id"
                " AND batches.device_id = visits.device_id) AND NOT EXISTS (SELECT 1 FROM receipts"
                " WHERE receipts.trip_id = visits.trip_id"
                " AND receipts.device_id = visits.device_id)",
                (before_s,),
            )
        return sum(self._in_parts(_OLDER, before_s, reason))

    def _in_parts(self, which: str, value: object, reason: str) -> Iterator[int]:
        while count := self._drop(which, value, reason):
            yield count

    def _drop(self, which: str, value: object, reason: str) -> int:
        with self._db.transaction() as db:
            found = db.execute(
                f"SELECT batch_id FROM batches WHERE {_DROPPABLE} AND {which} LIMIT ?",  # noqa: S608
                (value, DROPPED_AT_ONCE_MAX),
            ).fetchall()
            db.executemany(
                f"UPDATE batches SET state = ?, reason = ?, received_ms = {NOW_MS}, wire = x''"  # noqa: S608
                " WHERE batch_id = ?",
                [(State.DROPPED, reason, name) for (name,) in found],
            )
            db.executemany("DELETE FROM offers WHERE batch_id = ?", found)
            return len(found)


def _waiting(row: list[Any]) -> WaitingBatch:
    batch_id, device_id, trip_id, state, *rest = row
    return WaitingBatch(batch_id, device_id, trip_id, State(state), *rest)
