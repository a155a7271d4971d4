"""What trucks may and may not send over MQTT, with a real gateway, node and broker."""

import pytest

from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.wire_pb2 import Held, Offer, RecordingOffer
from contracts.sawtooth.batches import build_batch, parse_header
from contracts.wire import (
    MESSAGE_BYTES_MAX,
    OFFER_BATCHES_MAX,
    OFFER_RECORDINGS_MAX,
    Topic,
    topic,
)
from support.evidence.chain import digest_of
from support.network.world import Trip, key, reading
from support.trucks.rogue import (
    Rogue,
    Site,
    nonce,
    readings_on_ledger,
    records,
    rekeyed,
    until,
    wire_of,
)
from support.trucks.uploads import offer_of, send

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("alive")]

FLIPS = 60
GARBAGE = [b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"not protobuf at all", b"\x0a\x05abc"]


@pytest.mark.parametrize("kind", [Topic.RECORDS, Topic.OFFERS])
@pytest.mark.parametrize("wire", GARBAGE)
def test_garbage_is_refused_with_its_size(truck: Rogue, kind: Topic, wire: bytes) -> None:
    (refusal,) = truck.say(kind, wire).refused
    assert f"{len(wire)} bytes are not a valid" in refusal.reason
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


def test_a_header_with_unknown_fields_is_refused_and_not_kept(site: Site, truck: Rogue) -> None:
    """The ledger's JSON would lose the field, and the evidence would never verify again."""
    batch = Trip(nonce=nonce(11)).whole([reading(0)])[0]
    header = parse_header(batch.transactions[0])
    strange = rekeyed(batch, header, tail=b"\xa2\x06\x03abc")
    assert "fields that no TransactionHeader has" in truck.send(strange).refused[0].reason
    assert site.quarantined(strange.header_signature) is None


def test_a_batch_with_unknown_fields_is_refused(truck: Rogue) -> None:
    batch = Trip(nonce=nonce(12)).whole([reading(0)])[0]
    wire = wire_of(batch) + b"\xa2\x06\x03abc"
    (refusal,) = truck.say(Topic.RECORDS, records([wire])).refused
    assert "canonical" in refusal.reason
    assert not truck.ask(batch.header_signature).batch_ids


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
