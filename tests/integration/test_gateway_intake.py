"""What trucks may say over MQTT, and what they may not: a real gateway, node and broker."""

import secrets
from collections.abc import Iterator
from itertools import pairwise

import pytest

from contracts.encoding import canonical
from contracts.payload import FAMILY
from contracts.proto.payload_pb2 import RegisterDevice
from contracts.proto.sawtooth_pb2 import Batch, TransactionHeader
from contracts.proto.wire_pb2 import Held, Offer, RecordingOffer
from contracts.receipt import open_receipt
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.transactions import Family, build_transaction, parse_header
from contracts.wire import (
    MESSAGE_BYTES_MAX,
    OFFER_BATCHES_MAX,
    OFFER_RECORDINGS_MAX,
    Topic,
    topic,
)
from support.chain import digest_of
from support.ledgerwalk import committed
from support.rogue import Rogue, Site, nonce, records, until, wire_of
from support.uploads import offer_of, send
from support.world import Trip, key, one, reading

pytestmark = pytest.mark.integration

FLIPS = 60
GARBAGE = [b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"not protobuf at all", b"\x0a\x05abc"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("intake"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def truck(site: Site) -> Iterator[Rogue]:
    with site.device() as made:
        yield made


@pytest.fixture(autouse=True)
def alive(site: Site, truck: Rogue) -> Iterator[None]:
    """After every test, whatever came in, an honest trip is still taken and receipted."""
    yield
    trip = Trip(nonce=secrets.token_bytes(16))
    batches = trip.whole([reading(number) for number in range(3)])
    assert not truck.send(*batches).refused
    until("the honest trip's receipt", lambda: site.offload(trip.trip_id).get("receipted", False))


def readings_on_ledger(site: Site, trip_id: str) -> list[int]:
    """Return the sequences of a trip's committed readings; each must be there once."""
    found, _ = committed(site.appliance.ledger)
    mine = {number: count for (trip, number), count in found.items() if trip == trip_id}
    assert set(mine.values()) <= {1}
    return sorted(mine)


@pytest.mark.parametrize("kind", [Topic.RECORDS, Topic.OFFERS])
@pytest.mark.parametrize("wire", GARBAGE)
def test_garbage_is_refused_with_its_size(truck: Rogue, kind: Topic, wire: bytes) -> None:
    (refusal,) = truck.say(kind, wire).refused
    assert f"{len(wire)} bytes that are no" in refusal.reason
    assert not refusal.retry


@pytest.mark.parametrize("kind", [Topic.RECORDS, Topic.OFFERS])
def test_an_oversized_message_is_refused_with_both_sizes(truck: Rogue, kind: Topic) -> None:
    (refusal,) = truck.say(kind, bytes(MESSAGE_BYTES_MAX + 1)).refused
    assert str(MESSAGE_BYTES_MAX) in refusal.reason
    assert str(MESSAGE_BYTES_MAX + 1) in refusal.reason


def test_an_empty_message_holds_nothing(truck: Rogue) -> None:
    answer = truck.say(Topic.RECORDS, b"")
    assert not answer.batch_ids
    assert not answer.refused


def test_a_truncated_message_holds_only_what_is_whole(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(1))
    wire = records(map(wire_of, trip.whole([reading(number) for number in range(4)], size=3)))
    for end in range(1, len(wire), len(wire) // 25):
        answer = truck.say(Topic.RECORDS, wire[:end])
        assert answer.refused, end
        assert all(refusal.reason for refusal in answer.refused)
    assert readings_on_ledger(site, trip.trip_id) == []


def test_a_flipped_byte_never_reaches_a_block(site: Site, truck: Rogue) -> None:
    trip = Trip(nonce=nonce(2))
    batch = trip.whole([reading(number) for number in range(4)])[0]
    wire = records([wire_of(batch)])
    for at in range(0, len(wire), len(wire) // FLIPS):
        damaged = wire[:at] + bytes([wire[at] ^ 1]) + wire[at + 1 :]
        answer = truck.say(Topic.RECORDS, damaged)
        assert answer.refused, at
        assert batch.header_signature not in answer.batch_ids
    assert readings_on_ledger(site, trip.trip_id) == []
    assert site.offload(trip.trip_id) == {}


def test_a_forged_signature_is_refused_and_not_kept(site: Site, truck: Rogue) -> None:
    honest = Trip(nonce=nonce(3)).whole([reading(0)])[0]
    stranger = Trip(nonce=nonce(3), signer=key("stranger")).whole([reading(0)])[0]
    forged = Batch.FromString(wire_of(stranger))
    forged.header_signature = honest.header_signature
    (refusal,) = truck.send(forged).refused
    assert "signature does not match" in refusal.reason
    assert site.quarantined(honest.header_signature) is None


def test_an_altered_reading_under_the_old_signature_is_refused(truck: Rogue) -> None:
    batch = Trip(nonce=nonce(4)).whole([reading(0, 9000)])[0]
    other = Trip(nonce=nonce(4)).whole([reading(0, 4000)])[0]
    batch.transactions[1].payload = other.transactions[1].payload
    (refusal,) = truck.send(batch).refused
    assert "payload SHA-512" in refusal.reason


@pytest.mark.parametrize("kind", [Topic.RECORDS, Topic.OFFERS])
def test_a_bomb_of_tiny_parts_gets_one_short_answer(truck: Rogue, kind: Topic) -> None:
    answer = truck.say(kind, b"\x0a\x00" * (MESSAGE_BYTES_MAX // 2 - 1) + b"\x12\x00")
    assert answer.ByteSize() < MESSAGE_BYTES_MAX
    assert len(answer.refused) < 2000
    assert answer.refused[0].reason


def test_too_many_ids_or_recordings_in_an_offer_are_refused(truck: Rogue) -> None:
    ids = Offer(session=b"s", batch_ids=["0"] * (OFFER_BATCHES_MAX + 1))
    (refusal,) = truck.say(Topic.OFFERS, ids.SerializeToString()).refused
    assert str(OFFER_BATCHES_MAX) in refusal.reason
    recordings = Offer(session=b"s", recordings=[RecordingOffer()] * (OFFER_RECORDINGS_MAX + 1))
    (refusal,) = truck.say(Topic.OFFERS, recordings.SerializeToString()).refused
    assert str(OFFER_RECORDINGS_MAX) in refusal.reason


def test_an_offer_without_session_is_not_told_that_all_is_held(truck: Rogue) -> None:
    answer = truck.say(Topic.OFFERS, Offer(batch_ids=["0" * 128]).SerializeToString())
    assert not answer.batch_ids
    assert "session" in answer.refused[0].reason


def test_an_unknown_batch_is_not_held(truck: Rogue) -> None:
    answer = truck.ask("0" * 128, "", "'; DROP TABLE batches; --", "é" * 200)
    assert not answer.batch_ids


def test_a_topic_that_is_none_of_ours_goes_nowhere(truck: Rogue) -> None:
    batch = Trip(nonce=nonce(5)).whole([reading(0)])[0]
    for name in ("wayseal/v1/truck-1", "wayseal/v2/truck-1/records", "wayseal/v1/truck-1/record"):
        truck.publish(name, records([wire_of(batch)]))
    assert not truck.ask(batch.header_signature).batch_ids


def test_a_device_cannot_publish_as_another(site: Site, truck: Rogue) -> None:
    batch = Trip(nonce=nonce(6)).whole([reading(0)])[0]
    with site.device("truck-2") as other:
        other.publish(Topic.RECORDS, records([wire_of(batch)]), device_id="truck-1")
        other.publish(topic("truck-1", Topic.HELD), Held(batch_ids=["lie"]).SerializeToString())
        assert not other.ask(batch.header_signature).batch_ids
    assert not truck.ask(batch.header_signature).batch_ids
    assert truck.heard.empty()


def test_batches_of_another_device_are_refused_naming_both(site: Site, truck: Rogue) -> None:
    batch = Trip(nonce=nonce(7)).whole([reading(0)])[0]
    with site.device("truck-2") as other:
        (refusal,) = other.send(batch).refused
    assert "truck-1" in refusal.reason
    assert "truck-2" in refusal.reason
    assert not truck.ask(batch.header_signature).batch_ids


def test_a_stranger_cannot_take_a_recordings_place(site: Site, truck: Rogue) -> None:
    """A digest that a stranger signed in the truck's name must not shut out the truck's own."""
    content = b"the truck's own video" * 100
    made = digest_of(content)
    trip = Trip(nonce=nonce(8))
    *batches, video = trip.whole([reading(0)], [made])
    seal_id = batches[-1].transactions[-1].header_signature
    forger = Trip(nonce=nonce(8), signer=key("stranger"))
    forged = forger.video(made, seal_id)
    with site.device("truck-2") as other:
        answer = other.ask(recordings=[offer_of(trip, content, forged)])
        assert not answer.batch_ids
    truck.send(*batches)
    assert truck.ask(recordings=[offer_of(trip, content, video)]).batch_ids
    assert send(site.client("truck-1", "device"), content).status_code == 204
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])


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
    assert f"expected {FAMILY.name}" in refusal.reason
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


def rekeyed(batch: Batch, change: TransactionHeader, tail: bytes = b"") -> Batch:
    """Return a batch of one transaction whose header is `change` and `tail`, properly signed."""
    signer = key("truck-1")
    made = Batch.FromString(wire_of(batch)).transactions[0]
    made.header = canonical(change) + tail
    made.header_signature = signer.sign(made.header)
    return build_batch(signer, [made])


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


def test_a_header_with_unknown_fields_is_quarantined(site: Site, truck: Rogue) -> None:
    """The ledger's JSON would lose the field, and the evidence would never verify again."""
    batch = Trip(nonce=nonce(11)).whole([reading(0)])[0]
    header = parse_header(batch.transactions[0])
    strange = rekeyed(batch, header, tail=b"\xa2\x06\x03abc")
    assert "canonical" in truck.send(strange).refused[0].reason
    assert site.quarantined(strange.header_signature) is not None


def test_a_batch_with_unknown_fields_is_refused(truck: Rogue) -> None:
    batch = Trip(nonce=nonce(12)).whole([reading(0)])[0]
    wire = wire_of(batch) + b"\xa2\x06\x03abc"
    (refusal,) = truck.say(Topic.RECORDS, records([wire])).refused
    assert "canonical" in refusal.reason
    assert not truck.ask(batch.header_signature).batch_ids


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
        device = RegisterDevice(
            device_id="truck-5", party_id="carrier", public_keys=[key("truck-5").public_key]
        )
        site.commit([one(key("carrier"), device)])
        answer = site.operator.post(f"/v1/quarantine/{first}/release")
        assert answer.status_code == 204, answer.text
        receipt = newcomer.receipt()
    body = open_receipt(receipt, [receipt.gateway_public_key])
    assert (body.trip_id, body.reading_count) == (trip.trip_id, 5)
    assert readings_on_ledger(site, trip.trip_id) == list(range(5))
    assert site.quarantined(first) is None


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


def test_a_receipt_is_sent_again_to_whoever_asks_again(site: Site, truck: Rogue) -> None:
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


@pytest.mark.parametrize("damage", ["size", "hash", "trip", "forged", "two", "reading"])
def test_an_offer_that_differs_from_its_digest_is_refused(truck: Rogue, damage: str) -> None:
    content = b"offered" * 50
    trip = Trip(nonce=nonce(23))
    *_, video = trip.whole([reading(0)], [digest_of(content)])
    offer = offer_of(trip, content, video)
    match damage:
        case "size":
            offer.size += 1
        case "hash":
            offer.sha256 = bytes(32)
        case "trip":
            offer.trip_id = "0" * 32
        case "forged":
            offer.digest_batch = offer.digest_batch.replace(b"video/mp4", b"video/mpe")
        case "two":
            twice = [video.transactions[0], Trip(nonce=nonce(23)).seal()]
            offer.digest_batch = wire_of(build_batch(key("truck-1"), twice))
        case _:
            offer.digest_batch = wire_of(Trip(nonce=nonce(23)).whole([reading(0)])[0])
    answer = truck.ask(recordings=[offer])
    assert not answer.batch_ids
    (refusal,) = answer.refused
    assert refusal.id == offer.sha256.hex()
    assert refusal.reason
    assert len(refusal.reason) < 1000


def test_a_stranger_cannot_silence_the_gateway(site: Site) -> None:
    """Nobody without a password may push the gateway's own session out of the broker."""
    for clean in ("wayseal-gateway-site-b", "wayseal-gateway"):
        with Rogue(site.appliance.mqtt, "truck-1", "no-token", client_id=clean) as stranger:
            assert stranger.refused.is_set()


def test_a_will_in_anothers_name_is_not_taken(site: Site, truck: Rogue) -> None:
    lie = Held(batch_ids=["lie"]).SerializeToString()
    token = site.appliance.token("truck-3", "device")
    liar = Rogue(site.appliance.mqtt, "truck-3", token, will=(topic("truck-1", Topic.HELD), lie))
    assert liar.refused.is_set()
    liar.close()
    assert not truck.ask("0" * 128).batch_ids


def test_a_device_cannot_connect_under_anothers_name(site: Site) -> None:
    token = site.appliance.token("truck-4", "device")
    with Rogue(site.appliance.mqtt, "truck-4", token, client_id="truck-8") as impostor:
        assert impostor.refused.is_set()


def test_answers_stay_small_when_all_that_was_asked_for_is_quarantined(truck: Rogue) -> None:
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
