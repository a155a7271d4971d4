"""The certificate of a lot: what it says first, and that no name or number of things breaks it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest

from contracts.proto.payload_pb2 import LotQuantity, SetLotStatus
from contracts.proto.state_pb2 import Finding, Lot, Transformation
from gateway.exports.certificate.facts import SHOWN_MAX
from gateway.exports.certificate.identity import Identity, own
from gateway.exports.certificate.lotdocument import LotJudgement, lot_certificate
from gateway.exports.certificate.lotfacts import LotFacts
from gateway.records.entries import TransformationRecord
from gateway.records.lots import ReachedLot, TraceRecord
from gateway.records.tracing import LotId
from gateway.records.verification import Outcome
from support.project.certificates import START_MS, breach, check_laid_out, der
from support.project.pdfs import qr_of, signed_by, text_of

GTIN: Final = "00012345678905"
LOT: Final = LotId(GTIN, "L42")
HOSTILE: Final = ("<b>&amp;</b>", "L" * 128, "a\u202eb", ") Tj ET Q q BT (", "漢字", "%%EOF")
JUDGED: Final = LotJudgement(
    Outcome.HOLDS,
    [],
    [],
    {"5f" * 16: "holds"},
    "site-b",
    datetime(2026, 11, 26, 12, 0, tzinfo=UTC),
    f"https://gateway.example/lot?gtin={GTIN}&lot=L42",
)
NOTHING: Final = TraceRecord(
    (ReachedLot(LOT, 0, None, ()),), (), (), (), deliveries_cut=False, trips_cut=False
)
FACTS: Final = LotFacts(LOT, None, NOTHING, NOTHING, (), (), (), 0, (), (), narrowed=False)


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    return own(tmp_path_factory.mktemp("identity") / "documents.pem", "site-b")


def test_a_lot_of_which_nobody_said_anything_says_so(identity: Identity) -> None:
    content = lot_certificate(FACTS, JUDGED, identity)
    said = text_of(content)
    for words in (
        "Genuine and complete",
        "nobody is on record as its maker",
        "no party said anything about it",
        "made from no other lot on record",
        "Nothing was made from it",
        "No handover",
        "nothing measured",
        "None is on record",
        "no trip on record",
        "the gateway's word and no proof",
    ):
        assert words in said
    check_laid_out(content)
    found = signed_by(content, der(identity))
    assert (found.intact, found.whole, found.trusted) == (True, True, True)
    assert qr_of(content) == JUDGED.address


def test_what_does_not_hold_is_the_first_thing_said(identity: Identity) -> None:
    failing = replace(JUDGED, outcome=Outcome.FAILS, problems=["trip 5f: block 3 is another"])
    said = text_of(lot_certificate(FACTS, failing, identity))
    assert "The record does not hold" in said
    assert "trip 5f: block 3 is another" in said
    cut = replace(JUDGED, outcome=Outcome.INCOMPLETE, left_out=["3 trips: at most 20"], trips={})
    said = text_of(lot_certificate(FACTS, cut, identity))
    assert "Not everything was looked at" in said
    assert "3 trips: at most 20" in said
    assert "Genuine" not in said


def test_a_reader_with_grants_is_not_told_that_there_is_no_more(identity: Identity) -> None:
    said = text_of(lot_certificate(replace(FACTS, narrowed=True), JUDGED, identity))
    assert "The record of the trips that this reader may see was not changed" in said
    assert "there may be more lots, deliveries, trips and findings" in said
    assert "made from no other lot on record that this reader may see" in said
    assert "Nothing was made from it on record that this reader may see" in said
    assert "all its trips" not in said


def test_deliveries_beyond_the_list_make_no_lot_well(identity: Identity) -> None:
    said = text_of(lot_certificate(replace(FACTS, cut=("deliveries",)), JUDGED, identity))
    assert "Not everything was looked at" in said
    assert f"deliveries beyond the first {SHOWN_MAX}, and what happened to them" in said
    assert "Genuine" not in said


def test_a_lot_that_is_withheld_is_not_well(identity: Identity) -> None:
    entry = Lot(gtin=GTIN, lot="L42", party_id="dairy", unit="C62", made=100)
    entry.status.status, entry.status.party_id = SetLotStatus.RECALLED, "authority"
    entry.status.reason, entry.status.at_ms = "listeria", START_MS
    found = replace(FACTS, entry=entry, breaches=(breach(41),), tampers=2)
    said = text_of(lot_certificate(found, JUDGED, identity))
    first = "with a lot that is withheld, 1 excursion and 2 tamper events"
    assert f"Genuine and complete, {first}" in said
    assert "recalled by authority" in said
    assert "listeria" in said
    assert "What it records is not good" in said


def test_hostile_names_and_many_things_stay_on_the_page(identity: Identity) -> None:
    many = SHOWN_MAX + 7
    lots = [ReachedLot(LotId(GTIN, each), 1, None, (each,)) for each in HOSTILE]
    lots += [ReachedLot(LotId(GTIN, f"S{at}"), 2, None, ()) for at in range(many)]
    made = Transformation()
    made.terms.party_id, made.terms.site_id, made.terms.at_ms = HOSTILE[1], "s", START_MS
    made.terms.inputs.extend(
        LotQuantity(gtin=GTIN, lot=each, quantity=1, unit="C62") for each in HOSTILE
    )
    side = replace(
        NOTHING,
        lots=(NOTHING.lots[0], *lots),
        transformations=(TransformationRecord(made, "aa"),),
        cut_at=(LOT,),
    )
    found = replace(
        FACTS,
        lot=LotId(GTIN, HOSTILE[1]),
        backward=side,
        findings=tuple(Finding(rule="lot-unknown", detail=each) for each in HOSTILE),
        cut=("findings", "handovers", "excursions", "deliveries"),
    )
    content = lot_certificate(found, JUDGED, identity)
    check_laid_out(content)
    said = text_of(content)
    assert "S90" in said
    assert f"S{many - 1}" not in said
    assert "There is more" in said
    assert "[U+202E]" in said
    assert "and 1 more" in said
    for kind in found.cut:
        assert f"There are more {kind}" in said
