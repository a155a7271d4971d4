"""Search: what on the ledger has a word as its name, or begins with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from contracts.proto.state_pb2 import Site
from gateway.index.store import IndexStore
from gateway.records.tracing import LotId

FOUND_MAX: Final = 20
"""Things of each kind that a search finds."""


class FoundKind(StrEnum):
    """What a search may find."""

    TRIP = "trip"
    DELIVERY = "delivery"
    ORDER = "order"
    LOT = "lot"
    DEVICE = "device"
    SITE = "site"
    PARTY = "party"
    UNIT = "unit"
    TRANSFORMATION = "transformation"
    RECORDING = "recording"


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was found.

    Attributes:
        kind: What it is.
        name: Its id; of a lot, its lot number; of an order, the order's id.
        gtin: Of a lot; empty otherwise.
        about: The delivery of an order, or the GLN of a site; empty otherwise.
    """

    kind: FoundKind
    name: str
    gtin: str = ""
    about: str = ""


_BY_ID: Final = (
    (FoundKind.TRIP, "trips", "trip_id"),
    (FoundKind.DELIVERY, "deliveries", "delivery_id"),
    (FoundKind.DEVICE, "devices", "device_id"),
    (FoundKind.SITE, "sites", "site_id"),
    (FoundKind.PARTY, "parties", "party_id"),
    (FoundKind.UNIT, "units", "sscc"),
    (FoundKind.TRANSFORMATION, "transformations", "transformation_id"),
)


class Search:
    """Answers what a word may mean."""

    def __init__(self, index: IndexStore) -> None:
        self._index = index

    def find(self, word: str) -> list[Found]:
        """Return what has a word as its name or begins with it, up to `FOUND_MAX` of a kind.

        Args:
            word: One or more characters, as they stand on the ledger: case counts.
        """
        return [*self._lots(word), *self._by_id(word), *self._orders(word), *self._others(word)]

    def sites_of(self, gln: str) -> tuple[str, ...]:
        """Return the sites with a GLN, as registered last."""
        rows = self._index.query(
            "SELECT entry FROM sites WHERE rowid IN (SELECT max(rowid) FROM sites GROUP BY site_id)"
        )
        entries = [Site.FromString(entry).site for (entry,) in rows]
        return tuple(each.site_id for each in entries if each.gln == gln)

    def _by_id(self, word: str) -> Iterator[Found]:
        for kind, table, column in _BY_ID:
            sql = f"SELECT DISTINCT {column} FROM {table}"  # noqa: S608
            for (name,) in self._beginning(sql, column, word):
                yield Found(kind, name)

    def _lots(self, word: str) -> Iterator[Found]:
        for column in ("lot", "gtin"):
            rows = self._beginning("SELECT DISTINCT gtin, lot FROM lots", column, word)
            for gtin, lot in rows:
                named = LotId(gtin, lot)
                yield Found(FoundKind.LOT, named.lot, gtin=named.gtin)

    def _orders(self, word: str) -> Iterator[Found]:
        sql = "SELECT DISTINCT order_id, delivery_id FROM orders"
        for order_id, delivery_id in self._beginning(sql, "order_id", word):
            yield Found(FoundKind.ORDER, order_id, about=delivery_id)

    def _others(self, word: str) -> Iterator[Found]:
        if len(word) >= 8 and not set(word) - set("0123456789abcdef"):  # noqa: PLR2004 - as shown
            rows = self._index.query(
                "SELECT DISTINCT lower(hex(sha256)) AS name FROM videos WHERE hex(sha256) >= ?1"
                " AND hex(sha256) < ?1 || 'G' LIMIT ?2",
                word.upper(),
                FOUND_MAX,
            )
            for (name,) in rows:
                yield Found(FoundKind.RECORDING, name)
        for site_id in self.sites_of(word)[:FOUND_MAX]:
            yield Found(FoundKind.SITE, site_id, about=word)

    def _beginning(self, sql: str, column: str, word: str) -> list[tuple[str, ...]]:
        """Return rows whose column begins with a word; an index answers a range, but no LIKE."""
        return self._index.query(
            f"{sql} WHERE {column} >= ?1 AND {column} < ?1 || char(1114111) ORDER BY {column}"
            " LIMIT ?2",
            word,
            FOUND_MAX,
        )
