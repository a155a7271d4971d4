"""Legal holds on a trip's evidence, as the ledger has them; whoever deletes asks here first."""

from contracts.proto.state_pb2 import Hold
from gateway.index.store import IndexStore

NEWEST = "rowid IN (SELECT max(rowid) FROM holds WHERE trip_id = ? GROUP BY hold_id)"
"""Picks the rows that tell how each hold on a trip stands."""


def holds_in_force(index: IndexStore, trip_id: str) -> list[Hold]:
    """Return the holds on a trip that were placed and not released."""
    rows = index.query(f"SELECT entry FROM holds WHERE {NEWEST} ORDER BY rowid", trip_id)  # noqa: S608
    holds = [Hold.FromString(entry) for (entry,) in rows]
    return [hold for hold in holds if not hold.HasField("released")]
