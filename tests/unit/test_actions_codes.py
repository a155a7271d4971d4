"""Lots and units are codes, letter by letter, under version 1.1; version 1.0 takes what it took."""

import pytest

from contracts.actions.payload import check_form
from contracts.actions.table import Action
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Lot, LotQuantity, OpenDelivery, TransformLots
from contracts.rec20 import UNIT_CODES
from contracts.rules.version import RulesVersion
from support.network.world import GTIN, START_MS, TERMS


def delivery(lot: str = "L42", unit: str = "C62") -> OpenDelivery:
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.unit = unit
    del terms.lots[:]
    terms.lots.append(Lot(gtin=GTIN, lot=lot))
    return terms


def transformation(lot: str = "L42", unit: str = "C62") -> TransformLots:
    made = LotQuantity(gtin=GTIN, lot=lot, quantity=1, unit=unit)
    return TransformLots(
        transformation_id="t",
        party_id="seller",
        site_id="site-seller",
        inputs=[made],
        outputs=[LotQuantity(gtin=GTIN, lot="other", quantity=1, unit="KGM")],
        at_ms=START_MS,
    )


LOOK_ALIKES = [
    "L4\u0662",  # another script's digit
    "\u041b42",  # a Cyrillic letter
    "L 42",
    "L42#",
    "L42\u0301",
]


@pytest.mark.parametrize("action", [delivery, transformation])
@pytest.mark.parametrize("lot", LOOK_ALIKES)
def test_a_lot_that_looks_like_another_one_is_refused(action: type, lot: str) -> None:
    with pytest.raises(RejectedError, match="only characters of GS1's set of 82"):
        check_form(action(lot=lot), RulesVersion.V1_1)


@pytest.mark.parametrize("action", [delivery, transformation])
@pytest.mark.parametrize("unit", ["c62", "KG", "\u0421\u0417", "1", "XPK"])
def test_a_unit_that_no_list_has_is_refused(action: type, unit: str) -> None:
    with pytest.raises(RejectedError, match="common code of UN/ECE Recommendation 20"):
        check_form(action(unit=unit), RulesVersion.V1_1)


@pytest.mark.parametrize("action", [delivery(), transformation(), delivery("aZ09/(1)_?", "KGM")])
def test_codes_are_taken(action: Action) -> None:
    check_form(action, RulesVersion.V1_1)


@pytest.mark.parametrize("action", [delivery("L 42", "KG"), transformation("\u041b42", "KG")])
def test_version_1_0_takes_what_it_took(action: Action) -> None:
    check_form(action, RulesVersion.V1_0)


def test_the_list_is_whole() -> None:
    assert len(UNIT_CODES) == 1756
    assert {"KGM", "LTR", "MTQ", "H87", "C62", "CEL", "PAL", "A97"} <= UNIT_CODES
    assert all(code.isascii() and code.isalnum() and len(code) <= 3 for code in UNIT_CODES)
