"""Batches in any order, twice or with gaps: what is committed, and when the receipt comes."""

from itertools import pairwise

import pytest

from contracts.receipt import open_receipt
from gateway.offload.saga import SUBMIT_BATCHES_MAX
from support.evidence.chain import digest_of
from support.network.world import Trip, reading
from support.trucks.rogue import Rogue, Site, nonce, readings_on_ledger, until
from support.trucks.uploads import offer_of, send

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("alive")]


def test_duplicates_and_replays_are_committed_once(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(16))
    batches = trip.whole([reading(number) for number in range(12)], size=5)
    truck.send(*batches, *batches)
    truck.send(*reversed(batches))
    until("the commit", lambda: site.offload(trip.trip_id)["receipted"])
    answer = truck.send(*batches)
    assert set(answer.batch_ids) == {batch.header_signature for batch in batches}
    assert readings_on_ledger(site, trip.trip_id) == list(range(12))
    assert site.committed(trip.trip_id) == len(batches)


def test_a_device_that_asks_again_gets_its_receipt_again(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(17))
    batches = trip.whole([reading(0)])
    truck.send(*batches)
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
    bodies = set()
    for _ in range(2):
        truck.ask(*(batch.header_signature for batch in batches))
        receipt = truck.receipt()
        while open_receipt(receipt, [receipt.gateway_public_key]).trip_id != trip.trip_id:
            receipt = truck.receipt()
        bodies.add(receipt.body)
    assert len(bodies) == 1


def test_out_of_order_batches_wait_for_the_one_before(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(18))
    batches = trip.whole([reading(number) for number in range(7)], size=3)
    assert not truck.send(*batches[1:]).refused
    blocked = {
        after.header_signature: before.transactions[-1].header_signature
        for before, after in pairwise(batches)
    }
    until("all are shown blocked", lambda: site.offload(trip.trip_id)["blocked_by"] == blocked)
    assert readings_on_ledger(site, trip.trip_id) == []
    truck.send(batches[0])
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
    assert readings_on_ledger(site, trip.trip_id) == list(range(7))
    assert site.offload(trip.trip_id)["blocked_by"] == {}


def test_a_long_chain_that_arrives_backwards_is_committed(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(19))
    batches = trip.whole([reading(number) for number in range(70)], size=2)
    for batch in reversed(batches):
        assert not truck.send(batch).refused
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
    assert readings_on_ledger(site, trip.trip_id) == list(range(70))


def test_a_predecessor_that_never_comes_holds_up_no_other_trip(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(20))
    batches = trip.whole([reading(number) for number in range(50)], size=2)
    truck.send(*batches[1:])
    first = batches[1].header_signature
    until("the block", lambda: first in site.offload(trip.trip_id)["blocked_by"])
    assert truck.ask(first).batch_ids == [first]
    assert not site.offload(trip.trip_id)["receipted"]


def test_no_receipt_while_a_sealed_recording_is_missing(site: Site, truck: Rogue) -> None:
    content = b"a video that comes late" * 100
    trip = Trip(nonce=nonce(21))
    *batches, video = trip.whole([reading(0)], [digest_of(content)])
    truck.send(*batches)
    until("the readings", lambda: site.committed(trip.trip_id) == len(batches))
    truck.ask(recordings=[offer_of(trip, content, video)])
    found = site.offload(trip.trip_id)
    assert [item["digest"] for item in found["recordings"]] == ["held"]
    assert not found["receipted"]
    assert send(site.client("truck-1", "device"), content).status_code == 204
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])


def test_no_receipt_while_the_chain_is_incomplete(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(22))
    start, first, second = trip.sign(trip.start), trip.record(reading(0)), trip.record(reading(1))
    seal = trip.seal()
    batches = trip.batches([start, first, seal], 3)
    del second
    truck.send(*batches)
    until("the commit", lambda: site.committed(trip.trip_id) == 1)
    path = f"/v1/trips/{trip.trip_id}/findings"
    until("the index", lambda: site.operator.get(path).is_success)
    assert "seal-mismatch" in [finding["rule"] for finding in site.ask(path)["items"]]
    assert not site.offload(trip.trip_id)["receipted"]


def test_more_batches_before_their_predecessor_than_go_in_one_list(
    site: Site, truck: Rogue
) -> None:
    trip = Trip(nonce=nonce(1))
    batches = trip.whole([reading(number) for number in range(SUBMIT_BATCHES_MAX + 3)], size=1)
    for some in (batches[1:100], batches[100:], batches[:1]):
        assert not truck.send(*some).refused
    until("all batches committed", lambda: site.committed(trip.trip_id) == len(batches))
