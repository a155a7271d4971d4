"""Evidence at the edges of the rules, sound and not: where a second reading of them may slip."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from contracts.actions.payload import PAYLOAD_BYTES_MAX
from contracts.actions.table import Action
from contracts.encoding import canonical
from contracts.proto.block_info_pb2 import BlockInfo, BlockInfoTxn
from contracts.proto.payload_pb2 import (
    AUTHORITY,
    DeliveredLot,
    Limit,
    Lot,
    LotQuantity,
    OpenDelivery,
    PlaceHold,
    RegisterParty,
    RegisterSite,
    TransformLots,
)
from contracts.proto.payload_pb2 import Position as Place
from contracts.proto.sawtooth_pb2 import Batch, BatchHeader
from contracts.records.reading import Position, Reading
from contracts.rules.excursions import BREACHES_MAX
from contracts.rules.places import ACCURACY_CM_MAX
from contracts.rules.version import RulesVersion
from contracts.sawtooth import block_info
from contracts.sawtooth.batches import Family, build_batch, build_transaction, parse_header
from support.evidence.chain import Evidence, evidence_of
from support.network.goods import newcomers
from support.network.world import (
    GTIN,
    KEYS,
    START_MS,
    TERMS,
    Trip,
    key,
    loading,
    one,
    party,
    reading,
    registrations,
)

_OLD: Final = RulesVersion.V1_0
_QUANTITIES: Final = (Limit.TEMPERATURE_MCEL, Limit.HUMIDITY_MPCT, Limit.PRESSURE_PA)


def edges() -> Iterator[tuple[str, Evidence]]:
    """Yield evidence by name."""
    yield "breaches-many", _breached()
    yield "arrived-within-a-kilometre", _arrived()
    yield from _behind()
    yield "signed-by-a-stranger", _strange()
    yield "items-in-one-name", _items()
    yield "batch-in-two-blocks", _named_twice()
    yield "batch-without-transactions", _empty()
    trip = Trip()
    begun, *driven = trip.whole([reading(0), reading(1)], size=1)
    payload = begun.transactions[0].payload
    for name, said in {
        "payload-with-a-tail": _signed_again(begun, payload + b"\0"),
        "payload-with-more": _signed_again(begun, payload + b"\xf8\x7f\1"),
        "payload-of-nothing": _signed_again(begun, b""),
        "payload-too-long": _signed_again(begun, payload + bytes(PAYLOAD_BYTES_MAX)),
        "dependency-on-nothing": _signed_again(begun, payload, ""),
    }.items():
        yield name, _of(trip, [said, *driven])
    yield "block-time-malformed", _timed(b"\xff", "1.0")
    late = BlockInfoTxn(block=BlockInfo(block_num=0, timestamp=4 * START_MS // 1000))
    yield "block-time-of-another-version", _timed(canonical(late), "2.0")
    told = BlockInfoTxn(block=BlockInfo(block_num=0, timestamp=START_MS // 1000 + 60))
    yield "block-time-first", _timed(canonical(told), "1.0")
    yield "block-time-not-first", _timed(canonical(told), "1.0", at=1)
    yield "block-time-of-no-block", _timed(canonical(BlockInfoTxn(target_count=3)), "1.0")
    odd = _of(trip, [begun, *driven])
    odd.header.trip_ids.append(trip.trip_id.upper())
    yield "trip-id-in-capitals", odd


def _breached() -> Evidence:
    """Return evidence of a trip with three limits; each is breached twice more than is told.

    The last breach of each is ended by the seal.
    """
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id = "delivery-3"
    del terms.limits[:]
    terms.limits.extend(Limit(quantity=each, maximum=150_000) for each in _QUANTITIES)
    terms.limits[0].maximum, terms.limits[1].maximum = 8000, 60_000
    trip = Trip(deliveries=["delivery-3"])
    count = 2 * (BREACHES_MAX // len(_QUANTITIES) + 2)
    values = [_outside(reading(at)) if at % 2 else reading(at) for at in range(count)]
    driven = [trip.sign(trip.start), trip.run(values), trip.seal()]
    signed = [one(key(side), terms) for side in ("seller", "buyer")]
    return evidence_of(
        [registrations(), [*signed, build_batch(trip.signer, driven)]], [trip.trip_id]
    )


def _outside(value: Reading) -> Reading:
    return replace(value, temperature_mcel=9000, humidity_mpct=70_000, pressure_pa=160_000)


def _arrived() -> Evidence:
    """Return evidence of a device whose position is just exact enough, and far from its site."""
    there = Place(latitude_e7=500_000_000, longitude_e7=0, accuracy_cm=100)
    site = RegisterSite(
        site_id="site-buyer", party_id="buyer", name="Dock", position=there, radius_m=100
    )
    trip = Trip()
    here = Position(526_291_510, -86_617_460, ACCURACY_CM_MAX)
    values = [replace(reading(at), position=here) for at in range(2)]
    return evidence_of(
        [[*registrations(), one(key("buyer"), site)], trip.whole(values)], [trip.trip_id]
    )


def _behind() -> Iterator[tuple[str, Evidence]]:
    """Yield transactions of 1.0 that only ask whether an entry exists, and 1.1 wrote that entry."""
    later = [_site("site-seller", "seller"), _site("site-buyer", "buyer")]
    trip = Trip(version=_OLD)
    begun, *driven = trip.whole([reading(0), reading(1)], size=1)
    yield "behind-start", _of(trip, [*later, begun, *driven])
    lots = TransformLots(
        transformation_id="mix",
        party_id="seller",
        site_id="site-seller",
        outputs=[LotQuantity(gtin=GTIN, lot="M1", quantity=1, unit="C62")],
        at_ms=START_MS,
    )
    made = _old("seller", lots)
    yield "behind-lots", _of(trip, [begun, *driven, *later, made])
    hands = [_old(party_id, loading(trip.trip_id)) for party_id in ("seller", "carrier")]
    yield "behind-handover", _of(trip, [begun, *driven, *later, *hands])
    renamed = RegisterParty(
        party_id="carrier", name="Renamed", public_keys=[key("carrier").public_key]
    )
    held = PlaceHold(
        trip_id=trip.trip_id, hold_id="h", party_id="carrier", reason="inquiry", at_ms=START_MS
    )
    yield (
        "behind-hold",
        _of(trip, [begun, *driven, one(key("admin"), renamed), _old("carrier", held)]),
    )
    yield "behind-and-there", _of(trip, [*_again(), begun, *driven])


def _again() -> Sequence[Batch]:
    """Return the same trip's start, of 1.1: the start of 1.0 comes second."""
    return [one(key("truck-1"), Trip().start)]


