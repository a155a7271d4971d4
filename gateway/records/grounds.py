"""Grounds for automatic holds: what went wrong on a trip, and which film shows it.

An excursion, a sign of tampering, or a device's word that something is wrong with it holds each
recording of the trip that was filmed then. Every doubt holds: a ground has its claimed and its
corrected time, and a recording that was filmed at either is held.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from contracts.proto.payload_pb2 import RecordReading, RecordVideo
from contracts.proto.state_pb2 import Remarked, TamperEvent
from contracts.records.corrections import Corrections
from contracts.records.quantity import QUANTITIES
from contracts.records.reading import Tamper
from contracts.records.remark import Remark, RemarkKind
from contracts.rendered import signs
from contracts.rendered_remarks import Stretch, says, stretches
from gateway.index.store import IndexStore
from gateway.records.breaches import BreachRecord, breaches
from gateway.records.corrected import Place, correction_blocks, corrections_of
from gateway.records.pages import EVERYTHING

MARGIN_MS: Final = 300_000
"""Film from this long before a ground, and after it, is held too, milliseconds. A sign that a
reading shows may have begun any time after the reading before."""
PAGE: Final = 4096
"""Readings with signs that are in memory at once."""
HARMLESS: Final = frozenset({RemarkKind.CLOCK_CORRECTED, RemarkKind.FILM_REDUCED})
"""Remarks that tell of nothing wrong: a clock that is right again, and film that saves room."""
_LASTED: Final = frozenset({RemarkKind.FILM_LOST, RemarkKind.REBOOTED, RemarkKind.INTERRUPTED})
"""Remarks whose amount is how long it lasted until then."""
_CLOCKS: Final[Mapping[RemarkKind, int]] = {RemarkKind.CLOCK_BACK: 1, RemarkKind.CLOCK_AHEAD: -1}
"""Remarks that a clock was set, and on which side of it the time before lies."""
_EVERY: Final = (1 << 63) - 1


class GroundKind(StrEnum):
    """What holds."""

    EXCURSION = "excursion"
    TAMPER = "tamper"
    REMARK = "remark"


@dataclass(frozen=True, slots=True)
class Ground:
    """Something on a trip for which film is held.

    Attributes:
        kind: What it is.
        trip_id: The trip.
        device_id: The device that recorded it.
        sequence: The device's first reading with it.
        says: In plain words.
        since_ms: When it began, as claimed, milliseconds.
        until_ms: When it ended, as claimed; None if it has not, on record.
        since_corrected_ms: When it began by a clock that was right later; None if its claim stands.
        until_corrected_ms: When it ended likewise.
        film: Names of the recordings in which the device says that it is.
        block_num: The block that made it known.
        other_ms: A further claimed time of the same moment: that of a clock before it was set.
        corrected_block_num: The newest block that set a clock of the device right; 0 if none did.
    """

    kind: GroundKind
    trip_id: str
    device_id: str
    sequence: int
    says: str
    since_ms: int
    until_ms: int | None
    since_corrected_ms: int | None
    until_corrected_ms: int | None
    film: frozenset[str]
    block_num: int
    other_ms: int | None = None
    corrected_block_num: int = 0

    def holds(self, recording: RecordVideo) -> bool:
        """Say whether a recording of the trip shows it, by name or by any of its times."""
        return self._holds_as_claimed(recording) or _within(recording, self._corrected())

    def known_num(self, recording: RecordVideo) -> int:
        """Return the block in which it became known that it shows a recording that it holds.

        Of several corrections of the device the newest counts: every doubt holds.
        """
        if self._holds_as_claimed(recording):
            return self.block_num
        return max(self.block_num, self.corrected_block_num)

    def _holds_as_claimed(self, recording: RecordVideo) -> bool:
        return recording.pseudo_file_id in self.film or _within(recording, self._claimed())

    def _claimed(self) -> Iterator[tuple[int, int]]:
        """Yield its first and last moment as claimed; a clock may have gone back in between."""
        yield _ordered(self.since_ms, self.until_ms)
        if self.other_ms is not None:
            yield self.other_ms, self.other_ms

    def _corrected(self) -> Iterator[tuple[int, int]]:
        """Yield its first and last moment by a clock that was right later, if there is one."""
        if self.since_corrected_ms is not None or self.until_corrected_ms is not None:
            since, until = self.since_corrected_ms, self.until_corrected_ms
            yield _ordered(
                self.since_ms if since is None else since, self.until_ms if until is None else until
            )


def _within(recording: RecordVideo, times: Iterator[tuple[int, int]]) -> bool:
    began, ended = recording.started_at_ms, recording.started_at_ms + recording.duration_ms
    return any(began <= until + MARGIN_MS and since - MARGIN_MS <= ended for since, until in times)


def _ordered(since_ms: int, until_ms: int | None) -> tuple[int, int]:
    if until_ms is None:
        return since_ms, _EVERY
    return min(since_ms, until_ms), max(since_ms, until_ms)


def grounds_of(index: IndexStore, trip_id: str) -> list[Ground]:
    """Return the grounds on a trip, by the time when each began; none for an unknown trip.

    Those of strangers, whose devices the trip's start does not name, are left out: they recorded
    something else, and could otherwise have any film kept for ever.
    """
    rows = index.query("SELECT device_id FROM trip_devices WHERE trip_id = ?", trip_id)
    named = {device_id for (device_id,) in rows}
    corrections = corrections_of(index, trip_id)
    found = [
        *_excursions(index, trip_id),
        *_signs(index, trip_id, corrections),
        *_remarks(index, trip_id, corrections),
    ]
    found = [each for each in found if each.device_id in named]
    if corrections:
        blocks = correction_blocks(index, trip_id)
        found = [replace(e, corrected_block_num=blocks.get(e.device_id, 0)) for e in found]
    return sorted(found, key=lambda each: (each.since_ms, each.device_id, each.sequence, each.says))


def _excursions(index: IndexStore, trip_id: str) -> Iterator[Ground]:
    rows = index.query("SELECT rowid, block_num FROM breaches WHERE trip_id = ?", trip_id)
    if not rows:
        return
    blocks = dict(rows)
    for at, each in breaches(index, {"trip_id": trip_id}, 0, len(rows), EVERYTHING):
        yield _excursion(each, blocks[at])


def _excursion(record: BreachRecord, block_num: int) -> Ground:
    entry = record.entry
    # What has not ended on record may go on: its last reading is only how far it is known.
    until = (entry.until_ms, record.until_corrected_ms) if entry.ended else (None, None)
    quantity = QUANTITIES[entry.limit.quantity].name
    return Ground(
        kind=GroundKind.EXCURSION,
        trip_id=entry.trip_id,
        device_id=entry.device_id,
        sequence=entry.since_sequence,
        says=f"{quantity} outside the limits of delivery {entry.delivery_id}",
        since_ms=entry.since_ms,
        until_ms=until[0],
        since_corrected_ms=record.since_corrected_ms,
        until_corrected_ms=until[1],
        film=frozenset(),
        block_num=block_num,
    )


@dataclass(slots=True)
class _Run:
    """Readings of one device in a row that show a sign; only its ends are kept.

    Attributes:
        device_id: The device.
        sequence: The first reading; `last` is the newest.
        since_ms: The earliest claimed time of them; `until_ms` is the latest.
        first_ms: The corrected time of the first; None if its claim stands.
        block_num: The block with the first.
        last_utc_ms: The claimed time of the last.
        last_record: The last reading; None if nothing on the trip is corrected.
    """

    device_id: str
    sequence: int
    last: int
    since_ms: int
    until_ms: int
    first_ms: int | None
    block_num: int
    last_utc_ms: int
    last_record: bytes | None

    def goes_on_with(self, device_id: str, sequence: int) -> bool:
        return (self.device_id, self.last + 1) == (device_id, sequence)

    def add(self, utc_ms: int, record: bytes | None) -> None:
        self.last += 1
        self.since_ms, self.until_ms = min(self.since_ms, utc_ms), max(self.until_ms, utc_ms)
        self.last_utc_ms, self.last_record = utc_ms, record


def _signs(index: IndexStore, trip_id: str, corrections: Corrections) -> Iterator[Ground]:
    """Yield a ground for each sign, from the first reading in a row that shows it to the last.

    The readings tell it under every version of the rules; the end of a sign is an event only since
    1.2, and then tells when the reading came that shows it no longer.
    """
    head = index.head()
    if head is None:
        return
    found = list(_runs(index, trip_id, head.block_num, corrections))
    if not found:
        return
    events, ends = _events(index, trip_id), _Ends(index, trip_id, head.block_num)
    ended = [events.get((run.device_id, run.last + 1)) for _, run in found]
    right = _corrected_ends(index, trip_id, corrections, [each for each in ended if each])
    for (sign, run), end in zip(found, ended, strict=True):
        until_ms = None
        if end is not None:
            until_ms = max(run.until_ms, end.utc_ms)
        elif not ends.is_last(run):
            until_ms = run.until_ms
        began = events.get((run.device_id, run.sequence))
        (name,) = signs(sign)
        yield Ground(
            kind=GroundKind.TAMPER,
            trip_id=trip_id,
            device_id=run.device_id,
            sequence=run.sequence,
            says=f"sign of tampering: {name}",
            since_ms=run.since_ms,
            until_ms=until_ms,
            since_corrected_ms=run.first_ms,
            until_corrected_ms=None
            if until_ms is None
            else _corrected_until(run, end, corrections, right),
            film=frozenset(
                each.pseudo_file_id for event in (began, end) if event for each in event.film
            ),
            block_num=run.block_num,
        )


def _runs(
    index: IndexStore, trip_id: str, newest: int, corrections: Corrections
) -> Iterator[tuple[Tamper, _Run]]:
    """Yield each sign with the readings in a row that show it, of blocks up to `newest`.

    A lid may be open for weeks, with a reading each second: only the runs stay in memory.
    """
    open_: dict[Tamper, _Run] = {}
    shown: dict[int, list[Tamper]] = {}
    for device_id, sequence, utc_ms, flags, block_num, record in _flagged(
        index, trip_id, newest, with_record=bool(corrections)
    ):
        if flags not in shown:
            shown[flags] = [sign for sign in Tamper if flags & sign]
        for sign in shown[flags]:
            run = open_.get(sign)
            if run is not None and run.goes_on_with(device_id, sequence):
                run.add(utc_ms, record)
                continue
            if run is not None:
                yield sign, run
            first_ms = _corrected(corrections, device_id, sequence, record)
            open_[sign] = _Run(
                device_id=device_id,
                sequence=sequence,
                last=sequence,
                since_ms=utc_ms,
                until_ms=utc_ms,
                first_ms=first_ms,
                block_num=block_num,
                last_utc_ms=utc_ms,
                last_record=record,
            )
    yield from open_.items()


_Flagged = tuple[str, int, int, int, int, bytes | None]


def _flagged(
    index: IndexStore, trip_id: str, newest: int, *, with_record: bool
) -> Iterator[_Flagged]:
    """Yield the readings with any sign, each device's by number, a page in memory at a time."""
    record = "record" if with_record else "NULL"
    sql = (
        "SELECT device_id, sequence, utc_ms, tamper_flags, block_num,"  # noqa: S608
        f" {record}, position FROM readings"
        " WHERE trip_id = ? AND tamper_flags > 0 AND block_num <= ?"
        " AND (device_id, sequence, position) > (?, ?, ?)"
        " ORDER BY device_id, sequence, position LIMIT ?"
    )
    after: tuple[str, int, int] = ("", -1, -1)
    while rows := index.query(sql, trip_id, newest, *after, PAGE):
        for *told, _ in rows:
            yield (*told,)
        device_id, sequence, *_, position = rows[-1]
        after = device_id, sequence, position


