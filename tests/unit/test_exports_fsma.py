"""The spreadsheet of FSMA 204, read again by another library: facts, blanks, and no formula."""

import io
from datetime import datetime
from typing import Any, Final

import openpyxl

from contracts.proto.payload_pb2 import (
    DeliveredLot,
    HandOver,
    Lot,
    LotQuantity,
    OpenDelivery,
    Position,
    RegisterSite,
    TransformLots,
)
from contracts.proto.state_pb2 import Delivery, Transformation
from gateway.exports.fsma import (
    RECEIVING,
    SHIPPING,
    TRANSFORMATION,
    Business,
    Shipment,
    shipment_rows,
    transformation_rows,
    workbook,
)

GTIN: Final = "12345670"
EVIL: Final = "=HYPERLINK(1)"
DOCK: Final = RegisterSite(
    site_id="dock", name="Dock 1", position=Position(latitude_e7=470_000_000, longitude_e7=-15)
)
AT_MS: Final = 1_800_000_000_000


def shipment(quantity: int = 0, **terms: Any) -> Shipment:  # noqa: ANN401 - fields of the terms
    lots = [Lot(gtin=GTIN, lot=EVIL), Lot(gtin=GTIN, lot="007")]
    delivery = OpenDelivery(
        delivery_id="d", order_id=EVIL, lots=lots, product=EVIL, quantity=9, unit="KGM", **terms
    )
    handover = HandOver(trip_id="ab" * 16, delivery_id="d", at_ms=AT_MS, quantity=quantity)
    makers = (Business("Dairy"), Business())
    here = Business("+Farm", DOCK)
    return Shipment(Delivery(terms=delivery), handover, here, Business("Shop"), makers)


def read(*sheets: Any) -> dict[str, list[dict[str, Any]]]:  # noqa: ANN401 - as `workbook` takes them
    book = openpyxl.load_workbook(io.BytesIO(workbook(sheets)))
    found = {}
    for sheet in book.worksheets:
        assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
        header, *rows = sheet.iter_rows(values_only=True)
        found[sheet.title] = [dict(zip(header, row, strict=True)) for row in rows]
    return found


def test_a_shipment_is_a_row_for_each_lot_and_its_text_stays_text() -> None:
    first, second = read(("Shipping", SHIPPING, shipment_rows(shipment())))["Shipping"]
    assert first["Traceability lot code"] == f"(01)000000{GTIN}(10){EVIL}"
    assert first["Product name"] == first["Reference document number"] == EVIL
    assert first["Ship-from location: business name"] == "+Farm, Dock 1"
    where = first["Ship-from location: street address or coordinates"]
    assert where == "47.000000, -0.000002"
    assert first["Date shipped"] == datetime(2027, 1, 15, 8)  # noqa: DTZ001 - a sheet has no zones
    assert first["Immediate subsequent recipient: business name"] == "Shop"
    assert first["TLC source: business name"] == "Dairy"
    assert second["TLC source: business name"] is None
    assert second["Traceability lot code"].endswith("(10)007")
    # Two lots share 9 kg, and the terms do not say how.
    assert (first["Quantity"], first["Unit of measure"], first["Brand name"]) == (None, None, None)


def test_quantities_of_lots_are_told_for_a_whole_delivery_alone() -> None:
    items = [
        DeliveredLot(lot=Lot(gtin=GTIN, lot=lot), product="milk", quantity=count, unit="LTR")
        for lot, count in ((EVIL, 4), ("007", 5))
    ]
    whole = read(("R", RECEIVING, shipment_rows(shipment(items=items))))["R"]
    assert [(row["Quantity"], row["Product name"]) for row in whole] == [(4, "milk"), (5, "milk")]
    part = read(("R", RECEIVING, shipment_rows(shipment(quantity=3, items=items))))["R"]
    assert [row["Quantity"] for row in part] == [None, None]


def test_a_transformation_tells_each_quantity_once() -> None:
    terms = TransformLots(
        transformation_id="t",
        inputs=[LotQuantity(gtin=GTIN, lot="a", quantity=3, unit="KGM")],
        outputs=[LotQuantity(gtin=GTIN, lot=lot, quantity=1, unit="KGM") for lot in "bc"],
        at_ms=AT_MS,
    )
    rows = transformation_rows(Transformation(terms=terms), Business("Kitchen", DOCK))
    found = read(("T", TRANSFORMATION, rows))["T"]
    told = [(row["Input or output"], row["Quantity"]) for row in found]
    assert told == [("input", 3), ("output", 1), ("output", 1)]


def test_an_empty_sheet_has_its_heading() -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook([("Shipping", SHIPPING, [])])))
    (header,) = book["Shipping"].iter_rows(values_only=True)
    assert header == SHIPPING
    assert len(SHIPPING) == len(RECEIVING) == 36
