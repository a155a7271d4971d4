"""Payloads: encoding, declared addresses, and trip ids."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from contracts import address
from contracts.actions.payload import build, check_fields, check_scope, decode, encode, scope
from contracts.actions.table import KINDS, Action
from contracts.errors import RejectedError
from contracts.ids import trip_id_of
from contracts.proto.payload_pb2 import (
    RELEASED,
    AcceptDelivery,
    CloseDelivery,
    CloseTrip,
    DisputeDelivery,
    HandOver,
    LotQuantity,
    Payload,
    PlaceHold,
    RecordReading,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    ReleaseHold,
    RotateKeys,
    SealTrip,
    TransformLots,
)
from contracts.records.reading import run_of
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import parse_header
from support.network.world import TERMS, Trip, key, reading

SIGNER = key("truck-1")
TRIP = Trip()
TRIP.record(reading(0))
LOT = LotQuantity(gtin="00012345678905", lot="L1", quantity=1, unit="C62")
ACTIONS: list[Action] = [
    RegisterParty(party_id="p", name="P"),
    RegisterSite(site_id="s", party_id="p", name="S"),
    RegisterDevice(device_id="d", party_id="p"),
    TERMS,
    TRIP.start,
    TRIP.records[0],
    SealTrip(trip_id=TRIP.trip_id, device_id="truck-1"),
    RecordVideo(trip_id=TRIP.trip_id, device_id="truck-1"),
    HandOver(trip_id=TRIP.trip_id, delivery_id="delivery-1", site_id="site-buyer"),
    run_of(TRIP.records),
    RotateKeys(party_id="p", added=[SIGNER.public_key]),
    TransformLots(transformation_id="t", party_id="p", site_id="s", outputs=[LOT]),
    AcceptDelivery(delivery_id="delivery-1"),
    DisputeDelivery(delivery_id="delivery-1", reason="warm"),
    CloseDelivery(delivery_id="delivery-1", payment=RELEASED),
    CloseTrip(trip_id=TRIP.trip_id, party_id="p"),
    PlaceHold(trip_id=TRIP.trip_id, hold_id="h", party_id="p", reason="court"),
    ReleaseHold(trip_id=TRIP.trip_id, hold_id="h", party_id="p"),
]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: type(action).__name__)
def test_every_action_comes_back(action: Action) -> None:
    wire = encode(action)
    assert decode(wire) == action
    assert encode(decode(wire)) == wire


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: type(action).__name__)
def test_what_is_declared_is_what_the_rules_expect(action: Action) -> None:
    header = parse_header(build(SIGNER, action))
    check_scope(action, header)
    assert header.signer_public_key == header.batcher_public_key == SIGNER.public_key
    for place in (*header.inputs, *header.outputs):
        if place == address.BLOCK_INFO_NAMESPACE:  # whose latest entry moves
            assert place not in header.outputs
            continue
        assert len(place) in (8, 38, address.ADDRESS_HEX)
        assert place[:6] in (address.NAMESPACE, address.SETTINGS_NAMESPACE)
    assert set(header.outputs) <= set(header.inputs)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: type(action).__name__)
def test_another_action_or_signer_needs_other_addresses(action: Action) -> None:
    header = parse_header(build(SIGNER, action))
    other = ACTIONS[1] if action == ACTIONS[0] else ACTIONS[0]
    with pytest.raises(RejectedError, match="other inputs or outputs"):
        check_scope(other, header)
    if not isinstance(action, RegisterParty):
        header.signer_public_key = header.batcher_public_key = key("carrier").public_key
        with pytest.raises(RejectedError, match="other inputs or outputs"):
            check_scope(action, header)


def test_a_reading_declares_the_deliveries_of_its_trip() -> None:
    places = [address.delivery("a"), address.delivery("b")]
    record = TRIP.records[0]
    _, outputs = scope(record, SIGNER.public_key, places)
    assert outputs == [address.trip_prefix(TRIP.trip_id), *places]
    check_scope(record, parse_header(build(SIGNER, record, deliveries=places)))
    for wrong in (address.DELIVERY_PREFIX, address.party("p"), places[0] + "0", ""):
        with pytest.raises(RejectedError, match="to deliveries only"):
            check_scope(record, parse_header(build(SIGNER, record, deliveries=[wrong])))


def test_equal_transactions_differ_by_nonce_and_dependencies_only() -> None:
    action = TRIP.start
    plain = build(SIGNER, action)
    assert build(SIGNER, action) == plain
    assert build(SIGNER, action, nonce="1").header_signature != plain.header_signature
    assert build(SIGNER, action, dependencies=["0" * 128]) != plain


def test_a_trip_id_follows_from_device_and_nonce() -> None:
    assert trip_id_of("truck-1", bytes(16)) == "2962ec23e87231ae912abb7d85a93377"
    assert trip_id_of("truck-2", bytes(16)) != trip_id_of("truck-1", bytes(16))
    assert trip_id_of("truck-1", bytes(15) + b"1") != trip_id_of("truck-1", bytes(16))


def test_addresses_of_a_trip_share_its_prefix() -> None:
    trip_id = TRIP.trip_id
    places = {
        address.trip(trip_id),
        address.chain(trip_id, "truck-1"),
        address.handover(trip_id, "delivery-1", "site-buyer", "carrier", "buyer"),
        address.handover(trip_id, "delivery-1", "site-buyer", "seller", "carrier"),
        address.breach(trip_id, "truck-1", "delivery-1", 1, 0),
        address.breach(trip_id, "truck-1", "delivery-1", 1, 1),
        address.finding(trip_id, "0" * 128),
    }
    assert len(places) == 7
    assert {len(place) for place in places} == {address.ADDRESS_HEX}
    assert {place[:38] for place in places} == {address.trip_prefix(trip_id)}


def test_text_of_any_length_has_an_address() -> None:
    for length in (1, 200, 201, 60_000):
        for _ in range(2):
            place = address.site("x" * length)
            assert len(place) == address.ADDRESS_HEX
            assert place.endswith(hashlib.sha512(b"x" * length).hexdigest()[:62])


def test_published_addresses() -> None:
    assert address.NAMESPACE == "b7a4b7"
    # Sawtooth 1.2, Settings transaction family, "Addressing": its own example.
    assert (
        address.setting("sawtooth.config.vote.proposals")
        == "000000a87cb5eafdcca6a8b79606fb3afea5bdab274474a6aa82c1c0cbf0fbcaf64c0b"
    )


NUMBERS = {
    field.message_type.name: field.number
    for field in Payload.DESCRIPTOR.oneofs_by_name["action"].fields
    if field.message_type
}


ONE: dict[int, object] = {FieldDescriptor.TYPE_STRING: "x", FieldDescriptor.TYPE_BYTES: b"x"}


def naively_late(message: Message, version: RulesVersion) -> bool:
    """Say whether a field that came after a version is set, by a look at each field."""
    return any(
        field.number >= 100 * (version + 1)
        or (
            field.message_type is not None
            and any(
                naively_late(part, version) for part in (value if field.is_repeated else [value])
            )
        )
        for field, value in message.ListFields()
    )


def with_each_field(kind: type[Message]) -> Iterator[Any]:
    """Yield messages of a kind, each with one field set, at any depth."""
    for field in kind.DESCRIPTOR.fields:
        values: Iterable[Any] = [ONE.get(field.type, 1)]
        if field.message_type:
            empty = getattr(kind(), field.name)
            values = with_each_field(type(empty.add() if field.is_repeated else empty))
        for value in values:
            yield kind(**{field.name: [value] if field.is_repeated else value})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_field_of_a_later_version_is_refused_at_any_depth(kind: type[Action]) -> None:
    for version in (RulesVersion.V1_0, RulesVersion.V1_1):
        number = NUMBERS[kind.__name__]
        for action in with_each_field(kind):
            try:
                check_fields(action, version)
            except RejectedError as error:
                late = "is not part of version" in str(error)
                assert late == (number >= 100 * (version + 1) or naively_late(action, version))
            else:
                assert not naively_late(action, version)


def test_a_value_with_the_bytes_of_a_later_field_is_allowed() -> None:
    later = RecordReading(remarks=[{}], filmed=[{}], film=[{}]).SerializeToString()
    action = RecordReading(sequence=1, previous_sha256=later)
    check_fields(action, RulesVersion.V1_1)
    check_fields(action, RulesVersion.V1_1, encode(action))
    action.filmed.add()
    for wire in (b"", encode(action)):
        with pytest.raises(RejectedError, match=r"filmed is not part of version 1\.1"):
            check_fields(action, RulesVersion.V1_1, wire)
