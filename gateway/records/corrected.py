"""Times on a trip by clocks that were right later, beside what was claimed."""

import json
from collections.abc import Iterable
from typing import Final

from contracts.evidence.story import NOT_IN_CHAIN
from contracts.proto.payload_pb2 import Remark
from contracts.proto.state_pb2 import Finding, Remarked
from contracts.records.corrections import Corrections
from gateway.index.store import IndexStore
from gateway.records.readings import CLOCK_COLUMNS, ClockRow

Place = tuple[str, int]
"""A device, and the number of one of its readings on the trip."""
NOTHING: Final = Corrections(())


def corrections_of(index: IndexStore, trip_id: str) -> Corrections:
    """Return the corrections on a trip."""
    rows = index.query(
        "SELECT entry FROM remarks WHERE trip_id = ? AND kind = ? ORDER BY rowid",
        trip_id,
        Remark.CLOCK_CORRECTED,
    )
    return Corrections(Remarked.FromString(entry) for (entry,) in rows) if rows else NOTHING


def correction_blocks(index: IndexStore, trip_id: str) -> dict[str, int]:
    """Return the newest block with a correction of each device on a trip that has any."""
    rows = index.query(
        "SELECT entry, block_num FROM remarks WHERE trip_id = ? AND kind = ? ORDER BY block_num",
        trip_id,
        Remark.CLOCK_CORRECTED,
    )
    return {Remarked.FromString(entry).device_id: block_num for entry, block_num in rows}


def corrected_times(index: IndexStore, trip_id: str, places: Iterable[Place]) -> dict[Place, int]:
    """Return the corrected times of readings, milliseconds; those whose claim stands are left out.

    Args:
        index: The index to ask.
        trip_id: The trip.
        places: Readings in the chains of its devices.
    """
    corrections = corrections_of(index, trip_id)
    if not corrections:
        return {}
    wanted = set(places)
    rows = index.of_trip(  # one pass over the trip: few trips have a correction
        trip_id,
        f"SELECT device_id, sequence, transaction_id, {CLOCK_COLUMNS} FROM readings"  # noqa: S608
        " WHERE trip_id = ?"
        " AND sequence IN (SELECT value FROM json_each(?))",
        trip_id,
        json.dumps(sorted({sequence for _, sequence in wanted})),
    )
    apart = _in_no_chain(index, trip_id)
    found = {}
    for device_id, sequence, transaction_id, *clock in rows:
        place = device_id, sequence
        if place in wanted and (transaction_id, sequence) not in apart:
            found[place] = corrections.corrected_ms(*place, ClockRow(*clock).message())
    return {place: at_ms for place, at_ms in found.items() if at_ms is not None}


def _in_no_chain(index: IndexStore, trip_id: str) -> set[tuple[str, int]]:
    """Return the readings under a number of a device's chain that did not join it."""
    rows = index.query("SELECT entry FROM findings WHERE trip_id = ?", trip_id)
    findings = (Finding.FromString(entry) for (entry,) in rows)
    return {(each.transaction_id, each.sequence) for each in findings if each.rule in NOT_IN_CHAIN}
