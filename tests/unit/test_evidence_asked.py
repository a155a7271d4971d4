"""Anyone's device may start a trip that names any delivery: such a trip answers no question."""

import pytest

from contracts.actions.payload import decode
from contracts.evidence.expected import Expected, LotName
from contracts.proto.payload_pb2 import RegisterDevice
from contracts.proto.sawtooth_pb2 import Batch
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import build_batch, parse_header
from support.evidence.chain import evidence_of, trust_in
from support.evidence.forgery import verdict_on
from support.evidence.rich import second_carrier
from support.network.world import GTIN, KEYS, TERMS, Trip, key, one, reading, registrations

LOT = LotName(GTIN, TERMS.lots[0].lot)


def under(version: RulesVersion, batches: list[Batch]) -> list[Batch]:
    """Return the same words, said under a version of the rules."""
    return [
        one(KEYS[parse_header(each).signer_public_key], decode(each.payload), version=version)
        for batch in batches
        for each in batch.transactions
    ]


def problems(groups: list[list[Batch]], trip: Trip, expected: Expected) -> list[str]:
    told = evidence_of(groups, [trip.trip_id])
    return verdict_on(told.wire(), trust_in(told.heads), expected=expected).problems


@pytest.mark.parametrize("version", RulesVersion)
def test_a_strangers_calm_trip_is_no_answer_about_a_delivery(version: RulesVersion) -> None:
    trip = Trip("truck-9", signer=key("truck-9"))
    records = [trip.sign(trip.start), trip.run([reading(at) for at in range(4)]), trip.seal()]
    known = under(version, [*registrations(), *second_carrier()])
    groups = [known, under(version, [build_batch(trip.signer, records)])]
    assert problems(groups, trip, Expected()) == []
    assert problems(groups, trip, Expected(delivery_ids=("delivery-1",))) == [
        "delivery delivery-1 was asked for; the file is about the deliveries (none)"
    ]
    assert problems(groups, trip, Expected(lots=(LOT,))) == [
        f"lot {LOT} was asked for; the file is about the lots (none)"
    ]


def test_a_thief_with_a_revoked_key_answers_nothing_about_a_delivery() -> None:
    trip = Trip()
    lost = RegisterDevice(
        device_id="truck-1", party_id="carrier", public_keys=[key("truck-1's new").public_key]
    )
    groups = [registrations(), [one(key("carrier"), lost)], trip.whole([reading(0)])]
    assert problems(groups, trip, Expected()) == []
    assert problems(groups, trip, Expected(delivery_ids=("delivery-1",))) == [
        "delivery delivery-1 was asked for; the file is about the deliveries (none)"
    ]


def test_a_draft_holds_no_lot() -> None:
    """A seller alone may name any lot in it."""
    seller = registrations()[-2]
    assert decode(seller.transactions[0].payload) == TERMS
    trip = Trip()
    driven = trip.whole([reading(0)])
    groups = [registrations()[:-1], driven]
    assert problems(groups, trip, Expected(delivery_ids=("delivery-1",))) == []
    assert problems(groups, trip, Expected(lots=(LOT,))) == [
        f"lot {LOT} was asked for; the file is about the lots (none)"
    ]
    assert problems([registrations(), driven], trip, Expected(lots=(LOT,))) == []
