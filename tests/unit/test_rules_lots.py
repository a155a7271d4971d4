"""Lots made from lots: their makers, their quantities, and quantities that do not add up."""

from collections.abc import Sequence

import pytest

from contracts import address
from contracts.proto.payload_pb2 import (
    MANUFACTURER,
    LotQuantity,
    RegisterParty,
    TransformLots,
)
from contracts.proto.sawtooth_pb2 import Event
from contracts.proto.state_pb2 import Lot, Transformation
from contracts.rules.case import EVENT_FINDING, EVENT_TRANSFORMATION
from contracts.rules.ids import Rule
from contracts.rules.version import USUAL
from support.ledgers.hosts import Host, apply_all, findings, refused, rules_found, told
from support.network.world import START_MS, key, one, registrations

GTIN = "00012345678905"
MOST = 10**15


def lot(name: str, quantity: int = 10, unit: str = "KGM") -> LotQuantity:
    return LotQuantity(gtin=GTIN, lot=name, quantity=quantity, unit=unit)


def transformation(
    name: str,
    inputs: Sequence[LotQuantity],
    outputs: Sequence[LotQuantity],
    party_id: str = "dairy",
    site_id: str = "site-seller",
) -> TransformLots:
    return TransformLots(
        transformation_id=name,
        party_id=party_id,
        site_id=site_id,
        inputs=inputs,
        outputs=outputs,
        at_ms=START_MS,
    )


def ready(host: Host) -> None:
    dairy = RegisterParty(
        party_id="dairy", name="Dairy", public_keys=[key("dairy").public_key], roles=[MANUFACTURER]
    )
    apply_all(host, [*registrations(), one(key("admin"), dairy)])


def make(
    host: Host,
    name: str,
    inputs: Sequence[LotQuantity],
    outputs: Sequence[LotQuantity],
    party_id: str = "dairy",
) -> list[Event]:
    action = transformation(name, inputs, outputs, party_id)
    return host.apply(one(key(party_id), action))


def refusal(
    host: Host,
    inputs: Sequence[LotQuantity],
    outputs: Sequence[LotQuantity],
    party_id: str = "dairy",
) -> Rule:
    action = transformation("refused", inputs, outputs, party_id)
    return refused(host, one(key(party_id), action))


def state(host: Host, name: str) -> Lot:
    return Lot.FromString(host.state(address.lot(GTIN, name)) or b"")


def test_lots_begin_and_become_others(host: Host) -> None:
    ready(host)
    events = make(host, "t1", [], [lot("milk", 100)])
    assert told(EVENT_TRANSFORMATION, events) == [{"transformation_id": "t1", "party_id": "dairy"}]
    action = transformation("t2", [lot("milk", 90)], [lot("cheese", 9), lot("whey", 80)])
    assert rules_found(host.apply(one(key("dairy"), action))) == []
    milk = Lot(gtin=GTIN, lot="milk", party_id="dairy", unit="KGM", made=100, used=90, rules=USUAL)
    assert state(host, "milk") == milk
    assert state(host, "cheese").made == 9
    kept = host.state(address.transformation("t2")) or b""
    assert Transformation.FromString(kept) == Transformation(terms=action, rules=USUAL)


def test_a_lot_is_made_little_by_little_by_its_maker_alone(host: Host) -> None:
    ready(host)
    make(host, "t1", [], [lot("milk", 100)])
    make(host, "t2", [], [lot("milk", 50)])
    assert state(host, "milk").made == 150
    assert refusal(host, [], [lot("milk")], "seller") is Rule.LOT_TAKEN
    assert refusal(host, [], [lot("milk", unit="LTR")]) is Rule.UNIT_DIFFERS


def test_a_lot_of_the_same_name_is_another_one_under_another_gtin(host: Host) -> None:
    ready(host)
    make(host, "t1", [], [lot("milk")])
    other = LotQuantity(gtin="4006381333931", lot="milk", quantity=1, unit="C62")
    assert rules_found(make(host, "t2", [], [other], "seller")) == []


def test_more_used_than_made_is_found(host: Host) -> None:
    ready(host)
    make(host, "t1", [], [lot("milk", 100)])
    assert rules_found(make(host, "t2", [lot("milk", 100)], [lot("cheese")], "seller")) == []
    events = make(host, "t3", [lot("milk", 1)], [lot("butter")])
    (found,) = findings(events)
    assert (found.rule, found.trip_id, found.transformation_id) == (Rule.LOT_OVERDRAWN, "", "t3")
    assert "101 KGM" in found.detail
    assert told(EVENT_FINDING, events) == [{"transformation_id": "t3"}]
    kept = Transformation.FromString(host.state(address.transformation("t3")) or b"")
    assert list(kept.findings) == [found]


