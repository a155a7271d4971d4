"""More of the tests' network: a kitchen, customs, a second truck, and lots made from lots."""

from collections.abc import Sequence

from contracts import address
from contracts.actions.payload import build
from contracts.proto.payload_pb2 import (
    AUTHORITY,
    MANUFACTURER,
    CloseTrip,
    DeliveredLot,
    Lot,
    LotQuantity,
    OpenDelivery,
    PlaceHold,
    RecordReading,
    RegisterSite,
    ReleaseHold,
    SealTrip,
    TransformLots,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.reading import DeviceChain, Reading, digest, record_of, run_of
from contracts.sawtooth.batches import build_batch
from support.network.world import GTIN, START_MS, TERMS, Trip, device, key, one, party

SSCC = "340123450000000000"


def newcomers() -> list[Batch]:
    """Return what registers a kitchen that makes lots, customs, a hub, and the truck `truck-2`."""
    sites = [
        RegisterSite(site_id=f"site-{name}", party_id=party_id, name=f"Dock of {name}")
        for name, party_id in (("kitchen", "kitchen"), ("hub", "carrier"))
    ]
    return [
        party("kitchen", MANUFACTURER),
        party("customs", AUTHORITY),
        *(one(key(site.party_id), site) for site in sites),
        device("truck-2", "carrier"),
    ]


def made(name: str, party_id: str, inputs: Sequence[str], outputs: Sequence[str]) -> Batch:
    """Return a transformation of one piece of each lot, signed by its maker."""
    action = TransformLots(
        transformation_id=name,
        party_id=party_id,
        site_id=f"site-{party_id}",
        inputs=[_piece(lot) for lot in inputs],
        outputs=[_piece(lot) for lot in outputs],
        at_ms=START_MS,
    )
    return one(key(party_id), action)


def closed(trip_id: str, party_id: str) -> Batch:
    """Return a party's statement that a trip is closed."""
    return one(key(party_id), CloseTrip(trip_id=trip_id, party_id=party_id, at_ms=START_MS))


def hold(trip_id: str, hold_id: str, party_id: str) -> Batch:
    """Return a legal hold on a trip's evidence."""
    action = PlaceHold(
        trip_id=trip_id, hold_id=hold_id, party_id=party_id, reason="inquiry", at_ms=START_MS
    )
    return one(key(party_id), action)


def released(trip_id: str, hold_id: str, party_id: str) -> Batch:
    """Return the release of a hold."""
    action = ReleaseHold(trip_id=trip_id, hold_id=hold_id, party_id=party_id, at_ms=START_MS)
    return one(key(party_id), action)


def goods(delivery_id: str, lot: str, quantity: int) -> OpenDelivery:
    """Return the terms of a lot, and one that nobody made, on a pallet, with certificates."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id = delivery_id
    del terms.lots[:]
    terms.lots.extend(Lot(gtin=GTIN, lot=name) for name in (lot, "ghost"))
    terms.items.extend(
        DeliveredLot(lot=each, product="milk", quantity=quantity, unit="C62") for each in terms.lots
    )
    terms.units.append(SSCC)
    for holder_id in ("carrier", "seller"):
        terms.required_certificates.add(holder_id=holder_id, kind="GDP")
    return terms


def _piece(lot: str) -> LotQuantity:
    return LotQuantity(gtin=GTIN, lot=lot, quantity=1, unit="C62")


def companion(trip: Trip, device_id: str, values: Sequence[Reading]) -> Batch:
    """Return what another device recorded on a trip, in one run, and its seal."""
    signer, records = key(device_id), list[RecordReading]()
    place = DeviceChain(trip.trip_id, device_id).first
    for value in values:
        records.append(record_of(value, place))
        place = place.after(records[-1])
    seal = SealTrip(
        trip_id=trip.trip_id,
        device_id=device_id,
        reading_count=len(records),
        head_sha256=digest(records[-1]),
        clock=records[-1].clock,
    )
    deliveries = [address.delivery(name) for name in trip.deliveries]
    run = build(signer, run_of(records), deliveries=deliveries)
    return build_batch(signer, [run, build(signer, seal)])
