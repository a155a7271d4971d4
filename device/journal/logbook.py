"""The journal as the recorder sees it: trips begin, grow and are sealed."""

from collections.abc import Sequence
from typing import Any, Final

from contracts.encoding import canonical
from contracts.errors import RejectedError, UnavailableError
from contracts.proto.payload_pb2 import Clock as ClockMessage
from contracts.proto.payload_pb2 import RecordReading, StartTrip
from contracts.records.clock import Clock
from device.journal.database import Database
from device.journal.queries import journal_bytes, recordings_of, video_bytes
from device.journal.trip import Pending, Recording, SignedBatch, Trip, TripState

CLOSING_BYTES: Final = 64 * 1024
"""Kept free in the journal for the seal, so that a full journal can still be closed."""
CLOSING_BYTES_PER_RECORDING: Final = 4 * 1024
_COLUMNS: Final = (
    "input_id, start, state, reported, readings, head_sha256, last_transaction_id, clock, "
    "seal_transaction_id, run_ended, joined_at_ms"
)


class Logbook:
    """Writes trips; who uses it holds the recording lock.

    Args:
        database: The journal.
        journal_bytes_max: Most bytes of signed transactions and batches that may wait.
        video_bytes_max: Most bytes of recordings that may wait.
    """

    def __init__(self, database: Database, *, journal_bytes_max: int, video_bytes_max: int) -> None:
        self._database = database
        self._journal_bytes_max = journal_bytes_max
        self._video_bytes_max = video_bytes_max

    def trips(self) -> list[Trip]:
        """Return every trip, oldest first."""
        rows = self._database.all(f"SELECT {_COLUMNS} FROM trips ORDER BY number")  # noqa: S608
        return [_trip(row, self._database.device_id) for row in rows]

    def trip(self, trip_id: str) -> Trip:
        """Return one trip as the last commit left it.

        Raises:
            RejectedError: There is none of that id.
        """
        row = self._database.one(f"SELECT {_COLUMNS} FROM trips WHERE trip_id = ?", trip_id)  # noqa: S608
        return _trip(row, self._database.device_id)

    def open_trip(self) -> Trip | None:
        """Return the trip that is being recorded, if any; there is never more than one."""
        return next((trip for trip in self.trips() if trip.state is TripState.OPEN), None)

    def begin(self, trip: Trip, pending: Sequence[Pending]) -> None:
        """Begin `trip` durably, with its signed start; with nothing yet when it is joined.

        Raises:
            RejectedError: Another trip is open.
            UnavailableError: The journal is full, or the medium failed.
        """
        with self._database.transaction():
            other = self.open_trip()
            if other:
                raise RejectedError(f"trip {other.trip_id} is still open")
            self._check_room(sum(len(item.wire) for item in pending), recordings=0)
            self._database.execute(
                f"INSERT INTO trips (trip_id, {_COLUMNS}) "  # noqa: S608
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                trip.trip_id,
                trip.input_id,
                canonical(trip.start),
                trip.state,
                trip.reported,
                trip.readings,
                trip.head_sha256,
                trip.last_transaction_id,
                canonical(trip.clock.message()),
                trip.seal_transaction_id,
                trip.run_ended,
                trip.joined_at_ms,
            )
            self._add_pending(trip.trip_id, pending)

    def append(
        self,
        trip: Trip,
        closed: Sequence[SignedBatch],
        pending: Sequence[Pending],
        waiting: Sequence[RecordReading] = (),
    ) -> None:
        """Make new readings durable, all of them or none.

        Args:
            trip: As it stands with them.
            closed: Batches that filled up; they contain whatever was pending before.
            pending: Transactions added to the batch that is not full yet.
            waiting: Readings added to the run that is not signed yet.

        Raises:
            UnavailableError: The journal is full, or the medium failed; nothing was changed.
        """
        records = [canonical(record) for record in waiting]
        wires = [*(batch.wire for batch in closed), *(item.wire for item in pending), *records]
        with self._database.transaction():
            if wires:
                size = sum(map(len, wires))
                self._check_room(size, recordings=len(self.recordings(trip.trip_id)))
            self._store(trip, closed, pending)
            self._database.execute_many(
                "INSERT INTO waiting (trip_id, record) VALUES (?, ?)",
                ((trip.trip_id, record) for record in records),
            )

    def sign_run(self, trip: Trip, run: Pending) -> None:
        """Put the signed run in the place of the readings that waited, durably.

        Its few bytes more are not held against the journal's limit, so that a full one can be
        closed.

        Raises:
            UnavailableError: The medium failed; the readings go on waiting.
        """
        with self._database.transaction():
            self._database.execute("DELETE FROM waiting WHERE trip_id = ?", trip.trip_id)
            self._store(trip, [], [run])

    def seal(self, trip: Trip, closed: Sequence[SignedBatch]) -> None:
        """End `trip` durably with its last batches.

        Raises:
            UnavailableError: The medium failed; nothing was changed.
        """
        with self._database.transaction():
            self._store(trip, closed, [])

    def mark_reported(self, trip_id: str) -> None:
        """Note that the end of the trip was told, so that the same input starts a new one."""
        with self._database.transaction():
            self._database.execute("UPDATE trips SET reported = 1 WHERE trip_id = ?", trip_id)

    def pending(self, trip_id: str) -> list[Pending]:
        """Return the transactions that wait for their batch, in order."""
        rows = self._database.all(
            "SELECT wire, readings, monotonic_ms FROM pending WHERE trip_id = ? ORDER BY number",
            trip_id,
        )
        return [Pending(*row) for row in rows]

    def waiting(self, trip_id: str) -> list[RecordReading]:
        """Return the readings that wait for their run to end, in order."""
        rows = self._database.all(
            "SELECT record FROM waiting WHERE trip_id = ? ORDER BY number", trip_id
        )
        return [RecordReading.FromString(record) for (record,) in rows]

    def recordings(self, trip_id: str) -> list[Recording]:
        """Return the recordings of a trip, in the order in which they were made."""
        return recordings_of(self._database, trip_id)

    def add_recording(self, recording: Recording) -> None:
        """Note, durably, a recording whose file already is.

        Raises:
            RejectedError: The trip has that recording already.
        """
        digest = recording.digest
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO recordings (trip_id, sha256, size, tree_root, name, media_type, "
                "duration_ms, source_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                recording.trip_id,
                digest.sha256,
                digest.size,
                digest.tree_root,
                recording.name,
                recording.media_type,
                recording.duration_ms,
                recording.source_sha256,
            )

    def check_video_room(self, size: int) -> None:
        """Check that another `size` bytes of recordings may be kept.

        Raises:
            UnavailableError: They may not.
        """
        used = video_bytes(self._database)
        if used + size > self._video_bytes_max:
            raise UnavailableError(
                f"video buffer full: {used} bytes wait for an offload, {size} more exceed "
                f"buffer.video_bytes_max = {self._video_bytes_max}; offload first"
            )

    def _check_room(self, size: int, *, recordings: int) -> None:
        used = journal_bytes(self._database)
        kept = CLOSING_BYTES + CLOSING_BYTES_PER_RECORDING * recordings
        if used + size + kept > self._journal_bytes_max:
            raise UnavailableError(
                f"journal full: {used} bytes wait for an offload, {size} more and {kept} kept for "
                f"the seal exceed buffer.journal_bytes_max = {self._journal_bytes_max}; "
                f"`wayseal-device close` ends the trip, then offload"
            )

    def _store(self, trip: Trip, closed: Sequence[SignedBatch], pending: Sequence[Pending]) -> None:
        if closed:
            self._database.execute("DELETE FROM pending WHERE trip_id = ?", trip.trip_id)
        self._database.execute_many(
            "INSERT INTO batches (batch_id, trip_id, digest_of, wire) VALUES (?, ?, ?, ?)",
            ((batch.batch_id, trip.trip_id, batch.digest_of, batch.wire) for batch in closed),
        )
        self._add_pending(trip.trip_id, pending)
        self._database.execute(
            "UPDATE trips SET state = ?, readings = ?, head_sha256 = ?, last_transaction_id = ?, "
            "clock = ?, seal_transaction_id = ?, run_ended = ? WHERE trip_id = ?",
            trip.state,
            trip.readings,
            trip.head_sha256,
            trip.last_transaction_id,
            canonical(trip.clock.message()),
            trip.seal_transaction_id,
            trip.run_ended,
            trip.trip_id,
        )

    def _add_pending(self, trip_id: str, pending: Sequence[Pending]) -> None:
        self._database.execute_many(
            "INSERT INTO pending (trip_id, readings, monotonic_ms, wire) VALUES (?, ?, ?, ?)",
            ((trip_id, item.readings, item.monotonic_ms, item.wire) for item in pending),
        )


def _trip(row: Any, device_id: str) -> Trip:  # noqa: ANN401 - SQL rows have no static type
    input_id, start, state, reported, readings, head, last, clock, seal, run_ended, joined = row
    return Trip(
        input_id,
        device_id,
        StartTrip.FromString(start),
        TripState(state),
        bool(reported),
        readings,
        head,
        last,
        Clock.from_message(ClockMessage.FromString(clock)),
        seal,
        bool(run_ended),
        joined,
    )
