"""A large index without a ledger: trips with readings, deliveries, and lots made from lots."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contracts.proto.payload_pb2 import (
    Clock,
    Lot,
    LotQuantity,
    OpenDelivery,
    Position,
    RecordReading,
    StartTrip,
    TransformLots,
)
from contracts.proto.state_pb2 import Delivery, Transformation, Trip
from contracts.proto.state_pb2 import Lot as LotEntry
from gateway.index.readings import NewReadings, new_readings
from gateway.index.store import IndexStore

GTIN: Final = "09012345678904"
START_MS: Final = 1_800_000_000_000
STEP_MS: Final = 1_000
LONG_TRIP: Final = "f" * 32
LONG_READINGS: Final = 10_800
_INPUTS: Final = 2
_DEVICES: Final = 50


@dataclass(frozen=True, slots=True)
class AuditWorld:
    """How much is on the ledger.

    Attributes:
        trips: How many, each with one delivery of one lot.
        readings: Of each trip.
        lots: How many; each is made from up to two earlier ones.
    """

    trips: int
    readings: int
    lots: int

    def trip_id(self, number: int) -> str:
        """Return the id of a trip."""
        return f"{number:032x}"

    def lot(self, number: int) -> str:
        """Return the name of a lot."""
        return f"L-{number:05}"


def fill(index: IndexStore, world: AuditWorld) -> None:
    """Put the world into an empty index: a block of lots, then a block for each trip."""
    index.add({"blocks": [(0, "0" * 128, b"")], **_lots(world)})
    for number in range(world.trips):
        _add_trip(index, number + 1, world.trip_id(number), world, number, world.readings)
    _add_trip(index, world.trips + 1, LONG_TRIP, world, 0, LONG_READINGS)


def _lots(world: AuditWorld) -> dict[str, list[tuple[object, ...]]]:
    lots: list[tuple[object, ...]] = []
    entries: list[tuple[object, ...]] = []
    made: list[tuple[object, ...]] = []
    for number in range(world.lots):
        name = f"T-{number:05}"
        used = [world.lot(number // 2 - back) for back in range(_INPUTS) if number // 2 - back >= 0]
        used = [each for each in used if each != world.lot(number)]
        terms = TransformLots(
            transformation_id=name,
            party_id="maker",
            site_id="site-a",
            inputs=[LotQuantity(gtin=GTIN, lot=each, quantity=1, unit="KGM") for each in used],
            outputs=[LotQuantity(gtin=GTIN, lot=world.lot(number), quantity=9, unit="KGM")],
            at_ms=START_MS,
        )
        made.append((name, Transformation(terms=terms).SerializeToString(), "ab" * 64, 0))
        lots += [(GTIN, each, "input", name, 0) for each in used]
        lots.append((GTIN, world.lot(number), "output", name, 0))
        entry = LotEntry(gtin=GTIN, lot=world.lot(number), party_id="maker", unit="KGM", made=9)
        entries.append((GTIN, world.lot(number), entry.SerializeToString(), 0))
    return {"lots": lots, "lot_entries": entries, "transformations": made}


def _add_trip(
    index: IndexStore, block: int, trip_id: str, world: AuditWorld, number: int, readings: int
) -> None:
    device, delivery_id = f"truck-{number % _DEVICES}", f"D-{block:06}"
    start = StartTrip(
        trip_id=trip_id,
        device_id=device,
        delivery_ids=[delivery_id],
        origin_site_id="site-a",
        destination_site_id="site-b",
        started_at_ms=START_MS,
    )
    lot = world.lot(number % world.lots)
    terms = OpenDelivery(
        delivery_id=delivery_id,
        order_id=f"PO-{block}",
        lots=[Lot(gtin=GTIN, lot=lot)],
        product="cheese",
        quantity=9,
        unit="KGM",
        seller_id="maker",
        carrier_id="carrier",
        buyer_id="shop",
    )
    entry = Delivery(terms=terms, status=Delivery.Status.OPEN)
    signed, transaction = start.SerializeToString(), "cd" * 64
    index.add(
        {
            "blocks": [(block, f"{block:0128x}", b"")],
            "trips": [(trip_id, device, signed, transaction, START_MS, block)],
            "trip_entries": [(trip_id, Trip(start=start).SerializeToString(), None, block)],
            "trip_devices": [(device, trip_id, block)],
            "trip_deliveries": [(delivery_id, trip_id, block)],
            "deliveries": [(delivery_id, entry.SerializeToString(), block)],
            "lots": [(GTIN, lot, "delivery", delivery_id, block)],
            "orders": [(f"PO-{block}", delivery_id, block)],
        },
        _readings(trip_id, device, readings),
    )


def _readings(trip_id: str, device: str, count: int) -> Iterator[NewReadings]:
    for number in range(count):
        reading = RecordReading(
            trip_id=trip_id,
            device_id=device,
            sequence=number,
            clock=Clock(
                utc_ms=START_MS + number * STEP_MS,
                monotonic_ms=number * STEP_MS,
                boot_id=bytes(16),
            ),
            temperature_mcel=4000 + number % 700,
            humidity_mpct=60_000 + number % 900,
            pressure_pa=101_300 + number % 90,
            position=Position(latitude_e7=470_000_000 + number, longitude_e7=154_000_000 + number),
        )
        yield new_readings(reading, bytes(64))