def _corrected(
    corrections: Corrections, device_id: str, sequence: int, record: bytes | None
) -> int | None:
    if record is None:
        return None
    return corrections.corrected_ms(device_id, sequence, RecordReading.FromString(record).clock)


def _corrected_ends(
    index: IndexStore, trip_id: str, corrections: Corrections, ended: Sequence[TamperEvent]
) -> dict[Place, int]:
    """Return the corrected times, ms, of the readings that show a sign no longer.

    Where several readings have a device's number, the latest counts: every doubt holds.
    """
    wanted = {(each.device_id, each.sequence) for each in ended}
    if not corrections or not wanted:
        return {}
    found: dict[Place, int] = {}
    for device_id, sequence, record in index.query(
        "SELECT device_id, sequence, record FROM readings WHERE trip_id = ?"
        " AND sequence IN (SELECT value FROM json_each(?))",
        trip_id,
        json.dumps(sorted({sequence for _, sequence in wanted})),
    ):
        place = device_id, sequence
        right_ms = _corrected(corrections, device_id, sequence, record)
        if place in wanted and right_ms is not None:
            found[place] = max(right_ms, found.get(place, right_ms))
    return found


def _corrected_until(
    run: _Run, end: TamperEvent | None, corrections: Corrections, right: Mapping[Place, int]
) -> int | None:
    """Return when a sign ended by clocks that were right later, ms; None if its claim stands."""
    last_ms = _corrected(corrections, run.device_id, run.last, run.last_record)
    end_ms = None if end is None else right.get((end.device_id, end.sequence))
    if last_ms is None and end_ms is None:
        return None
    ends = [run.last_utc_ms if last_ms is None else last_ms]
    if end is not None:
        ends.append(end.utc_ms if end_ms is None else end_ms)
    return max(ends)


