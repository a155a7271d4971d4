"""The journal as the recorder uses it: trips begin, grow and are sealed."""

from collections.abc import Sequence
from typing import Any, Final

from contracts.encoding import canonical
from contracts.errors import RejectedError, UnavailableError
from contracts.proto.payload_pb2 import Clock as ClockMessage
from contracts.proto.payload_pb2 import RecordReading, StartTrip
from contracts.proto.payload_pb2 import Remark as RemarkMessage
from contracts.records.reading import Clock
from contracts.records.remark import Remark
from contracts.runtime.connection import Connection
from device.journal.database import Database, recordings_of
from device.journal.trip import Pending, Recording, SignedBatch, Trip, TripState

CLOSING_BYTES: Final = 256 * 1024
"""Kept free in the journal for the seal, and for the last readings, which say why it is full."""
CLOSING_BYTES_PER_RECORDING: Final = 4 * 1024
_GROWING: Final = (
    "state, readings, head_sha256, last_transaction_id, clock, seal_transaction_id, run_ended"
)
_COLUMNS: Final = f"trip_id, input_id, start, reported, joined_at_ms, {_GROWING}"


class BufferFullError(UnavailableError):
    """A buffer of the device has no room: something has to be offloaded first."""


class Logbook:
    """Writes trips; the caller holds the recording lock.

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
        rows = self._database.query(f"SELECT {_COLUMNS} FROM trips ORDER BY number")  # noqa: S608
        return [_trip(row, self._database.device_id) for row in rows]

    def trip(self, trip_id: str) -> Trip:
        """Return one trip as the last commit left it.

        Raises:
            RejectedError: The journal has no such trip.
        """
        row = self._database.one(f"SELECT {_COLUMNS} FROM trips WHERE trip_id = ?", trip_id)  # noqa: S608
        return _trip(row, self._database.device_id)

    def open_trip(self) -> Trip | None:
        """Return the trip that is being recorded, if any; there is never more than one."""
        return next((trip for trip in self.trips() if trip.state is TripState.OPEN), None)

    def series(self) -> tuple[int, bytes]:
        """Return the number of the latest trip in the device's row, and the hash of its seal.

        The number is 0 before the first trip, and the hash empty.
        """
        number, seal_sha256 = self._database.one("SELECT last_number, seal_sha256 FROM series")
        return number, seal_sha256

    def begin(self, trip: Trip, pending: Sequence[Pending]) -> None:
        """Begin `trip` durably, with its signed start, or with no transaction if it is joined.

        A numbered trip of this device becomes the latest in its row, in the same commit.

        Raises:
            RejectedError: Another trip is open.
            UnavailableError: The journal is full, or the medium failed.
        """
        with self._database.transaction() as connection:
            other = self.open_trip()
            if other:
                raise RejectedError(f"trip {other.trip_id} is still open")
            self._check_room(sum(len(item.wire) for item in pending), trip.trip_id)
            connection.execute(
                f"INSERT INTO trips (trip_id, input_id, start, reported, joined_at_ms, {_GROWING}) "  # noqa: S608
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    trip.trip_id,
                    trip.input_id,
                    canonical(trip.start),
                    trip.reported,
                    trip.joined_at_ms,
                    *_growing(trip),
                ),
            )
            _add_pending(connection, trip.trip_id, pending)
            if trip.own_number:
                connection.execute("UPDATE series SET last_number = ?", (trip.own_number,))

    def append(
        self,
        trip: Trip,
        closed: Sequence[SignedBatch],
        pending: Sequence[Pending],
        waiting: Sequence[RecordReading] = (),
        *,
        said: Sequence[Remark] = (),
        closing: bool = False,
    ) -> None:
        """Make new readings durable, all of them or none.

        Args:
            trip: Its state after them.
            closed: Batches that filled up; they contain all transactions that were pending.
            pending: Transactions added to the open batch.
            waiting: Readings added to the unsigned run.
            said: What the readings say: it is not owed any more.
            closing: The trip ends with these readings, which may take the room kept for that.

        Raises:
            UnavailableError: The journal is full, or the medium failed; nothing was changed.
        """
        records = [canonical(record) for record in waiting]
        wires = [*(batch.wire for batch in closed), *(item.wire for item in pending), *records]
        with self._database.transaction() as connection:
            if wires and not closing:
                self._check_room(sum(map(len, wires)), trip.trip_id)
            _store(connection, trip, closed, pending)
            connection.executemany(
                "INSERT INTO waiting (trip_id, record) VALUES (?, ?)",
                ((trip.trip_id, record) for record in records),
            )
            connection.executemany(
                "DELETE FROM owed WHERE trip_id = ? AND remark = ?",
                ((trip.trip_id, canonical(each.message())) for each in said),
            )

    def sign_run(self, trip: Trip, run: Pending) -> None:
        """Replace the waiting readings by their signed run, durably.

        The run is a few bytes larger; the journal's limit ignores them, so that a trip can be
        closed although the journal is full.

        Raises:
            UnavailableError: The medium failed; the readings still wait.
        """
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM waiting WHERE trip_id = ?", (trip.trip_id,))
            _store(connection, trip, [], [run])

    def seal(self, trip: Trip, closed: Sequence[SignedBatch], seal_sha256: bytes) -> None:
        """End `trip` durably with its last batches.

        Args:
            trip: Its state after them.
            closed: Its last batches.
            seal_sha256: SHA-256 of its seal, which the device's next start names.

        Raises:
            UnavailableError: The medium failed; nothing was changed.
        """
        with self._database.transaction() as connection:
            _store(connection, trip, closed, [])
            if trip.own_number:
                connection.execute(
                    "UPDATE series SET seal_sha256 = ? WHERE last_number = ?",
                    (seal_sha256, trip.own_number),
                )

    def mark_reported(self, trip_id: str) -> None:
        """Note that the user was told of the trip's end: the same input now starts a new trip."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE trips SET reported = 1 WHERE trip_id = ?", (trip_id,))

    def pending(self, trip_id: str) -> list[Pending]:
        """Return the transactions that wait for their batch, in order."""
        rows = self._database.query(
            "SELECT wire, readings, monotonic_ms FROM pending WHERE trip_id = ? ORDER BY number",
            trip_id,
        )
        return [Pending(*row) for row in rows]

    def waiting(self, trip_id: str) -> list[RecordReading]:
        """Return the readings that wait for their run to end, in order."""
        rows = self._database.query(
            "SELECT record FROM waiting WHERE trip_id = ? ORDER BY number", trip_id
        )
        return [RecordReading.FromString(record) for (record,) in rows]

    def recordings(self, trip_id: str) -> list[Recording]:
        """Return the recordings of a trip, in the order in which they were made."""
        return recordings_of(self._database, trip_id)

    def add_recording(self, recording: Recording) -> None:
        """Note a recording durably; its file is durable already.

        Raises:
            RejectedError: The trip has that recording already.
        """
        digest = recording.digest
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO recordings (trip_id, sha256, size, tree_root, name, media_type, "
                "duration_ms, source_sha256, started_at_ms, marked) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    recording.trip_id,
                    digest.sha256,
                    digest.size,
                    digest.tree_root,
                    recording.name,
                    recording.media_type,
                    recording.duration_ms,
                    recording.source_sha256,
                    recording.started_at_ms,
                    recording.marked,
                ),
            )

    def owe(self, trip_id: str, remark: Remark) -> None:
        """Note durably what a reading of the trip has to say; may be repeated until one says it.

        Raises:
            UnavailableError: The medium failed.
        """
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO owed (trip_id, remark) VALUES (?, ?)",
                (trip_id, canonical(remark.message())),
            )

    def owed(self, trip_id: str) -> list[Remark]:
        """Return what readings of the trip still have to say, oldest first."""
        rows = self._database.query(
            "SELECT remark FROM owed WHERE trip_id = ? ORDER BY number", trip_id
        )
        return [Remark.from_message(RemarkMessage.FromString(remark)) for (remark,) in rows]

    def video_room(self) -> tuple[int, int]:
        """Return how many bytes of the video buffer are free, and how large it is.

        The first is below 0 if the buffer was made smaller than what it holds.
        """
        most = self._video_bytes_max
        return most - video_bytes(self._database), most

    def check_video_room(self, size: int) -> None:
        """Check that the video buffer has room for `size` more bytes.

        Raises:
            UnavailableError: It has not.
        """
        used = video_bytes(self._database)
        if used + size > self._video_bytes_max:
            raise BufferFullError(
                f"video buffer full: {used} bytes wait for an offload, {size} more exceed "
                f"buffer.video_bytes_max = {self._video_bytes_max}; offload first"
            )

    def _check_room(self, size: int, trip_id: str) -> None:
        used = journal_bytes(self._database)
        ((recordings,),) = self._database.query(
            "SELECT COUNT(*) FROM recordings WHERE trip_id = ?", trip_id
        )
        kept = CLOSING_BYTES + CLOSING_BYTES_PER_RECORDING * recordings
        if used + size + kept > self._journal_bytes_max:
            raise BufferFullError(
                f"journal full: {used} bytes wait for an offload, {size} more and {kept} kept for "
                f"the seal exceed buffer.journal_bytes_max = {self._journal_bytes_max}; "
                f"`wayseal-device close` ends the trip, then offload"
            )


