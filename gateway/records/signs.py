"""Signs of tampering as grounds for automatic holds, read from the readings that show them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.proto.state_pb2 import TamperEvent
from contracts.records.corrections import Corrections
from contracts.records.reading import Tamper
from contracts.rendered import signs
from gateway.index.store import IndexStore
from gateway.records.corrected import Place
from gateway.records.ground import Ground, GroundKind
from gateway.records.readings import CLOCK_COLUMNS, ClockRow

PAGE: Final = 4096
"""Readings with signs that are in memory at once."""


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
        last_clock: The clock of the last; None if nothing on the trip is corrected.
    """

    device_id: str
    sequence: int
    last: int
    since_ms: int
    until_ms: int
    first_ms: int | None
    block_num: int
    last_utc_ms: int
    last_clock: ClockRow | None

    def goes_on_with(self, device_id: str, sequence: int) -> bool:
        return (self.device_id, self.last + 1) == (device_id, sequence)

    def add(self, utc_ms: int, clock: ClockRow | None) -> None:
        self.last += 1
        self.since_ms, self.until_ms = min(self.since_ms, utc_ms), max(self.until_ms, utc_ms)
        self.last_utc_ms, self.last_clock = utc_ms, clock


def signs_on(index: IndexStore, trip_id: str, corrections: Corrections) -> Iterator[Ground]:
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
    for device_id, sequence, utc_ms, flags, block_num, clock in _flagged(
        index, trip_id, newest, with_clock=bool(corrections)
    ):
        if flags not in shown:
            shown[flags] = [sign for sign in Tamper if flags & sign]
        for sign in shown[flags]:
            run = open_.get(sign)
            if run is not None and run.goes_on_with(device_id, sequence):
                run.add(utc_ms, clock)
                continue
            if run is not None:
                yield sign, run
            first_ms = _corrected(corrections, device_id, sequence, clock)
            open_[sign] = _Run(
                device_id=device_id,
                sequence=sequence,
                last=sequence,
                since_ms=utc_ms,
                until_ms=utc_ms,
                first_ms=first_ms,
                block_num=block_num,
                last_utc_ms=utc_ms,
                last_clock=clock,
            )
    yield from open_.items()


_DEVICES: Final = "SELECT DISTINCT device_id FROM signs WHERE trip_id = ? ORDER BY device_id"
_FLAGGED: Final = (
    "SELECT position, sequence, utc_ms, tamper_flags, block_num FROM signs"
    " WHERE trip_id = ? AND device_id = ? AND block_num <= ?"
    " AND (sequence, position) > (?, ?) ORDER BY sequence, position LIMIT ?"
)
_Flagged = tuple[str, int, int, int, int, ClockRow | None]


def _flagged(
    index: IndexStore, trip_id: str, newest: int, *, with_clock: bool
) -> Iterator[_Flagged]:
    """Yield the readings with any sign, each device's by number, a page in memory at a time."""
    for (device_id,) in index.query(_DEVICES, trip_id):
        after = (-1, -1)
        while rows := index.query(_FLAGGED, trip_id, device_id, newest, *after, PAGE):
            positions = [position for position, *_ in rows]
            clocks = _clocks(index, trip_id, positions) if with_clock else {}
            for position, sequence, utc_ms, flags, block_num in rows:
                yield device_id, sequence, utc_ms, flags, block_num, clocks.get(position)
                after = sequence, position


def _clocks(index: IndexStore, trip_id: str, positions: Sequence[int]) -> dict[int, ClockRow]:
    rows = index.of_trip(
        trip_id,
        f"SELECT position, {CLOCK_COLUMNS} FROM readings"  # noqa: S608
        " WHERE trip_id = ? AND position IN (SELECT value FROM json_each(?))",
        trip_id,
        json.dumps(positions),
    )
    return {position: ClockRow(*clock) for position, *clock in rows}


def _corrected(
    corrections: Corrections, device_id: str, sequence: int, clock: ClockRow | None
) -> int | None:
    if clock is None:
        return None
    return corrections.corrected_ms(device_id, sequence, clock.message())


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
    for device_id, sequence, *clock in index.of_trip(
        trip_id,
        f"SELECT device_id, sequence, {CLOCK_COLUMNS} FROM readings WHERE trip_id = ?"  # noqa: S608
        " AND sequence IN (SELECT value FROM json_each(?))",
        trip_id,
        json.dumps(sorted({sequence for _, sequence in wanted})),
    ):
        place = device_id, sequence
        right_ms = _corrected(corrections, device_id, sequence, ClockRow(*clock))
        if place in wanted and right_ms is not None:
            found[place] = max(right_ms, found.get(place, right_ms))
    return found


def _corrected_until(
    run: _Run, end: TamperEvent | None, corrections: Corrections, right: Mapping[Place, int]
) -> int | None:
    """Return when a sign ended by clocks that were right later, ms; None if its claim stands."""
    last_ms = _corrected(corrections, run.device_id, run.last, run.last_clock)
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
                "SELECT device_id, max(last) FROM (SELECT device_id, max(sequence) AS last"
                " FROM warm_readings WHERE trip_id = ?1 AND block_num <= ?2 GROUP BY device_id"
                " UNION ALL SELECT device_id, last_sequence FROM cold_read"
                " WHERE trip_id = ?1 AND block_num <= ?2) GROUP BY device_id"
            )
            self._last = dict(self._index.query(sql, self._trip_id, self._newest))
        return self._last.get(run.device_id) == run.last


def _events(index: IndexStore, trip_id: str) -> dict[Place, TamperEvent]:
    rows = index.query("SELECT entry FROM tampers WHERE trip_id = ?", trip_id)
    found = [TamperEvent.FromString(entry) for (entry,) in rows]
    return {(each.device_id, each.sequence): each for each in found}
