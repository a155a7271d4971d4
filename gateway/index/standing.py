"""Which legal holds on a trip are in force."""

from typing import Any, Final

from contracts.proto.state_pb2 import Hold

STANDING_HOLDS: Final = "rowid IN (SELECT max(rowid) FROM holds WHERE trip_id = ? GROUP BY hold_id)"
"""Picks the rows that tell how each hold on a trip stands."""
HOLDS_OF_TRIP: Final = f"SELECT entry FROM holds WHERE {STANDING_HOLDS} ORDER BY rowid"  # noqa: S608


def in_force(rows: list[tuple[Any, ...]]) -> list[Hold]:
    """Return the holds that were placed and not released, of the rows of `HOLDS_OF_TRIP`."""
    holds = [Hold.FromString(entry) for (entry,) in rows]
    return [hold for hold in holds if not hold.HasField("released")]