class _Ends:
    """The last reading of each device on a trip, asked for when a sign has no end on record."""

    def __init__(self, index: IndexStore, trip_id: str, newest: int) -> None:
        self._index = index
        self._trip_id = trip_id
        self._newest = newest
        self._last: dict[str, int] | None = None

    def is_last(self, run: _Run) -> bool:
        if self._last is None:
            sql = (
                "SELECT device_id, max(sequence) FROM readings"
                " WHERE trip_id = ? AND block_num <= ? GROUP BY device_id"
            )
            self._last = dict(self._index.query(sql, self._trip_id, self._newest))
        return self._last.get(run.device_id) == run.last


def _events(index: IndexStore, trip_id: str) -> dict[Place, TamperEvent]:
    rows = index.query("SELECT entry FROM tampers WHERE trip_id = ?", trip_id)
    found = [TamperEvent.FromString(entry) for (entry,) in rows]
    return {(each.device_id, each.sequence): each for each in found}


def _remarks(index: IndexStore, trip_id: str, corrections: Corrections) -> Iterator[Ground]:
    rows = index.query(
        "SELECT entry, block_num FROM remarks WHERE trip_id = ? ORDER BY rowid", trip_id
    )
    said = [Remarked.FromString(entry) for entry, _ in rows]
    blocks = {id(each): block_num for each, (_, block_num) in zip(said, rows, strict=True)}
    for each in stretches(said):
        if RemarkKind(each.entry.remark.kind) not in HARMLESS:
            yield _remark(each, corrections, blocks[id(each.entry)])


