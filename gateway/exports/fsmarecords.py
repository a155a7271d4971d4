"""What goes into a spreadsheet of FSMA 204: about a lot, or within a span of time."""

from collections.abc import Iterable, Iterator
from typing import Final

from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import HandOver, Lot
from contracts.proto.state_pb2 import Delivery, HandOverState
from gateway.exports.fsma import (
    RECEIVING,
    SHIPPING,
    TRANSFORMATION,
    Business,
    Row,
    Shipment,
    about_rows,
    shipment_rows,
    transformation_rows,
    workbook,
)
from gateway.records.entries import TransformationRecord
from gateway.records.pages import Span
from gateway.records.records import Records
from gateway.records.registry import NotOnLedgerError
from gateway.records.tracing import Direction, LotId
from gateway.records.watch import UNWATCHED, Watch

ROWS_MAX: Final = 10_000
"""Rows of all sheets; 10,000 take some seconds of CPU."""
REACHED_MAX: Final = 1000
"""Transformations each way for a lot, trips for a span of time, handovers of a delivery."""
AROUND_MS: Final = 86_400_000
"""Goods change hands up to this long before their trip starts, or after it ends."""


class Spreadsheet:
    """Collects rows; parties and sites are asked for once.

    Args:
        records: What the reader may see.
        watch: Told how far it is.
    """

    def __init__(self, records: Records, watch: Watch = UNWATCHED) -> None:
        self._records = records
        self._watch = watch
        self._names: dict[str, str] = {}
        self._shipping: list[Row] = []
        self._receiving: list[Row] = []
        self._transformed: list[Row] = []

    def add_lot(self, lot: LotId) -> None:
        """Add what is known of a lot, and of all lots that it was made from or went into.

        Raises:
            RejectedError: It is too much for one file.
        """
        sides = [self._records.lots.trace(lot, way, REACHED_MAX) for way in Direction]
        if any(side.is_cut for side in sides):
            raise RejectedError("the lot reaches too much for one file: ask by from and to")
        made = {r.entry.terms.transformation_id: r for side in sides for r in side.transformations}
        self._add_made(made.values())
        entries = {d.entry.terms.delivery_id: d.entry for side in sides for d in side.deliveries}
        for step, (name, entry) in enumerate(entries.items()):
            self._watch.begin(f"delivery {name}", step, len(entries))
            self._add_delivery(entry, None)

    def add_span(self, span: Span) -> None:
        """Add what changed hands or was made within a time.

        Raises:
            RejectedError: It is too much for one file.
        """
        wide = Span(from_ms=max(0, span.from_ms - AROUND_MS), to_ms=span.to_ms + AROUND_MS)
        trips = self._records.trips.listed(0, REACHED_MAX + 1, span=wide)
        if len(trips) > REACHED_MAX:
            raise RejectedError(f"more than {REACHED_MAX} trips: ask for a shorter time")
        names = dict.fromkeys(name for _, trip in trips for name in trip.start.delivery_ids)
        steps = len(names) + 1
        for step, name in enumerate(names):
            self._watch.begin(f"delivery {name}", step, steps)
            try:
                entry = self._records.deliveries.get(name).entry
            except NotOnLedgerError:
                continue
            self._add_delivery(entry, span)
        after = 0
        while listed := self._records.lots.transformations(after, REACHED_MAX):
            self._watch.begin("transformations", len(names), steps)
            found = [r for _, r in listed if _within(r.entry.terms.at_ms, span)]
            self._add_made(found)
            after = listed[-1][0]

    def file(self, asked: str, now_ms: int) -> bytes:
        """Return the spreadsheet."""
        newest = self._records.blocks.head()
        block = "" if newest is None else f"{newest.block_num}, {newest.block_id}"
        return workbook(
            [
                ("Shipping", SHIPPING, self._shipping),
                ("Receiving", RECEIVING, self._receiving),
                ("Transformation", TRANSFORMATION, self._transformed),
                ("About", ("What", "Says"), about_rows(asked, block, now_ms, self._counts())),
            ]
        )

    def _counts(self) -> tuple[int, int, int]:
        return len(self._shipping), len(self._receiving), len(self._transformed)

    def _add_made(self, made: Iterable[TransformationRecord]) -> None:
        for record in made:
            terms = record.entry.terms
            maker = self._business(terms.party_id, terms.site_id)
            self._add(self._transformed, transformation_rows(record.entry, maker))

    def _add_delivery(self, entry: Delivery, span: Span | None) -> None:
        terms = entry.terms
        ends = {terms.seller_id: terms.buyer_id, terms.buyer_id: terms.seller_id}
        makers = tuple(self._maker(lot) for lot in terms.lots)
        for handover in self._handovers(terms.delivery_id):
            if span is not None and not _within(handover.at_ms, span):
                continue
            for party_id, rows in (
                (handover.from_party_id, self._shipping),
                (handover.to_party_id, self._receiving),
            ):
                if party_id in ends:
                    here = self._business(party_id, handover.site_id)
                    other = self._business(ends[party_id])
                    shipment = Shipment(entry, handover, here, other, makers)
                    self._add(rows, shipment_rows(shipment))

    def _handovers(self, delivery_id: str) -> Iterator[HandOver]:
        found = self._records.deliveries.handovers(delivery_id, 0, REACHED_MAX + 1)
        if len(found) > REACHED_MAX:
            raise RejectedError(f"delivery {delivery_id} changed hands over {REACHED_MAX} times")
        return (each.entry.terms for _, each in found if _counts(each.entry))

    def _maker(self, lot: Lot) -> Business:
        entry = self._records.lots.entry(LotId(lot.gtin, lot.lot))
        return self._business(entry.party_id) if entry is not None else Business()

    def _business(self, party_id: str, site_id: str = "") -> Business:
        if party_id and party_id not in self._names:
            try:
                self._names[party_id] = self._records.parties.get(party_id).entry.name
            except NotOnLedgerError:
                self._names[party_id] = party_id
        name = self._names.get(party_id, "")
        try:
            return Business(name, self._records.sites.get(site_id) if site_id else None)
        except NotOnLedgerError:
            return Business(name)

    def _add(self, rows: list[Row], more: Iterable[Row]) -> None:
        rows.extend(more)
        if sum(self._counts()) > ROWS_MAX:
            raise RejectedError(f"more than {ROWS_MAX} rows: ask for a shorter time")


def _within(at_ms: int, span: Span) -> bool:
    return span.from_ms <= at_ms < span.to_ms


def _counts(handover: HandOverState) -> bool:
    terms = handover.terms
    return {terms.from_party_id, terms.to_party_id} <= set(handover.signed_by)