def _old(signer: str, action: Action) -> Batch:
    return one(key(signer), action, version=_OLD)


def _site(site_id: str, party_id: str) -> Batch:
    """Return a site as version 1.1 registers it."""
    return one(key(party_id), RegisterSite(site_id=site_id, party_id=party_id, name="Dock"))


def _of(trip: Trip, batches: Sequence[Batch]) -> Evidence:
    """Return evidence of a trip under version 1.0."""
    return evidence_of([registrations(_OLD), batches], [trip.trip_id])


def _signed_again(batch: Batch, payload: bytes, *dependencies: str) -> Batch:
    """Return a batch of one transaction with another payload, or with dependencies."""
    (told,) = batch.transactions
    header = parse_header(told)
    signer = KEYS[header.signer_public_key]
    made = build_transaction(
        signer,
        Family.of(header),
        payload,
        batcher_public_key=signer.public_key,
        inputs=header.inputs,
        outputs=header.outputs,
        dependencies=dependencies,
    )
    return build_batch(signer, [made])


def _strange() -> Evidence:
    """Return evidence of a trip about which another device signs readings too."""
    trip, stranger = Trip(), key("truck-2")
    posing = Trip(signer=stranger)
    own = Trip("truck-2", signer=stranger, of=trip.trip_id)
    said = [build_batch(stranger, [each.record(reading(0))]) for each in (posing, own)]
    return evidence_of(
        [[*registrations(), *newcomers()], [*trip.whole([reading(0), reading(1)]), *said]],
        [trip.trip_id],
    )


def _items() -> Evidence:
    """Return evidence with terms whose one item has the names of two lots, with a comma between."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id = "delivery-3"
    del terms.lots[:]
    terms.lots.extend(Lot(gtin=GTIN, lot=name) for name in ("a", "b"))
    both = Lot(gtin=GTIN, lot=f"a,{GTIN}\0b")
    terms.items.append(DeliveredLot(lot=both, product="milk", quantity=1, unit="C62"))
    trip = Trip()
    driven = trip.whole([reading(0), reading(1)])
    return evidence_of([[*registrations(), one(key("seller"), terms)], driven], [trip.trip_id])


def _timed(payload: bytes, version: str, at: int = 0) -> Evidence:
    """Return evidence of a trip whose block has what may be its time, as its batch number `at`."""
    node, trip = key("node"), Trip()
    told = build_transaction(
        node,
        Family(block_info.FAMILY.name, version),
        payload,
        batcher_public_key=node.public_key,
        inputs=block_info.ADDRESSES,
        outputs=block_info.ADDRESSES,
    )
    block = trip.whole([reading(0), reading(1)], size=1)
    block.insert(at, build_batch(node, [told]))
    return evidence_of([registrations(), block], [trip.trip_id])


def _named_twice() -> Evidence:
    """Return evidence of a ledger two blocks of which name one batch, shown at the second."""
    trip, again = Trip(), party("customs", AUTHORITY)
    driven = trip.whole([reading(0), reading(1)])
    told = evidence_of([[*registrations(), again], [*driven, again]], [trip.trip_id])
    told.batches.remove(again)
    told.prove()
    return told


def _empty() -> Evidence:
    """Return evidence with a batch of no transaction."""
    trip, signer = Trip(), key("carrier")
    header = canonical(BatchHeader(signer_public_key=signer.public_key))
    empty = Batch(header=header, header_signature=signer.sign(header))
    return evidence_of(
        [registrations(), [*trip.whole([reading(0), reading(1)]), empty]], [trip.trip_id]
    )
