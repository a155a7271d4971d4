"""A recall shows also when it is of a lot from which the delivered one was made."""

from contracts.evidence.report import as_json
from contracts.evidence.words import as_text
from contracts.proto.payload_pb2 import SetLotStatus
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.clock import rfc3339
from support.evidence.chain import Evidence, evidence_of, trust_in
from support.evidence.forgery import verdict_on
from support.network.goods import made, newcomers
from support.network.world import GTIN, START_MS, Trip, key, one, reading, registrations


def recall(lot: str) -> Batch:
    said = SetLotStatus(
        party_id="customs",
        gtin=GTIN,
        lot=lot,
        status=SetLotStatus.RECALLED,
        reason="salmonella",
        at_ms=START_MS,
    )
    return one(key("customs"), said)


def evidence() -> Evidence:
    """Return evidence of a trip with lot L42, made from M1, made from S1, and M2, which is not."""
    trip = Trip()
    mixed = [
        made("grow", "kitchen", [], ["S1"]),
        made("press", "kitchen", ["S1"], ["M1"]),
        made("other", "kitchen", [], ["M2"]),
        made("mix", "seller", ["M1"], ["L42"]),
    ]
    driven = trip.whole([reading(0), reading(1)])
    recalled = [recall("S1"), recall("M2")]
    return evidence_of([registrations(), newcomers(), mixed, driven, recalled], [trip.trip_id])


def test_a_recalled_source_is_told() -> None:
    told = evidence()
    verdict = verdict_on(told.wire(), trust_in(told.heads))
    assert verdict.holds, verdict.problems
    line = f"  source lot {GTIN}:S1 recalled by customs at {rfc3339(START_MS)}: salmonella\n"
    assert line in as_text(verdict)
    (trip,) = as_json(verdict)["trips"]
    assert trip["lot_statuses"] == []
    assert trip["source_lot_statuses"] == [
        {
            "gtin": GTIN,
            "lot": "S1",
            "status": "recalled",
            "party_id": "customs",
            "reason": "salmonella",
            "at": rfc3339(START_MS),
        }
    ]


def test_the_recall_of_a_source_cannot_be_left_out() -> None:
    told = evidence()
    del told.batches[-2]
    told.prove()
    assert not verdict_on(told.wire(), trust_in(told.heads)).holds


def test_a_file_without_lots_says_that_it_tells_no_sources() -> None:
    told = evidence()
    told.header.without_lots = True
    verdict = verdict_on(told.wire(), trust_in(told.heads))
    assert verdict.holds, verdict.problems
    assert "source lot " not in as_text(verdict)
    assert "whether a source was recalled" in as_json(verdict)["not_shown"][0]