def _remark(stretch: Stretch, corrections: Corrections, block_num: int) -> Ground:
    entry = stretch.entry
    said = Remark.from_message(entry.remark)
    since_ms, until_ms = said.since_ms, stretch.until_ms
    if said.kind.happens_once:
        until_ms = since_ms
    if said.kind in _LASTED:
        since_ms = max(0, since_ms - said.amount)
    other_ms = None
    if said.kind in _CLOCKS:
        other_ms = max(0, since_ms + _CLOCKS[said.kind] * said.amount)
    begins = _by(entry, corrections)
    ends = begins if stretch.end is None else _by(stretch.end, corrections)
    return Ground(
        kind=GroundKind.REMARK,
        trip_id=entry.trip_id,
        device_id=entry.device_id,
        sequence=entry.sequence,
        says=says(said),
        since_ms=since_ms,
        until_ms=until_ms,
        since_corrected_ms=None if begins is None else since_ms + begins,
        until_corrected_ms=None if until_ms is None or ends is None else until_ms + ends,
        film=frozenset(
            each.pseudo_file_id
            for remarked in (entry, stretch.end)
            if remarked is not None
            for each in remarked.film
        ),
        block_num=block_num,
        other_ms=other_ms,
    )


def _by(entry: Remarked, corrections: Corrections) -> int | None:
    """Return by how much a right clock differs from that of a remark, ms; None: it does not."""
    right_ms = corrections.corrected_ms(entry.device_id, entry.sequence, entry.clock)
    return None if right_ms is None else right_ms - entry.clock.utc_ms
