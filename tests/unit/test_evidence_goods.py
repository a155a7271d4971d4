"""The verdict on a delivery's goods: what is odd about them, and which certificates were held."""

from contracts.evidence.report import as_json
from contracts.evidence.verify import Verdict
from contracts.evidence.words import as_text
from contracts.proto.payload_pb2 import (
    AUTHORITY,
    CertifyParty,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.clock import rfc3339
from contracts.records.reading import Tamper
from gateway.api.models import TamperEvent
from gateway.api.verdicts import Verdict as Shown
from support.evidence.chain import evidence_of, trust_in
from support.evidence.forgery import verdict_on
from support.network.goods import SSCC, goods
from support.network.world import GTIN, START_MS, Trip, key, one, party, reading, registrations

DAY_MS = 86_400_000


def certified() -> list[Batch]:
    certificate = CertifyParty(
        party_id="agency",
        holder_id="carrier",
        kind="GDP",
        valid_from_ms=START_MS - DAY_MS,
        valid_until_ms=START_MS - 1000,
        at_ms=START_MS - DAY_MS,
    )
    return [party("agency", AUTHORITY), one(key("agency"), certificate)]


def verdict(*sides: str) -> Verdict:
    """Return the verdict on a trip with the delivery, signed by these sides; it must hold."""
    signed = [one(key(side), goods("delivery-2", "L42", 50)) for side in sides]
    trip = Trip(deliveries=["delivery-2"])
    groups = [registrations(), certified(), signed, trip.whole([reading(0), reading(1)])]
    evidence = evidence_of(groups, [trip.trip_id])
    found = verdict_on(evidence.wire(), trust_in(evidence.heads))
    assert found.problems == []
    return found


def test_a_tamper_event_has_the_words_and_the_times_that_rest_gives() -> None:
    trip = Trip()
    tampered = [reading(0), reading(1, tamper=Tamper.DOOR_OPEN | Tamper.MOTION)]
    evidence = evidence_of([registrations(), trip.whole(tampered)], [trip.trip_id])
    verdict = verdict_on(evidence.wire(), trust_in(evidence.heads))
    told = as_json(verdict)
    assert "\n  tamper: door-open, motion at " in as_text(verdict)
    (shown,) = told["trips"][0]["tampers"]
    assert shown["signs"] == ["door-open", "motion"]
    assert shown["time"] == rfc3339(reading(1).clock.utc_ms)
    assert shown.keys() == TamperEvent.model_fields.keys()
    assert Shown.model_validate(told).model_dump(mode="json", exclude_unset=True) == told


def test_the_verdict_names_what_is_odd_about_the_goods() -> None:
    told = verdict("seller", "buyer")
    text = as_text(told)
    found = "  finding on delivery delivery-2: "
    requires = "  delivery delivery-2 requires that "
    times = f"{rfc3339(START_MS - DAY_MS)} to {rfc3339(START_MS - 1000)}"
    for line in (
        "0 silences, 0 tamper events, 3 findings\n",
        f"{found}lot-unknown: nobody is on record as the maker of lot {GTIN}:ghost\n",
        f"{found}unit-unknown: nobody is on record as the packer of unit {SSCC}\n",
        f"{found}certificate-missing: seller holds no certificate 'GDP'\n",
        f"{requires}carrier holds GDP: by agency, {times}; not valid when the trip started\n",
        f"{requires}seller holds GDP: nobody gave it\n",
        "  finding: certificate-expired, 1 time\n",
    ):
        assert line in text
    (delivery,) = as_json(told)["trips"][0]["deliveries"]
    rules = [each["rule"] for each in delivery["findings"]]
    assert rules == ["lot-unknown", "unit-unknown", "certificate-missing"]
    item = {"gtin": GTIN, "lot": "L42", "product": "milk", "quantity": 50, "unit": "C62"}
    assert delivery["items"] == [item, item | {"lot": "ghost"}]
    assert delivery["units"] == [SSCC]
    carrier, seller = delivery["required_certificates"]
    assert seller == {"holder_id": "seller", "kind": "GDP", "held": [], "valid_at_start": False}
    (held,) = carrier["held"]
    assert (held["authority_id"], held["valid_until"]) == ("agency", rfc3339(START_MS - 1000))


def test_nothing_is_said_of_goods_that_one_side_alone_has_signed() -> None:
    told = verdict("seller")
    text = as_text(told)
    assert "requires that seller holds GDP: one side has not signed\n" in text
    assert "finding on delivery" not in text
    assert "tamper events, 0 findings" not in text  # nobody has looked yet
    (delivery,) = as_json(told)["trips"][0]["deliveries"]
    assert [each["held"] for each in delivery["required_certificates"]] == [None, None]
    assert [each["valid_at_start"] for each in delivery["required_certificates"]] == [None, None]


def test_an_expired_certificate_is_told_also_when_the_truck_left_before_both_had_signed() -> None:
    trip = Trip(deliveries=["delivery-2"])
    driven = trip.whole([reading(0), reading(1)])
    seller, buyer = (one(key(side), goods("delivery-2", "L42", 50)) for side in ("seller", "buyer"))
    evidence = evidence_of(
        [registrations(), certified(), [seller], driven, [buyer]], [trip.trip_id]
    )
    told = verdict_on(evidence.wire(), trust_in(evidence.heads))
    assert told.problems == []
    assert "certificate-expired" not in as_text(told)
    assert "; not valid when the trip started\n" in as_text(told)
    (delivery,) = as_json(told)["trips"][0]["deliveries"]
    assert delivery["required_certificates"][0]["valid_at_start"] is False
