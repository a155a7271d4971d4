"""What waits on this device, and how full its buffers are."""

from dataclasses import asdict, dataclass

from contracts.proto.wire_pb2 import Receipt
from contracts.receipt import body_of
from device.journal.database import Database
from device.journal.queries import journal_bytes, lacking_of, recordings_of, video_bytes
from device.journal.trip import Recording, TripState
from device.settings import BufferSettings


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """Batches of a trip: not held, held, refused for good; transactions and readings in none yet.

    The readings are those that wait for their run to end: durable, and not signed yet.
    """

    open: int
    held: int
    refused: int
    unbatched: int
    unsigned: int


@dataclass(frozen=True, slots=True)
class TripStatus:
    """One trip; its bytes are gone once it is receipted.

    With a provisional receipt it is sealed still; `lacking` says why.
    """

    trip: str
    state: TripState
    readings: int
    batches: BatchCounts
    recordings: tuple[dict[str, object], ...]
    refusals: dict[str, str]
    receipt: dict[str, object] | None
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """How much of a buffer is used, bytes."""

    used: int
    max: int


@dataclass(frozen=True, slots=True)
class Status:
    """Everything `wayseal-device status` tells."""

    device_id: str
    public_key: str
    trips: tuple[TripStatus, ...]
    journal_bytes: Use
    video_bytes: Use

    def document(self) -> dict[str, object]:
        """Return it as plain values for JSON."""
        return asdict(self)

    def text(self) -> str:
        """Return it as lines for people."""
        lines = [f"device {self.device_id}, public key {self.public_key}"]
        for trip in self.trips:
            counts = trip.batches
            lines.append(
                f"trip {trip.trip} {trip.state}: {trip.readings} readings, "
                f"{counts.unsigned} of them unsigned; batches {counts.open} open, "
                f"{counts.held} held, {counts.refused} refused; {counts.unbatched} unbatched"
            )
            lines += [
                f"  recording {item['sha256']}: {item['bytes']} bytes" for item in trip.recordings
            ]
            lines += [f"  refused {key[:16]}…: {why}" for key, why in trip.refusals.items()]
            lines += _receipt_lines(trip)
        for name, use in (("journal", self.journal_bytes), ("video", self.video_bytes)):
            lines.append(f"{name} buffer: {use.used} of {use.max} bytes")
        return "\n".join(lines)


def _receipt_lines(trip: TripStatus) -> list[str]:
    receipt = trip.receipt
    if receipt is None:
        return []
    place = f"receipt from {receipt['site']} in block {receipt['block_num']}"
    if receipt["final"]:
        return [f"  {place}"]
    first = f"  provisional {place}: all is kept here until a final one"
    return [first, *(f"    {what}" for what in trip.lacking)]


def status_of(
    database: Database, device_id: str, public_key: str, buffer: BufferSettings
) -> Status:
    """Read the status out of the journal.

    Raises:
        RejectedError: The journal is broken.
        UnavailableError: The medium failed.
    """
    rows = database.all("SELECT trip_id, state, readings, receipt FROM trips ORDER BY number")
    return Status(
        device_id,
        public_key,
        tuple(_trip(database, *row) for row in rows),
        Use(journal_bytes(database), buffer.journal_bytes_max),
        Use(video_bytes(database), buffer.video_bytes_max),
    )


def _trip(
    database: Database, trip_id: str, state: str, readings: int, receipt: bytes | None
) -> TripStatus:
    counts = database.one(
        "SELECT COUNT(*) FILTER (WHERE NOT held AND refused IS NULL), "
        "COUNT(*) FILTER (WHERE held), COUNT(*) FILTER (WHERE refused IS NOT NULL), "
        "(SELECT COUNT(*) FROM pending WHERE pending.trip_id = ?), "
        "(SELECT COUNT(*) FROM waiting WHERE waiting.trip_id = ?) FROM batches WHERE trip_id = ?",
        trip_id,
        trip_id,
        trip_id,
    )
    refusals = database.all(
        "SELECT batch_id, refused FROM batches WHERE trip_id = ? AND refused IS NOT NULL", trip_id
    )
    return TripStatus(
        trip_id,
        TripState(state),
        readings,
        BatchCounts(*counts),
        tuple(_recording(item) for item in recordings_of(database, trip_id)),
        dict(refusals),
        _receipt(receipt, final=state == TripState.RECEIPTED) if receipt else None,
        tuple(lacking_of(database, trip_id)),
    )


def _recording(recording: Recording) -> dict[str, object]:
    return {
        "sha256": recording.digest.sha256.hex(),
        "bytes": recording.digest.size,
        "file": f"{recording.trip_id}/{recording.name}",
        "media_type": recording.media_type,
    }


def _receipt(wire: bytes, *, final: bool) -> dict[str, object]:
    body = body_of(wire)
    return {
        "final": final,
        "site": body.site_id,
        "block_num": body.block_num,
        "block_id": body.block_id,
        "issued_at_ms": body.issued_at_ms,
        "gateway_public_key": Receipt.FromString(wire).gateway_public_key,
    }
