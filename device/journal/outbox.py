"""The journal as the offload sees it: what the gateway holds, and what may go."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from device.journal.database import Database
from device.journal.queries import lacking_of, recordings_of
from device.journal.trip import Recording, TripState


@dataclass(frozen=True, slots=True)
class Announced:
    """A sealed recording and the signed digest that announces it.

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
    """What a receipt must say about a sealed trip before its local copy may go.

    Attributes:
        trip_id: Of the trip.
        reading_count: Sealed readings.
        head_sha256: Of the last of them.
        seal_transaction_id: Of the seal.
        recordings: Sealed recordings.
        provisional: The receipt that is kept so far, as it came; None before the first.
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
        rows = self._database.all(
            "SELECT batch_id FROM batches WHERE digest_of IS NULL ORDER BY number"
        )
        return [batch_id for (batch_id,) in rows]

    def unsent(self) -> list[str]:
        """Return the ids of the batches of readings that are neither held nor refused."""
        rows = self._database.all(
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
        """Yield each batch in wire form; one that was receipted meanwhile is left out."""
        for batch_id in batch_ids:
            for (wire,) in self._database.all(
                "SELECT wire FROM batches WHERE batch_id = ?", batch_id
            ):
                yield wire

    def announced(self) -> list[Announced]:
        """Return every sealed recording with its signed digest."""
        rows = self._database.all(
            "SELECT trip_id, digest_of, batch_id, wire FROM batches "
            "WHERE digest_of IS NOT NULL ORDER BY number"
        )
        return [
            Announced(recording, batch_id, wire)
            for trip_id, sha256, batch_id, wire in rows
            for recording in recordings_of(self._database, trip_id)
            if recording.digest.sha256 == sha256
        ]

    def note(
        self, held: Iterable[str], refused: Mapping[str, str], forget: Iterable[str] = ()
    ) -> int:
        """Note what the gateway said; return how many batches are held that were not before.

        Args:
            held: Ids of batches that it holds.
            refused: Why it refuses others for good, by id.
            forget: Ids whose standing is unknown now; applied first.
        """
        before = self._held_count()
        with self._database.transaction():
            self._database.execute_many(
                "UPDATE batches SET held = 0, refused = NULL WHERE batch_id = ?",
                ((batch_id,) for batch_id in forget),
            )
            self._database.execute_many(
                "UPDATE batches SET held = 1, refused = NULL WHERE batch_id = ?",
                ((batch_id,) for batch_id in held),
            )
            self._database.execute_many(
                "UPDATE batches SET held = 0, refused = ? WHERE batch_id = ? OR digest_of = ?",
                ((reason, name, _sha256(name)) for name, reason in refused.items()),
            )
        return max(0, self._held_count() - before)

    def refusals(self) -> dict[str, str]:
        """Return why batches are refused, by id."""
        return dict(
            self._database.all(
                "SELECT batch_id, refused FROM batches WHERE refused IS NOT NULL ORDER BY number"
            )
        )

    def awaiting_receipt(self) -> list[str]:
        """Return the sealed trips of which no batch is refused."""
        rows = self._database.all(
            "SELECT trip_id FROM trips WHERE state = ? AND trip_id NOT IN "
            "(SELECT trip_id FROM batches WHERE refused IS NOT NULL) ORDER BY number",
            TripState.SEALED,
        )
        return [trip_id for (trip_id,) in rows]

    def is_unanswered(self) -> bool:
        """Say whether anything is not held, is refused, or has not even a provisional receipt."""
        waiting = set(self.awaiting_receipt()) - self.provisional().keys()
        return bool(waiting or self.unheld_count() or self.refusals())

    def expected(self, trip_id: str) -> Expected | None:
        """Return what the receipt of a sealed trip must say; None for any other trip."""
        rows = self._database.all(
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
        """Return what lacks, by trip, for every trip that has a provisional receipt."""
        rows = self._database.all("SELECT DISTINCT trip_id FROM lacking ORDER BY number")
        return {trip_id: lacking_of(self._database, trip_id) for (trip_id,) in rows}

    def keep_provisional(self, trip_id: str, receipt: bytes, lacking: Sequence[str]) -> bool:
        """Keep the receipt of a sealed trip that lets nothing go yet, in place of the one before.

        Returns:
            Whether it is the first one, or fewer things lack than before.

        Raises:
            UnavailableError: The medium failed; the one before stands.
        """
        with self._database.transaction():
            before = len(lacking_of(self._database, trip_id))
            changed = self._database.execute(
                "UPDATE trips SET receipt = ? WHERE trip_id = ? AND state = ?",
                receipt,
                trip_id,
                TripState.SEALED,
            )
            if changed:
                self._database.execute("DELETE FROM lacking WHERE trip_id = ?", trip_id)
                self._database.execute_many(
                    "INSERT INTO lacking (trip_id, what) VALUES (?, ?)",
                    ((trip_id, what) for what in lacking),
                )
        return bool(changed) and (not before or len(lacking) < before)

    def release(self, trip_id: str, receipt: bytes) -> None:
        """Keep the receipt of a sealed trip and drop the trip's bytes, as one.

        Raises:
            UnavailableError: The medium failed; nothing was dropped.
        """
        with self._database.transaction():
            changed = self._database.execute(
                "UPDATE trips SET state = ?, receipt = ? WHERE trip_id = ? AND state = ?",
                TripState.RECEIPTED,
                receipt,
                trip_id,
                TripState.SEALED,
            )
            if changed:
                self._database.execute("DELETE FROM batches WHERE trip_id = ?", trip_id)
                self._database.execute("DELETE FROM recordings WHERE trip_id = ?", trip_id)
                self._database.execute("DELETE FROM lacking WHERE trip_id = ?", trip_id)

    def _held_count(self) -> int:
        (count,) = self._database.one("SELECT COUNT(*) FROM batches WHERE held")
        return int(count)


def _sha256(name: str) -> bytes:
    """Return the recording that a refusal names; nothing when it names a batch."""
    try:
        return bytes.fromhex(name)
    except ValueError:
        return b""
