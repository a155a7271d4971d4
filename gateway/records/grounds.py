"""Grounds for automatic holds: what went wrong on a trip, and which film shows it.

An excursion, a sign of tampering, or a device's word that something is wrong with it holds each
recording of the trip that was filmed then. Every doubt holds: a ground has its claimed and its
corrected time, and a recording that was filmed at either is held.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from contracts.proto.state_pb2 import Remarked
from contracts.records.corrections import Corrections
from contracts.records.quantity import QUANTITIES
from contracts.records.remark import HARMLESS, Remark, RemarkKind
from contracts.rendered_remarks import Stretch, says, stretches
from gateway.index.store import IndexStore
from gateway.records.breaches import BreachRecord, claimed_breaches, with_corrections
from gateway.records.corrected import correction_blocks, corrections_of
from gateway.records.ground import Ground, GroundKind
from gateway.records.pages import EVERYTHING
from gateway.records.signs import signs_on

_ALL: Final = (1 << 63) - 1
"""No limit to a list: a chain has a limited number of breaches."""
_LASTED: Final = frozenset({RemarkKind.FILM_LOST, RemarkKind.REBOOTED, RemarkKind.INTERRUPTED})
"""Remarks whose amount is how long it lasted until then."""
_CLOCKS: Final[Mapping[RemarkKind, int]] = {RemarkKind.CLOCK_BACK: 1, RemarkKind.CLOCK_AHEAD: -1}
"""Remarks that a clock was set, and on which side of it the time before lies."""


def grounds_of(index: IndexStore, trip_id: str) -> list[Ground]:
    """Return the grounds on a trip, by the time when each began; none for an unknown trip.

    Those of strangers, whose devices the trip's start does not name, are left out: they recorded
    something else, and could otherwise have any film kept for ever.
    """
    corrections = corrections_of(index, trip_id)
    found = [
        *_of_named(index, trip_id, _excursions(index, trip_id, corrected=True)),
        *_of_named(index, trip_id, signs_on(index, trip_id, corrections)),
        *_of_named(index, trip_id, _remarks(index, trip_id, corrections)),
    ]
    if corrections:
        blocks = correction_blocks(index, trip_id)
        found = [replace(e, corrected_block_num=blocks.get(e.device_id, 0)) for e in found]
    return sorted(found, key=lambda each: (each.since_ms, each.device_id, each.sequence, each.says))


def excursions_of(index: IndexStore, trip_id: str) -> list[Ground]:
    """Return the excursions among the grounds on a trip, by their claimed times alone.

    They come in any order. This costs little, however long the trip is; `grounds_of` costs more.
    """
    return _of_named(index, trip_id, _excursions(index, trip_id, corrected=False))


def _of_named(index: IndexStore, trip_id: str, found: Iterable[Ground]) -> list[Ground]:
    """Return the grounds of devices that the trip's start names."""
    rows = index.query("SELECT device_id FROM trip_devices WHERE trip_id = ?", trip_id)
    named = {device_id for (device_id,) in rows}
    return [each for each in found if each.device_id in named]


def _excursions(index: IndexStore, trip_id: str, *, corrected: bool) -> Iterator[Ground]:
    claimed = claimed_breaches(index, {"trip_id": trip_id}, 0, _ALL, EVERYTHING)
    if not claimed:
        return
    # Asked for second, so that a block that comes between the two questions does no harm.
    blocks = dict(index.query("SELECT rowid, block_num FROM breaches WHERE trip_id = ?", trip_id))
    found = (
        with_corrections(index, claimed)
        if corrected
        else [(at, BreachRecord(each, None, None)) for at, each in claimed]
    )
    for at, each in found:
        if at in blocks:  # else a fork has undone it since
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
