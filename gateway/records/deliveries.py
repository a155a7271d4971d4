"""Deliveries as they stand, the trips that they were on, and the breaches of their limits."""

import json
from collections.abc import Collection
from dataclasses import dataclass

from contracts.proto.state_pb2 import Delivery, HandOverState
from gateway.index.store import IndexStore
from gateway.records.breaches import BreachRecord, breaches
from gateway.records.entries import trip_start
from gateway.records.pages import EVERYTHING, Listed, Span, listed
from gateway.records.registry import Registry


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    """A delivery as it stands, and the trips that it was on, oldest first."""

    entry: Delivery
    trip_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HandOverRecord:
    """A handover as it stands, and whether its trip has begun on the ledger."""

    entry: HandOverState
    trip_on_ledger: bool


class Deliveries(Registry[DeliveryRecord]):
    """Answers questions about deliveries."""

    def __init__(self, index: IndexStore) -> None:
        super().__init__(index, "deliveries", "delivery_id", "entry", self._record)

    def of_lot(self, gtin: str, lot: str) -> list[DeliveryRecord]:
        """Return the deliveries that a lot was part of, in the order of their last change."""
        rows = self._index.query(
            "SELECT entry FROM deliveries WHERE rowid IN (SELECT max(rowid) FROM deliveries"
            " WHERE delivery_id IN (SELECT id FROM lots WHERE gtin = ? AND lot = ?"
            " AND role = 'delivery') GROUP BY delivery_id) ORDER BY rowid",
            gtin,
            lot,
        )
        return [self._record(entry) for (entry,) in rows]

    def has_all(self, delivery_ids: Collection[str]) -> bool:
        """Say whether each of these deliveries is on the ledger."""
        ((found,),) = self._index.query(
            "SELECT count(DISTINCT delivery_id) FROM deliveries WHERE delivery_id IN"
            " (SELECT value FROM json_each(?))",
            json.dumps(list(delivery_ids)),
        )
        return int(found) == len(set(delivery_ids))

    def handovers(self, delivery_id: str, after: int, count: int) -> Listed[HandOverRecord]:
        """Return a page of the handovers of a delivery, in the order of their last signature.

        Raises:
            NotOnLedgerError: There is no such delivery.
        """
        self.get(delivery_id)
        sql = (
            "SELECT rowid AS at, entry FROM handover_entries WHERE rowid IN (SELECT max(rowid)"
            " FROM handover_entries WHERE delivery_id = ? GROUP BY address)"
        )
        return listed(self._index, sql, (delivery_id,), self._handover, after=after, count=count)

    def breaches(
        self, delivery_id: str, after: int, count: int, span: Span = EVERYTHING
    ) -> Listed[BreachRecord]:
        """Return a page of the breaches of a delivery's limits, on all its trips, by time.

        Raises:
            NotOnLedgerError: There is no such delivery.
        """
        self.get(delivery_id)
        return breaches(self._index, {"delivery_id": delivery_id}, after, count, span)

    def _handover(self, wire: bytes) -> HandOverRecord:
        entry = HandOverState.FromString(wire)
        started = trip_start(self._index, entry.terms.trip_id)
        return HandOverRecord(entry, started is not None)

    def _record(self, wire: bytes) -> DeliveryRecord:
        entry = Delivery.FromString(wire)
        rows = self._index.query(
            "SELECT trip_id FROM trip_deliveries WHERE delivery_id = ? ORDER BY rowid",
            entry.terms.delivery_id,
        )
        return DeliveryRecord(entry, tuple(trip_id for (trip_id,) in rows))
