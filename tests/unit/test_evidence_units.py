"""Anyone may pack any logistic unit, so evidence needs no word about units but the ledger's."""

from collections.abc import Sequence

from contracts.evidence.report import as_json
from contracts.evidence.verify import Verdict
from contracts.proto.payload_pb2 import OpenDelivery, PackUnit
from contracts.proto.sawtooth_pb2 import Batch
from contracts.rules.ids import Rule
from support.evidence.chain import Evidence, evidence_of, trust_in
from support.evidence.forgery import verdict_on
from support.evidence.rich import second_carrier
from support.network.goods import newcomers
from support.network.world import START_MS, TERMS, Trip, key, one, reading, registrations

OURS, OTHERS, OUTER = "340123450000000000", "340123450000000017", "340123450000000024"


def packed(by: str, sscc: str, *units: str) -> Batch:
    action = PackUnit(party_id=by, sscc=sscc, site_id="site-hub", units=list(units), at_ms=START_MS)
    return one(key(by), action)


def evidence(before: Sequence[Batch], after: Sequence[Batch] = ()) -> Evidence:
    """Return evidence of a trip with a unit, without what was said of units before and after."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id = "delivery-3"
    terms.units.append(OURS)
    trip = Trip(deliveries=["delivery-3"])
    signed = [one(key(side), terms) for side in ("seller", "buyer")]
    told = evidence_of(
        [
            [*registrations(), *newcomers(), *second_carrier(), *before],
            [*signed, *trip.whole([reading(0), reading(1)]), *after],
        ],
        [trip.trip_id],
    )
    said = {batch.header_signature for batch in (*before, *after)}
    told.batches = [batch for batch in told.batches if batch.header_signature not in said]
    told.prove()
    return told


def verdict(told: Evidence) -> Verdict:
    found = verdict_on(told.wire(), trust_in(told.heads))
    assert found.problems == []
    return found


def rules(told: Evidence) -> list[str]:
    (delivery,) = as_json(verdict(told))["trips"][0]["deliveries"]
    return [each["rule"] for each in delivery["findings"]]


def test_the_ledger_says_whether_somebody_packed_a_unit() -> None:
    assert rules(evidence([])) == [Rule.UNIT_UNKNOWN]
    assert rules(evidence([packed("carrier", OURS)])) == []


def test_what_strangers_pack_does_not_belong_to_the_story() -> None:
    nested = [
        packed("carrier", OURS),
        packed("carrier-2", OTHERS, OURS),
        packed("carrier-2", OUTER, OTHERS),
    ]
    assert rules(evidence(nested[:1], nested[1:])) == []


def test_words_about_units_that_came_along_need_no_history() -> None:
    """Without what came between them, the last one would put a unit into itself."""
    before = [packed("carrier", OURS, OTHERS), packed("carrier", OURS), packed("carrier", OTHERS)]
    told = evidence([*before, packed("carrier", OTHERS, OURS)])
    whole = [before[0], packed("carrier", OTHERS, OURS)]
    at = len([*registrations(), *newcomers(), *second_carrier()])
    told.batches[at:at] = whole
    told.prove()
    assert rules(told) == []


def test_the_ledgers_word_must_be_proved() -> None:
    told = evidence([packed("carrier", OURS)])
    kept = [node for node in told.nodes if b"delivery-3" not in node.value]
    assert len(kept) < len(told.nodes)
    told.nodes = kept
    found = verdict_on(told.wire(), trust_in(told.heads))
    assert "the ledger has another entry" in "\n".join(found.problems)
