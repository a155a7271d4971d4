"""The sortable spreadsheet of FSMA 204: shipping, receiving and transformation, one sheet each.

What the ledger does not say, such as a phone number or a brand, stays blank; the sheet `About` says
so, and where the rows come from. Text stays text: nothing becomes a formula.

Source: 21 CFR 1.1340, 1.1345, 1.1350 and 1.1455(c)(3)(ii); the columns of FDA's example workbook.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from contracts.proto.payload_pb2 import HandOver, LotQuantity, RegisterSite
from contracts.proto.state_pb2 import Delivery, Transformation
from contracts.records.clock import moment, rfc3339
from contracts.rules.custody import quantity_of

XLSX_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_FIELDS: Final = (
    "business name",
    "phone number",
    "street address or coordinates",
    "city",
    "state",
    "ZIP code",
    "country",
)
_GOODS: Final = (
    "Traceability lot code",
    "Quantity",
    "Unit of measure",
    "Product name",
    "Brand name",
    "Commodity",
    "Variety",
    "Packaging size",
    "Packaging style",
)
_DOCUMENTS: Final = (
    "Reference document type",
    "Reference document number",
    "Reference document type 2",
    "Reference document number 2",
)


def _place(of: str) -> tuple[str, ...]:
    return tuple(f"{of}: {each}" for each in _FIELDS)


SHIPPING: Final = (
    *_GOODS,
    *_place("Immediate subsequent recipient"),
    *_place("Ship-from location"),
    "Date shipped",
    *_place("TLC source"),
    "TLC source reference",
    *_DOCUMENTS,
)
RECEIVING: Final = (
    *_GOODS,
    *_place("Immediate previous source"),
    *_place("Where received"),
    "Date received",
    *_place("TLC source"),
    "TLC source reference",
    *_DOCUMENTS,
)
TRANSFORMATION: Final = (
    "Transformation",
    "Input or output",
    *_GOODS,
    *_place("Where transformed"),
    "Date completed",
)
Value = str | int | datetime | None
Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Business:
    """A business at a place, as far as the ledger knows it; without a name it is unknown."""

    name: str = ""
    site: RegisterSite | None = None

    @property
    def fields(self) -> Row:
        """Return the seven fields; the ledger knows the name, and perhaps coordinates."""
        where, name = None, self.name or None
        if self.site is not None:
            name = f"{self.name}, {self.site.name}"
            if self.site.HasField("position"):
                at = self.site.position
                where = f"{at.latitude_e7 / 1e7:.6f}, {at.longitude_e7 / 1e7:.6f}"
        return (name, None, where, None, None, None, None)


@dataclass(frozen=True, slots=True)
class Shipment:
    """Goods that left or reached a seller or buyer.

    Attributes:
        delivery: The delivery.
        handover: As both parties signed it.
        here: The business that shipped or received the goods, and where.
        other: Where they go to or come from: not the carrier.
        makers: The maker of each lot, in the order of the terms.
    """

    delivery: Delivery
    handover: HandOver
    here: Business
    other: Business
    makers: tuple[Business, ...]


def shipment_rows(each: Shipment) -> Iterator[Row]:
    """Yield a row for each lot that changed hands."""
    terms, handover = each.delivery.terms, each.handover
    order = ("PO", terms.order_id) if terms.order_id else (None, None)
    named = f"Wayseal delivery {terms.delivery_id}, trip {handover.trip_id}"
    for lot, (product, quantity, unit), maker in zip(
        terms.lots, _amounts(each), each.makers, strict=True
    ):
        yield (
            lot_code(lot.gtin, lot.lot),
            quantity or None,
            unit if quantity else None,
            product or None,
            *(None,) * 5,
            *each.other.fields,
            *each.here.fields,
            moment(handover.at_ms),
            *maker.fields,
            None,
            *order,
            *("Other", named),
        )


def _amounts(each: Shipment) -> list[tuple[str, int, str]]:
    """Return product, quantity and unit of each lot; 0 where a part leaves the share open."""
    terms = each.delivery.terms
    moved = quantity_of(each.handover, terms)
    if terms.items and moved == terms.quantity:
        of = {(item.lot.gtin, item.lot.lot): item for item in terms.items}
        found = [of.get((lot.gtin, lot.lot)) for lot in terms.lots]
        return [(i.product, i.quantity, i.unit) if i else (terms.product, 0, "") for i in found]
    alone = len(terms.lots) == 1
    return [(terms.product, moved if alone else 0, terms.unit) for _ in terms.lots]


def transformation_rows(entry: Transformation, maker: Business) -> Iterator[Row]:
    """Yield a row for each lot used, then one for each lot made: quantities are told once."""
    terms = entry.terms

    def rows(lots: Iterable[LotQuantity], way: str) -> Iterator[Row]:
        for each in lots:
            yield (
                terms.transformation_id,
                way,
                lot_code(each.gtin, each.lot),
                each.quantity,
                each.unit,
                *(None,) * 6,
                *maker.fields,
                moment(terms.at_ms),
            )

    yield from rows(terms.inputs, "input")
    yield from rows(terms.outputs, "output")


def lot_code(gtin: str, lot: str) -> str:
    """Return a lot as on a case: GTIN and lot with their GS1 application identifiers."""
    return f"(01){gtin.zfill(14)}(10){lot}"


def about_rows(asked: str, block: str, now_ms: int, counts: tuple[int, int, int]) -> list[Row]:
    """Return where the rows come from, how many there are of each sheet, and what is missing."""
    shipped, received, transformed = counts
    rows = f"{shipped} shipping, {received} receiving, {transformed} transformation"
    nothing = "none: of what was asked for, the ledger shows you nothing that fills a row"
    return [
        ("Asked for", asked),
        ("Rows", rows if any(counts) else nothing),
        ("Made at", rfc3339(now_ms)),
        ("Newest block of the ledger", block),
        ("Blank cells", "Not on the ledger: ask the business. Nothing was guessed."),
        ("Not on the ledger", "phone, address, brand, commodity, variety, packaging"),
        ("Carriers", "They appear where they gave or took goods; FSMA 204 exempts transporters."),
        ("Traceability lot code", "GTIN and lot, as (01)GTIN(10)LOT"),
    ]


def workbook(sheets: Sequence[tuple[str, Sequence[str], Iterable[Row]]]) -> bytes:
    """Return sheets as an XLSX file, each with a heading that stays and a filter."""
    # Imported late: few gateways are ever asked for a spreadsheet.
    from xlsxwriter import Workbook  # noqa: PLC0415

    buffer = io.BytesIO()
    literal = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)
    with Workbook(buffer, {"in_memory": True, "remove_timezone": True, **literal}) as book:
        bold, day = book.add_format({"bold": True}), book.add_format({"num_format": "yyyy-mm-dd"})
        for name, header, rows in sheets:
            sheet = book.add_worksheet(name)
            for column, title in enumerate(header):
                sheet.write_string(0, column, title, bold)
            count = 0
            for count, row in enumerate(rows, start=1):
                for column, value in enumerate(row):
                    _write(sheet, count, column, value, day)
            sheet.freeze_panes(1, 1)
            sheet.set_column(0, len(header) - 1, 22)
            sheet.autofilter(0, 0, count, len(header) - 1)
    return buffer.getvalue()


def _write(sheet: Any, row: int, column: int, value: Value, day: Any) -> None:  # noqa: ANN401 - untyped
    if isinstance(value, datetime):
        sheet.write_datetime(row, column, value, day)
    elif isinstance(value, int):
        sheet.write_number(row, column, value)
    elif value:
        sheet.write_string(row, column, value)
