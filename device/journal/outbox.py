"""The journal as the offload uses it: what the gateway holds, and what may be deleted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contracts.runtime.sqlite import changed_rows
from device.journal.database import Database, lacking_of, recordings_of
from device.journal.trip import Recording, TripState


@dataclass(frozen=True, slots=True)
class Announced:
    """A sealed recording and its signed digest.

    Attributes:
        recording: The recording.
        batch_id: Id of its digest batch.
        digest_batch: The serialised batch.
    """

    recording: Recording
    batch_id: str
    digest_batch: bytes


@dataclass(frozen=True, slots=True)
class Expected:
    """What a receipt must say about a sealed trip before its local copy may be deleted.

    Attributes:
        trip_id: Id of the trip.
        reading_count: Number of sealed readings.
        head_sha256: Digest of the last one.
        seal_transaction_id: Id of the seal.
        recordings: Sealed recordings.
        provisional: The provisional receipt that is kept, as received; None before the first.
    """

    trip_id: str
    reading_count: int
    head_sha256: bytes
    seal_transaction_id: str
    recordings: Sequence[Recording]
    provisional: bytes | None


class Outbox:
    """Closed batches and sealed recordings that wait for a receipt, oldest trip first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def batch_ids(self) -> list[str]:
        """Return the ids of all batches of readings."""
        rows = self._database.query(
            "SELECT batch_id FROM batches WHERE digest_of IS NULL ORDER BY number"
        )
        return [batch_id for (batch_id,) in rows]

    def unsent(self) -> list[str]:
        """Return the ids of the batches of readings that are neither held nor refused."""
        rows = self._database.query(
            "SELECT batch_id FROM batches WHERE digest_of IS NULL AND NOT held "
            "AND refused IS NULL ORDER BY number"
        )
        return [batch_id for (batch_id,) in rows]

    def unheld_count(self) -> int:
        """Return how many batches, digests included, are neither held nor refused."""
        (count,) = self._database.one(
            "SELECT COUNT(*) FROM batches WHERE NOT held AND refused IS NULL"
        )
        return int(count)

    def wires(self, batch_ids: Iterable[str]) -> Iterable[bytes]:
        """Yield each batch in wire form; a batch that was receipted since is left out."""
        for batch_id in batch_ids:
            for (wire,) in self._database.query(
                "SELECT wire FROM batches WHERE batch_id = ?", batch_id
            ):
                yield wire

    def announced(self) -> list[Announced]:
        """Return every sealed recording with its signed digest, marked ones first."""
        rows = self._database.query(
            "SELECT trip_id, digest_of, batch_id, wire FROM batches "
            "WHERE digest_of IS NOT NULL ORDER BY number"
        )
        recordings = {
            (trip_id, each.digest.sha256): each
            for trip_id in {row[0] for row in rows}
            for each in recordings_of(self._database, trip_id)
        }
        found = [
            Announced(recordings[trip_id, sha256], batch_id, wire)
            for trip_id, sha256, batch_id, wire in rows
            if (trip_id, sha256) in recordings
        ]
        return sorted(found, key=lambda each: not each.recording.marked)

    def mark(self, recordings: Iterable[bytes]) -> None:
        """Mark recordings by their SHA-256, as a site wants them before the others.

        Raises:
            UnavailableError: The medium failed; none is marked.
        """
        with self._database.transaction() as connection:
            connection.executemany(
                "UPDATE recordings SET marked = 1 WHERE sha256 = ? AND NOT marked",
                ((each,) for each in recordings),
            )

    def note(
        self, held: Iterable[str], refused: Mapping[str, str], forget: Iterable[str] = ()
    ) -> int:
        """Note what the gateway answered; return how many more batches it holds than before.

        Args:
            held: Ids of batches that it holds.
            refused: Why it refuses other batches for good, by id.
            forget: Ids whose state is unknown now; applied first.
        """
        # A row that stays as it is would be read whole, the batch's bytes among it.
        before = self._held_count()
        with self._database.transaction() as connection:
            connection.executemany(
                "UPDATE batches SET held = 0, refused = NULL WHERE batch_id = ?"
                " AND (held OR refused IS NOT NULL)",
                ((batch_id,) for batch_id in forget),
            )
            connection.executemany(
                "UPDATE batches SET held = 1, refused = NULL WHERE batch_id = ?"
                " AND (NOT held OR refused IS NOT NULL)",
                ((batch_id,) for batch_id in held),
            )
            connection.executemany(
                "UPDATE batches SET held = 0, refused = ? WHERE batch_id = ? OR digest_of = ?",
                ((reason, name, _sha256(name)) for name, reason in refused.items()),
            )
        return max(0, self._held_count() - before)

    def refusals(self) -> dict[str, str]:
        """Return why batches are refused, by id."""
        return dict(
            self._database.query(
                "SELECT batch_id, refused FROM batches WHERE refused IS NOT NULL ORDER BY number"
            )
        )

    def awaiting_receipt(self) -> list[str]:
        """Return the sealed trips without a refused batch."""
        rows = self._database.query(
            "SELECT trip_id FROM trips WHERE state = ? AND trip_id NOT IN "
            "(SELECT trip_id FROM batches WHERE refused IS NOT NULL) ORDER BY number",
            TripState.SEALED,
        )
        return [trip_id for (trip_id,) in rows]

    def is_unanswered(self) -> bool:
        """Say whether a batch is not held or is refused, or a trip has no receipt at all."""
        waiting = set(self.awaiting_receipt()) - self.provisional().keys()
        return bool(waiting or self.unheld_count() or self.refusals())

    def expected(self, trip_id: str) -> Expected | None:
        """Return what the receipt of a sealed trip must say; None for any other trip."""
        rows = self._database.query(
            "SELECT readings, head_sha256, seal_transaction_id, receipt FROM trips "
            "WHERE trip_id = ? AND state = ?",
            trip_id,
            TripState.SEALED,
        )
        if not rows:
            return None
        readings, head, seal, receipt = rows[0]
        recordings = recordings_of(self._database, trip_id)
        return Expected(trip_id, readings, head, seal, recordings, receipt)

    def provisional(self) -> dict[str, list[str]]:
        """Return what is missing, by trip, for every trip with a provisional receipt."""
        rows = self._database.query("SELECT DISTINCT trip_id FROM lacking ORDER BY number")
        return {trip_id: lacking_of(self._database, trip_id) for (trip_id,) in rows}

    def keep_provisional(self, trip_id: str, receipt: bytes, lacking: Sequence[str]) -> bool:
        """Keep a provisional receipt of a sealed trip, in place of the one before.

        Returns:
            Whether it is the first one, or fewer things are missing than before.

        Raises:
            UnavailableError: The medium failed; the one before stays.
        """
        with self._database.transaction() as connection:
            before = len(lacking_of(self._database, trip_id))
            connection.execute(
                "UPDATE trips SET receipt = ? WHERE trip_id = ? AND state = ?",
                (receipt, trip_id, TripState.SEALED),
            )
            changed = changed_rows(connection)
            if changed:
                connection.execute("DELETE FROM lacking WHERE trip_id = ?", (trip_id,))
                connection.executemany(
                    "INSERT INTO lacking (trip_id, what) VALUES (?, ?)",
                    ((trip_id, what) for what in lacking),
                )
        return bool(changed) and (not before or len(lacking) < before)

    def keep_reason(self, trip_id: str, why: str) -> None:
        """Replace what the provisional receipt of a sealed trip lacks by `why`.

        Does nothing for a trip without one.

        Raises:
            UnavailableError: The medium failed; the reasons before stay.
        """
        with self._database.transaction() as connection:
            if lacking_of(self._database, trip_id) not in ([], [why]):
                connection.execute("DELETE FROM lacking WHERE trip_id = ?", (trip_id,))
                connection.execute(
                    "INSERT INTO lacking (trip_id, what) VALUES (?, ?)", (trip_id, why)
                )

    def release(self, trip_id: str, receipt: bytes) -> None:
        """Keep the final receipt of a sealed trip and delete the trip's bytes, both or neither.

        Raises:
            UnavailableError: The medium failed; nothing was deleted.
        """
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE trips SET state = ?, receipt = ? WHERE trip_id = ? AND state = ?",
                (TripState.RECEIPTED, receipt, trip_id, TripState.SEALED),
            )
            if changed_rows(connection):
                connection.execute("DELETE FROM batches WHERE trip_id = ?", (trip_id,))
                connection.execute("DELETE FROM recordings WHERE trip_id = ?", (trip_id,))
                connection.execute("DELETE FROM lacking WHERE trip_id = ?", (trip_id,))

    def _held_count(self) -> int:
        (count,) = self._database.one("SELECT COUNT(*) FROM batches WHERE held")
        return int(count)


def _sha256(name: str) -> bytes:
    """Return the SHA-256 of the recording that a refusal names; empty if it names a batch."""
    try:
        return bytes.fromhex(name)
    except ValueError:
        return b""
