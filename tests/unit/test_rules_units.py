"""Logistic units: what lies on which pallet, and what is odd about it."""

from collections import Counter
from itertools import pairwise

import pytest

from contracts import address
from contracts.proto.state_pb2 import LogisticUnit
from contracts.rules import units
from contracts.rules.case import EVENT_UNIT, Case
from contracts.rules.ids import Rule
from contracts.rules.units import DEPTH_MAX
from support.ledgers.hosts import DirectHost, Host, findings, refused, rules_found, told
from support.network.dairy import (
    UNITS,
    pack,
    ready,
    sscc,
)
from support.network.world import key, one


def unit(host: Host, sscc: str) -> LogisticUnit:
    return LogisticUnit.FromString(host.state(address.unit(sscc)) or b"")


def test_cases_go_onto_a_pallet_and_come_off_it(host: Host) -> None:
    ready(host)
    pallet, first, second = UNITS[:3]
    for case in (first, second):
        assert rules_found(host.apply(one(key("dairy"), pack(case, lots=2)))) == []
    events = host.apply(one(key("dairy"), pack(pallet, first, second)))
    assert told(EVENT_UNIT, events) == [{"sscc": pallet, "party_id": "dairy"}]
    assert unit(host, first).held_by == pallet
    host.apply(one(key("dairy"), pack(pallet, second)))
    assert (unit(host, first).held_by, unit(host, second).held_by) == ("", pallet)
    host.apply(one(key("dairy"), pack(pallet)))
    assert unit(host, second).held_by == ""
    assert list(unit(host, pallet).packed.units) == []


def test_a_unit_that_nobody_packed_or_that_is_elsewhere_is_found(host: Host) -> None:
    ready(host)
    pallet, other, case = UNITS[:3]
    (found,) = findings(host.apply(one(key("dairy"), pack(pallet, case))))
    assert (found.rule, found.sscc) == (Rule.UNIT_UNKNOWN, pallet)
    host.apply(one(key("dairy"), pack(case, lots=1)))
    assert rules_found(host.apply(one(key("dairy"), pack(other, case)))) == [Rule.UNIT_ELSEWHERE]
    assert [each.rule for each in unit(host, other).findings] == [Rule.UNIT_ELSEWHERE]
    host.apply(one(key("dairy"), pack(pallet)))  # it no longer held the case
    assert unit(host, case).held_by == other


def test_who_repacks_anothers_unit_is_named(host: Host) -> None:
    ready(host)
    host.apply(one(key("dairy"), pack(UNITS[0], lots=1)))
    again = pack(UNITS[0], lots=2, by="carrier")
    (found,) = findings(host.apply(one(key("carrier"), again)))
    assert (found.rule, found.detail) == (
        Rule.UNIT_REPACKED,
        f"unit {UNITS[0]} was packed by dairy",
    )


def test_no_unit_holds_itself(host: Host) -> None:
    ready(host)
    outer, middle, inner = UNITS[:3]
    host.apply(one(key("dairy"), pack(middle, inner)))
    host.apply(one(key("dairy"), pack(outer, middle)))
    for holder, held in ((outer, outer), (inner, outer), (middle, outer), (inner, middle)):
        assert refused(host, one(key("dairy"), pack(holder, held))) is Rule.UNIT_IN_ITSELF


def test_units_are_nested_so_deep_and_no_deeper(host: Host) -> None:
    ready(host)
    for outer, inner in zip(UNITS[1:DEPTH_MAX], UNITS, strict=False):
        host.apply(one(key("dairy"), pack(outer, inner)))
    deeper = pack(UNITS[DEPTH_MAX], UNITS[DEPTH_MAX - 1])
    assert refused(host, one(key("dairy"), deeper)) is Rule.FORM
    assert refused(host, one(key("dairy"), pack(UNITS[0], UNITS[DEPTH_MAX]))) is Rule.FORM


def test_units_that_were_packed_again_and_again_do_not_hold_up_the_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each layer was packed into every unit of the next one: 8^6 ways, and 48 units."""
    host, loaded, load = DirectHost(), Counter[str](), Case.load

    def counted(case: Case, place: str, kind: type[LogisticUnit]) -> LogisticUnit | None:
        loaded.update([place[:8]])
        return load(case, place, kind)

    monkeypatch.setattr(Case, "load", counted)
    ready(host)
    layers = [[sscc(10 * layer + at) for at in range(8)] for layer in range(6)]
    for inner, outer in pairwise(layers):
        for each in outer:
            host.apply(one(key("dairy"), pack(each, *inner)))
    loaded.clear()
    host.apply(one(key("dairy"), pack(sscc(100), *layers[-1])))
    assert loaded[address.UNIT_PREFIX] < 500


def test_one_unit_holds_a_bounded_number_of_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "WITHIN_MAX", 4)
    host = DirectHost()
    ready(host)
    first, second, third, fourth, *_ = UNITS
    host.apply(one(key("dairy"), pack(first, second, third)))
    assert refused(host, one(key("dairy"), pack(fourth, first, sscc(1), sscc(2)))) is Rule.FORM
    host.apply(one(key("dairy"), pack(fourth, first, sscc(1))))


def test_the_form_of_a_unit(host: Host) -> None:
    ready(host)
    for odd in (
        pack(UNITS[0][:-1]),
        pack(UNITS[0][:-1] + str((int(UNITS[0][-1]) + 1) % 10)),
        pack(UNITS[0], UNITS[1], UNITS[1]),
        pack(UNITS[0], "x"),
        pack(UNITS[0], lots=101),
    ):
        assert refused(host, one(key("dairy"), odd)) is Rule.FORM
    assert refused(host, one(key("agency"), pack(UNITS[0], by="agency"))) is Rule.ROLE_MISSING