def journal_bytes(database: Database) -> int:
    """Return how many bytes of readings, signed or not, wait for a receipt."""
    ((used,),) = database.query(
        "SELECT (SELECT COALESCE(SUM(LENGTH(wire)), 0) FROM batches)"
        " + (SELECT COALESCE(SUM(LENGTH(wire)), 0) FROM pending)"
        " + (SELECT COALESCE(SUM(LENGTH(record)), 0) FROM waiting)"
    )
    return int(used)


def video_bytes(database: Database) -> int:
    """Return how many bytes of recordings wait for a receipt."""
    ((used,),) = database.query("SELECT COALESCE(SUM(size), 0) FROM recordings")
    return int(used)


def _store(
    connection: Connection, trip: Trip, closed: Sequence[SignedBatch], pending: Sequence[Pending]
) -> None:
    if closed:
        connection.execute("DELETE FROM pending WHERE trip_id = ?", (trip.trip_id,))
    connection.executemany(
        "INSERT INTO batches (batch_id, trip_id, digest_of, wire) VALUES (?, ?, ?, ?)",
        ((batch.batch_id, trip.trip_id, batch.digest_of, batch.wire) for batch in closed),
    )
    _add_pending(connection, trip.trip_id, pending)
    connection.execute(
        f"UPDATE trips SET ({_GROWING}) = (?, ?, ?, ?, ?, ?, ?) WHERE trip_id = ?",  # noqa: S608
        (*_growing(trip), trip.trip_id),
    )


def _growing(trip: Trip) -> tuple[object, ...]:
    """Return the values of the columns that change while a trip is recorded."""
    return (
        trip.state,
        trip.readings,
        trip.head_sha256,
        trip.last_transaction_id,
        canonical(trip.clock.message()),
        trip.seal_transaction_id,
        trip.run_ended,
    )


def _add_pending(connection: Connection, trip_id: str, pending: Sequence[Pending]) -> None:
    connection.executemany(
        "INSERT INTO pending (trip_id, readings, monotonic_ms, wire) VALUES (?, ?, ?, ?)",
        ((trip_id, item.readings, item.monotonic_ms, item.wire) for item in pending),
    )


def _trip(row: Any, device_id: str) -> Trip:  # noqa: ANN401 - SQL rows have no static type
    (trip_id, input_id, start, reported, joined), growing = row[:5], row[5:]
    state, readings, head, last, clock, seal, run_ended = growing
    return Trip(
        trip_id,
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
