"""Text is defined by code points, and takes in what any interpreter ever accepted."""

import sys

import pytest

from contracts import address
from contracts.proto.payload_pb2 import OpenDelivery, RegisterParty
from contracts.proto.state_pb2 import Delivery
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from contracts.text import WHITESPACE, escaped, in_quotes, is_gs1, is_text, is_unit, is_unit_1_0
from support.ledgers.hosts import Host, apply_all, refused
from support.network.world import TERMS, key, one, registrations

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]
LATER = "\U0001fae8"
"""Came with Unicode 15: printable under Python 3.12, not under 3.11."""


def test_text_takes_in_all_that_an_interpreter_prints() -> None:
    """So each transaction that a ledger ever accepted stays valid (ADR 0025)."""
    assert [ascii(sign) for sign in EVERY if sign.isprintable() and not is_text(sign)] == []
    assert [ascii(sign) for sign in EVERY if sign.isalnum() and not is_unit_1_0(sign)] == []


def test_whitespace_of_settings_is_what_it_always_was() -> None:
    assert {sign for sign in EVERY if sign.isspace()} == set(WHITESPACE)


def test_gs1_has_82_characters() -> None:
    assert sum(map(is_gs1, EVERY)) == 82


@pytest.mark.parametrize("kind", ["GDP", "it's", '"a"', """it's "a\"""", "a\\b", "K\u00e4se"])
def test_what_a_finding_quotes_is_what_it_always_was(kind: str) -> None:
    assert in_quotes(kind) == repr(kind)


@pytest.mark.parametrize("kind", [LATER, "\u0378", "\u0645\u06cc\u200c\u062e"])
def test_a_finding_quotes_text_whatever_the_interpreter_knows(host: Host, kind: str) -> None:
    """`repr` escapes what its tables of Unicode lack: two validators would part."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.required_certificates.add(holder_id="carrier", kind=kind)
    apply_all(host, [*registrations()[:-2], *(one(key(by), terms) for by in ("seller", "buyer"))])
    entry = Delivery.FromString(host.state(address.delivery(terms.delivery_id)) or b"")
    found = {each.rule: each.detail for each in entry.findings}
    assert found[Rule.CERTIFICATE_MISSING] == f"carrier holds no certificate '{kind}'"


@pytest.mark.parametrize("version", RulesVersion)
def test_a_name_is_valid_whatever_the_interpreter_knows(host: Host, version: RulesVersion) -> None:
    for number, name in enumerate((LATER, "\u0378", "\u0645\u06cc\u200c\u062e", "K\u00e4se")):
        host.apply(
            one(key("admin"), RegisterParty(party_id=f"p{number}", name=name), version=version)
        )


@pytest.mark.parametrize("version", RulesVersion)
@pytest.mark.parametrize(
    "sign",
    ["\0", "\x7f", "\x85", "\xa0", "\u200b", "\u2028", "\u202e", "\ue000", "\ufdd0", "\U0001fffe"],
)
def test_a_name_has_no_signs_that_hide(host: Host, version: RulesVersion, sign: str) -> None:
    batch = one(key("admin"), RegisterParty(party_id="p", name=f"A{sign}B"), version=version)
    assert refused(host, batch) is Rule.FORM


@pytest.mark.parametrize(
    ("lot", "unit"),
    [
        ("\u041b42", "C62"),  # a Cyrillic letter
        ("L42\uff0f", "C62"),
        ("L 42", "C62"),
        ("L42", "c62"),
        ("L42", "\uff2bGM"),
        ("L42", "\u00bd"),
    ],
)
def test_lots_and_units_of_1_1_have_no_look_alikes(host: Host, lot: str, unit: str) -> None:
    apply_all(host, registrations()[:-2])
    terms = _terms(lot, unit)
    assert refused(host, one(key("seller"), terms)) is Rule.FORM
    apply_all(host, [one(key("seller"), TERMS)])


@pytest.mark.parametrize(("lot", "unit"), [("\u041b42", "\uff2bGM"), ("L 42", "\u00bd")])
def test_lots_and_units_of_1_0_stay_valid(host: Host, lot: str, unit: str) -> None:
    version = RulesVersion.V1_0
    apply_all(host, registrations(version)[:-2])
    host.apply(one(key("seller"), _terms(lot, unit), version=version))


def test_codes_of_other_forms_are_refused() -> None:
    assert [code for code in ("C62", "4K", "K", "KGMX", "kg", "K G", "") if is_unit(code)] == [
        "C62",
        "4K",
    ]


def test_what_is_no_text_is_escaped() -> None:
    assert escaped(f"a\n\u202e{LATER}\\") == f"a\\n\\u202e{LATER}\\"


def _terms(lot: str, unit: str) -> OpenDelivery:
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.lots[0].lot, terms.unit = lot, unit
    return terms