def test_a_lot_of_unknown_origin_is_found_and_later_taken_by_its_maker(host: Host) -> None:
    ready(host)
    assert rules_found(make(host, "t1", [lot("milk", 30)], [lot("cheese")])) == [Rule.LOT_UNKNOWN]
    assert rules_found(make(host, "t2", [lot("milk", 30)], [lot("butter")])) == [Rule.LOT_UNKNOWN]
    assert state(host, "milk") == Lot(gtin=GTIN, lot="milk", unit="KGM", used=60, rules=USUAL)
    found = rules_found(make(host, "t3", [], [lot("milk", 50)], "seller"))
    assert found == [Rule.LOT_OVERDRAWN]
    assert state(host, "milk").party_id == "seller"
    assert refusal(host, [], [lot("milk")]) is Rule.LOT_TAKEN
    assert rules_found(make(host, "t4", [], [lot("milk", 10)], "seller")) == []


def test_a_lot_used_in_another_unit_is_found_and_not_counted(host: Host) -> None:
    ready(host)
    make(host, "t1", [], [lot("milk", 100)])
    events = make(host, "t2", [lot("milk", 5, "LTR")], [lot("cheese")])
    assert rules_found(events) == [Rule.UNIT_MISMATCH]
    assert state(host, "milk").used == 0


def test_nobody_spoils_a_lot_for_its_maker_by_using_it_first(host: Host) -> None:
    ready(host)
    make(host, "t1", [lot("milk", MOST, "LTR")], [lot("cheese")])
    assert rules_found(make(host, "t2", [], [lot("milk", 7)], "seller")) == [Rule.UNIT_MISMATCH]
    maker = Lot(gtin=GTIN, lot="milk", party_id="seller", unit="KGM", made=7, rules=USUAL)
    assert state(host, "milk") == maker


def test_quantities_never_overflow(host: Host) -> None:
    ready(host)
    for number in range(3):
        make(host, f"t{number}", [lot("milk", MOST)], [lot("cheese", MOST)])
    assert (state(host, "milk").used, state(host, "cheese").made) == (MOST, MOST)


def test_a_transformation_happens_once(host: Host) -> None:
    ready(host)
    make(host, "refused", [], [lot("milk")])
    assert refusal(host, [], [lot("milk")]) is Rule.TRANSFORMATION_EXISTS
    assert refusal(host, [], [lot("milk")], "seller") is Rule.TRANSFORMATION_EXISTS


def test_who_makes_lots_has_a_role_and_signs_itself(host: Host) -> None:
    ready(host)
    assert refusal(host, [], [lot("milk")], "carrier") is Rule.ROLE_MISSING
    assert refusal(host, [], [lot("milk")], "buyer") is Rule.ROLE_MISSING
    theirs = transformation("t1", [], [lot("milk")])
    assert refused(host, one(key("seller"), theirs)) is Rule.NOT_THE_PARTY
    nowhere = transformation("t1", [], [lot("milk")], site_id="nowhere")
    assert refused(host, one(key("dairy"), nowhere)) is Rule.UNKNOWN_SITE


NOT_WELL_FORMED: list[TransformLots] = [
    transformation("a b", [], [lot("milk")]),
    transformation("t", [lot("milk")], []),
    transformation("t", [], [lot(str(number)) for number in range(51)]),
    transformation("t", [lot(str(number)) for number in range(51)], [lot("milk")]),
    transformation("t", [lot("milk")], [lot("milk")]),
    transformation("t", [], [lot("milk"), lot("milk", 1, "LTR")]),
    transformation("t", [], [lot("milk", 0)]),
    transformation("t", [], [lot("milk", MOST + 1)]),
    transformation("t", [], [lot("milk", 1, "")]),
    transformation("t", [], [lot("milk", 1, "KILO")]),
    transformation("t", [], [lot("")]),
    transformation("t", [], [lot("x" * 21)]),
    transformation("t", [], [LotQuantity(gtin="1", lot="milk", quantity=1, unit="C62")]),
    TransformLots(
        transformation_id="t", party_id="dairy", outputs=[lot("milk")], at_ms=(1 << 64) - 1
    ),
]


@pytest.mark.parametrize("action", NOT_WELL_FORMED, ids=range(len(NOT_WELL_FORMED)))
def test_what_is_not_well_formed_is_refused(host: Host, action: TransformLots) -> None:
    ready(host)
    assert refused(host, one(key("dairy"), action)) is Rule.FORM
