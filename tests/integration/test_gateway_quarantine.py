"""What the gateway sets aside where its operator sees it, and how it is released."""

from pathlib import Path

import pytest

from contracts.actions.payload import FAMILY
from contracts.proto.payload_pb2 import RegisterDevice
from contracts.receipt import open_receipt
from contracts.rules.series import SERIES_RULES
from contracts.sawtooth.batches import Family, build_batch, build_transaction, parse_header
from contracts.wire import MESSAGE_BYTES_MAX, OFFER_BATCHES_MAX
from support.network.world import Trip, device, key, one, reading
from support.trucks.rogue import Rogue, Site, nonce, readings_on_ledger, rekeyed, until
from support.trucks.truck import Truck, write_log
from support.trucks.visits import meet

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("alive")]


def test_another_family_is_quarantined_where_all_can_see(site: Site, truck: Rogue) -> None:
    transaction = build_transaction(
        key("truck-1"),
        Family("intkey", "1.0"),
        b"payload",
        batcher_public_key=key("truck-1").public_key,
        inputs=[],
        outputs=[],
    )
    batch = build_batch(key("truck-1"), [transaction])
    (refusal,) = truck.send(batch).refused
    assert refusal.id == batch.header_signature
    assert f"expected a transaction of family {FAMILY.name}" in refusal.reason
    found = site.quarantined(batch.header_signature)
    assert found is not None
    assert found["reason"] == refusal.reason
    answer = site.operator.post(f"/v1/quarantine/{batch.header_signature}/release")
    assert answer.status_code == 422
    assert site.quarantined(batch.header_signature) is not None


def test_a_registration_over_mqtt_is_quarantined(site: Site, truck: Rogue) -> None:
    action = RegisterDevice(device_id="truck-9", party_id="carrier")
    batch = one(key("carrier"), action)
    assert "RegisterDevice" in truck.send(batch).refused[0].reason
    assert site.quarantined(batch.header_signature) is not None


@pytest.mark.parametrize(
    "dependency", ["x", "", "../blocks", "a\nb", "0" * 127, "0" * 129, "G" * 128, "A" * 128]
)
def test_a_dependency_that_names_no_transaction_stops_nothing(
    site: Site, truck: Rogue, dependency: str
) -> None:
    batch = Trip(nonce=nonce(10)).whole([reading(0)])[0]
    header = parse_header(batch.transactions[0])
    header.dependencies.append(dependency)
    poisoned = rekeyed(batch, header)
    assert truck.send(poisoned).refused[0].id == poisoned.header_signature
    assert site.quarantined(poisoned.header_signature) is not None


def test_an_unregistered_key_is_quarantined_and_released_once_registered(site: Site) -> None:
    trip = Trip(device_id="truck-5", nonce=nonce(13), signer=key("truck-5"))
    batches = trip.whole([reading(number) for number in range(5)], size=4)
    with site.device("truck-5") as newcomer:
        assert not newcomer.send(*batches).refused
        first = batches[0].header_signature
        until("the quarantine", lambda: site.quarantined(first) is not None)
        reason = (site.quarantined(first) or {})["reason"]
        assert f"key {key('truck-5').public_key} never was a key" in reason
        assert newcomer.ask(first).refused[0].reason == reason
        assert readings_on_ledger(site, trip.trip_id) == []
        site.commit([device("truck-5", "carrier")])
        answer = site.operator.post(f"/v1/quarantine/{first}/release")
        assert answer.status_code == 204, answer.text
        receipt = newcomer.receipt()
    body = open_receipt(receipt, [receipt.gateway_public_key])
    assert (body.trip_id, body.reading_count) == (trip.trip_id, 5)
    assert readings_on_ledger(site, trip.trip_id) == list(range(5))
    assert site.quarantined(first) is None


def test_trips_that_are_released_in_the_lists_order_leave_no_gap(
    site: Site, tmp_path: Path
) -> None:
    truck = Truck(tmp_path / "truck", device_id="truck-6")
    meet(truck, site)
    trips = [
        truck.must("record", "--readings", write_log(tmp_path / f"{rows}.csv", rows))["trip"]
        for rows in range(3, 9)
    ]
    code, _, err = truck.run("offload")
    assert code == 1
    assert "register this device (`wayseal-party register-device`)" in err
    site.commit([device("truck-6", "carrier")])
    listed = [each for each in site.listed("/v1/quarantine") if each["device_id"] == "truck-6"]
    assert [each["trip_id"] for each in listed] == trips
    for each in listed:
        answer = site.operator.post(f"/v1/quarantine/{each['batch_id']}/release")
        assert answer.status_code == 204, answer.text
    assert truck.must("offload")["receipted"] == trips
    until("the index", lambda: site.operator.get(f"/v1/trips/{trips[-1]}").is_success)
    found = [site.ask(f"/v1/trips/{trip}/findings")["items"] for trip in trips]
    assert [each for items in found for each in items if each["rule"] in SERIES_RULES] == []


def test_releasing_what_is_not_quarantined_is_404(site: Site) -> None:
    answer = site.operator.post(f"/v1/quarantine/{'0' * 128}/release")
    assert answer.status_code == 404


def test_an_unknown_trip_is_quarantined(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(14))
    batch = build_batch(key("truck-1"), [trip.record(reading(0))])
    truck.send(batch)
    until("the quarantine", lambda: site.quarantined(batch.header_signature) is not None)
    found = site.quarantined(batch.header_signature)
    assert found is not None
    assert found["reason"] == f"trip {trip.trip_id} does not exist"
    assert found["device_id"] == "truck-1"


def test_a_reading_outside_its_range_is_quarantined(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(15))
    record = trip.record(reading(0))
    del record
    bad = trip.records[-1]
    bad.clock.utc_ms = 1 << 60
    batch = build_batch(key("truck-1"), [trip.sign(trip.start), trip.sign(bad)])
    assert "utc_ms" in truck.send(batch).refused[0].reason
    assert site.quarantined(batch.header_signature) is not None


def test_answers_stay_small_when_all_that_was_asked_for_is_quarantined(
    site: Site, truck: Rogue
) -> None:
    """Last in this file: it fills the list of quarantined batches."""
    family = Family("intkey", "1.0")
    transactions = [
        build_transaction(
            key("truck-1"),
            family,
            str(number).encode(),
            batcher_public_key=key("truck-1").public_key,
            inputs=[],
            outputs=[],
        )
        for number in range(OFFER_BATCHES_MAX)
    ]
    batches = [build_batch(key("truck-1"), [transaction]) for transaction in transactions]
    for first in range(0, len(batches), 200):
        assert not truck.send(*batches[first : first + 200]).batch_ids
    names = [batch.header_signature for batch in batches]
    answer = truck.ask(*names)
    assert {refusal.id for refusal in answer.refused} == set(names)
    assert answer.ByteSize() <= MESSAGE_BYTES_MAX
    assert all(refusal.reason for refusal in answer.refused)
    listed = [each["batch_id"] for each in site.listed("/v1/quarantine")]
    assert [name for name in listed if name in set(names)] == names, "one page has 1000"
