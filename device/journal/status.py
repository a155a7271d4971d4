"""Status: what waits on this device for an offload, and how full its buffers are."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.wire_pb2 import Receipt
from contracts.receipt import body_of
from contracts.records.reading import Tamper
from contracts.text import counted
from device.journal.database import Database, lacking_of, recordings_of
from device.journal.latest import signs_now
from device.journal.logbook import journal_bytes, video_bytes
from device.journal.offloading import Offloading
from device.journal.trip import Recording, TripState
from device.settings import BufferSettings


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """Counts of a trip.

    Attributes:
        open: Batches that the gateway neither holds nor refuses.
        held: Batches that the gateway holds.
        refused: Batches that the gateway refuses for good.
        unbatched: Signed transactions that are in no batch yet.
        unsigned: Durable readings that wait for their run to end.
    """

    open: int
    held: int
    refused: int
    unbatched: int
    unsigned: int


@dataclass(frozen=True, slots=True)
class TripStatus:
    """One trip. A final receipt deletes its bytes.

    With a provisional receipt the trip is still sealed; `lacking` says what is missing. `number`
    is its place in the row of its starting device; None if that device numbered no trips.
    """

    trip: str
    number: int | None
    state: TripState
    readings: int
    batches: BatchCounts
    recordings: tuple[dict[str, object], ...]
    refusals: dict[str, str]
    receipt: dict[str, object] | None
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """Use of a buffer, bytes."""

    used: int
    max: int


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that `wayseal-device status` shows.

    `trips_started` counts the numbered trips in this journal. `journal_is_younger` than its key:
    an earlier journal may be lost. `journey` is where the truck is, if its presence is watched, and
    `sensors` what the latest run found of each live sensor. `offloading` is how far the offload is
    that runs now, if one does. `is_away` says that the truck is at no site.
    `displays` is what the agent found of each of its displays. `besides` is one more reason to
    stay. `tamper_flags` are the signs in the latest reading of the trip that is recorded.
    """

    device_id: str
    public_key: str
    trips_started: int
    journal_is_younger: bool
    trips: tuple[TripStatus, ...]
    journal_bytes: Use
    video_bytes: Use
    journey: str | None = None
    sensors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    offloading: Offloading | None = None
    is_away: bool = False
    displays: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    besides: str = ""
    tamper_flags: int = 0

    @property
    def must_stay(self) -> str:
        """Return why the truck should not leave a site now; empty if nothing waits here."""
        waiting = [trip for trip in self.trips if trip.state is not TripState.RECEIPTED]
        readings = sum(trip.readings for trip in waiting)
        videos = sum(len(trip.recordings) for trip in waiting)
        why = _no_receipt(len(waiting), readings, videos)
        return f"{why}; {self.besides}" if why and self.besides else why

    def document(self) -> dict[str, object]:
        """Return plain values for JSON."""
        because = self.must_stay
        named = {"signs": Tamper(self.tamper_flags).names_for_people}
        return asdict(self) | named | {"may_leave": not because, "because": because}

    def text(self) -> str:
        """Return lines of text for people."""
        lines = [f"device {self.device_id}, public key {self.public_key}", self._row()]
        if self.journey:
            lines.append(f"the truck is {self.journey}")
        if self.sensors:
            lines.append("sensors, as the latest recording knew them:")
        for name, sensor in self.sensors.items():
            why = f": {sensor['detail']}" if sensor["detail"] else ""
            lines.append(f"  {name} {sensor['health']} since {sensor['since']}{why}")
        if self.tamper_flags:
            signs = ", ".join(Tamper(self.tamper_flags).names_for_people)
            lines.append(f"signs in the latest reading: {signs}")
        for name, display in self.displays.items():
            why = f": {display['detail']}" if display["detail"] else ""
            lines.append(f"display {name} {display['health']} since {display['since']}{why}")
        for trip in self.trips:
            counts = trip.batches
            lines.append(
                f"trip {trip.trip}{_number(trip)} {trip.state}: {trip.readings} readings, "
                f"{counts.unsigned} of them unsigned; batches {counts.open} open, "
                f"{counts.held} held, {counts.refused} refused; {counts.unbatched} unbatched"
            )
            lines += [
                f"  recording {item['sha256']}: {item['bytes']} bytes"
                f"{', marked' if item['marked'] else ''}"
                for item in trip.recordings
            ]
            lines += [f"  refused {key[:16]}…: {why}" for key, why in trip.refusals.items()]
            lines += _receipt_lines(trip)
        if self.offloading is not None:
            lines.append(f"offload: {self.offloading}")
        if not self.is_away:
            because = self.must_stay
            lines.append(f"must stay: {because}" if because else "may leave: nothing waits here")
        for name, use in (("journal", self.journal_bytes), ("video", self.video_bytes)):
            lines.append(f"{name} buffer: {use.used} of {use.max} bytes")
        return "\n".join(lines)

    def _row(self) -> str:
        row = f"{self.trips_started} numbered trips started with this key and journal"
        if not self.journal_is_younger:
            return row
        return (
            f"{row}; the key was there before this journal: if trips were recorded with it, their "
            f"journal is lost, and the ledger shows that their numbers come again"
        )


