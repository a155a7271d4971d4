"""Topics, limits and packing of MQTT messages."""

import pytest

from contracts import wire
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.proto.wire_pb2 import Held, Offer, Receipt, RecordingOffer, Records
from support.evidence.chain import digest_of
from support.network.world import Trip


@pytest.mark.parametrize("kind", wire.Topic)
def test_a_topic_names_device_and_kind(kind: wire.Topic) -> None:
    assert wire.parse_topic(wire.topic("truck-1", kind)) == ("truck-1", kind)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "topic must be wayseal/v1/DEVICE/KIND: ''"),
        ("records", "topic must be"),
        ("wayseal/v2/truck-1/records", "topic must be"),
        ("wayseal/v1/truck-1", "topic must be"),
        ("wayseal/v1/truck-1/records/more", "topic must be"),
        ("wayseal/v1/truck-1/unknown", "last level must be one of records, offers, status, held"),
        ("wayseal/v1/truck-1/records\n", "last level must be one of"),
        ("wayseal/v1//records", "device id must be 1..64 ASCII letters, .*: ''"),
        ("wayseal/v1/+/records", "device id must be"),
        ("wayseal/v1/../records", "device id must be"),
        ("wayseal/v1/truck 1/records", "device id must be .*: 'truck 1'"),
        ("wayseal/v1/truck-1\n/records", "device id must be"),
        (f"wayseal/v1/{'a' * 65}/records", "device id must be"),
        ("wayseal/v1/-/unknown", "device id must be"),
    ],
)
def test_other_topics_are_refused(name: str, why: str) -> None:
    with pytest.raises(RejectedError, match=why):
        wire.parse_topic(name)


@pytest.mark.parametrize("kind", [Records, Offer, Held, Receipt])
def test_junk_and_oversized_messages_are_one_clear_error(
    kind: type[Records | Offer | Held | Receipt],
) -> None:
    with pytest.raises(RejectedError, match=f"not a valid {kind.__name__} message"):
        wire.parse_message(kind, b"\xff")
    with pytest.raises(RejectedError, match="at most 262144 allowed"):
        wire.parse_message(kind, bytes(wire.MESSAGE_BYTES_MAX + 1))


def test_records_are_packed_in_order_within_the_limit() -> None:
    batches = [bytes([number]) * size for number, size in enumerate([1, 200_000, 70_000, 5, 5])]
    messages = list(wire.pack_records(batches))
    assert all(len(message) <= wire.MESSAGE_BYTES_MAX for message in messages)
    assert len(messages) == 2
    unpacked = [wire.parse_message(Records, message).batches for message in messages]
    assert [batch for group in unpacked for batch in group] == batches


def test_the_largest_batch_fits_a_message() -> None:
    (message,) = wire.pack_records([bytes(wire.BATCH_BYTES_MAX)])
    assert len(message) <= wire.MESSAGE_BYTES_MAX
    with pytest.raises(RejectedError, match="batch of 262081 bytes"):
        list(wire.pack_records([bytes(wire.BATCH_BYTES_MAX + 1)]))


def test_no_batches_need_no_message() -> None:
    assert list(wire.pack_records([])) == []


def test_the_largest_offer_fits_a_message() -> None:
    trip = Trip()
    made = digest_of(b"video")
    offer = RecordingOffer(
        sha256=made.sha256,
        size=(1 << 63) - 1,
        trip_id=trip.trip_id,
        digest_batch=canonical(trip.video(made, "0" * 128)),
    )
    message = Offer(
        session=bytes(16),
        batch_ids=["0" * 128] * wire.OFFER_BATCHES_MAX,
        recordings=[offer] * wire.OFFER_RECORDINGS_MAX,
    )
    assert message.ByteSize() <= wire.MESSAGE_BYTES_MAX