def _number(trip: TripStatus) -> str:
    return f" (number {trip.number})" if trip.number else ""


def _receipt_lines(trip: TripStatus) -> list[str]:
    receipt = trip.receipt
    if receipt is None:
        return []
    place = f"receipt from {receipt['site']} in block {receipt['block_num']}"
    if receipt["final"]:
        return [f"  {place}"]
    first = f"  provisional {place}: everything is kept here until a final one"
    return [first, *(f"    {what}" for what in trip.lacking)]


def must_stay(database: Database) -> str:
    """Return why the truck should not leave a site now; empty if nothing waits here.

    Raises:
        RejectedError: The journal is damaged.
        UnavailableError: The medium failed.
    """
    return _no_receipt(
        *database.one(
            "SELECT COUNT(*), COALESCE(SUM(readings), 0), (SELECT COUNT(*) FROM recordings JOIN "
            "trips AS its ON its.trip_id = recordings.trip_id WHERE its.state <> ?) "
            "FROM trips WHERE state <> ?",
            TripState.RECEIPTED,
            TripState.RECEIPTED,
        )
    )


def _no_receipt(trips: int, readings: int, recordings: int) -> str:
    """Say how much has no final receipt; empty if nothing."""
    if not trips:
        return ""
    what = f"{counted(readings, 'reading')} and {counted(recordings, 'recording')}"
    return f"{counted(trips, 'trip has', 'trips have')} no final receipt: {what}"


def status_of(
    database: Database, device_id: str, public_key: str, buffer: BufferSettings
) -> Status:
    """Read the status from the journal.

    Raises:
        RejectedError: The journal is damaged.
        UnavailableError: The medium failed.
    """
    rows = database.query(
        "SELECT trip_id, start, state, readings, receipt FROM trips ORDER BY number"
    )
    started, is_younger = database.one("SELECT last_number, key_was_older FROM series")
    return Status(
        device_id,
        public_key,
        started,
        bool(is_younger),
        tuple(_trip(database, *row) for row in rows),
        Use(journal_bytes(database), buffer.journal_bytes_max),
        Use(video_bytes(database), buffer.video_bytes_max),
        tamper_flags=signs_now(database),
    )


def _trip(
    database: Database, trip_id: str, start: bytes, state: str, readings: int, receipt: bytes | None
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
    refusals = database.query(
        "SELECT batch_id, refused FROM batches WHERE trip_id = ? AND refused IS NOT NULL", trip_id
    )
    return TripStatus(
        trip_id,
        StartTrip.FromString(start).trip_number or None,
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
        "marked": recording.marked,
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
