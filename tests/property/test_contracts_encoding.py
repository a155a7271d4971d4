"""Encodings are bijections, and damaged bytes lead to a clear error and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.actions.payload import build, decode, encode
from contracts.actions.table import Action
from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer, verify
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.wire_pb2 import Receipt, ReceiptBody, Records, StoredRecording
from contracts.receipt import open_receipt, sign_receipt
from contracts.records.clock import UTC_MS_MAX
from contracts.records.reading import (
    ChainLink,
    Clock,
    ClockOrigin,
    DeviceChain,
    Position,
    Reading,
    Tamper,
    reading_of,
    record_of,
)
from contracts.sawtooth.batches import build_batch, check_batch, parse_header
from contracts.wire import MESSAGE_BYTES_MAX, pack_records, parse_message
from support.evidence.chain import digest_of
from support.network.world import TERMS, Trip, handovers, key, link_of, one, reading, registrations

clocks = st.builds(
    Clock,
    utc_ms=st.integers(0, UTC_MS_MAX),
    monotonic_ms=st.integers(0, (1 << 63) - 1),
    boot_id=st.binary(min_size=16, max_size=16),
    origin=st.sampled_from(ClockOrigin),
)
positions = st.builds(
    Position,
    latitude_e7=st.integers(-900_000_000, 900_000_000),
    longitude_e7=st.integers(-1_800_000_000, 1_800_000_000),
    accuracy_cm=st.integers(0, (1 << 32) - 1),
)
readings = st.builds(
    Reading,
    clock=clocks,
    temperature_mcel=st.none() | st.integers(-273_150, 1_000_000),
    humidity_mpct=st.none() | st.integers(0, 100_000),
    pressure_pa=st.none() | st.integers(0, 2_000_000),
    position=st.none() | positions,
    tamper=st.integers(0, 63).map(Tamper),
    derived=st.booleans(),
)
chains = st.builds(
    DeviceChain,
    trip_id=st.text("0123456789abcdef", min_size=32, max_size=32),
    device_id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True),
)
links = chains.map(lambda chain: chain.first) | st.builds(
    ChainLink,
    chain=chains,
    sequence=st.integers(1, (1 << 63) - 1),
    previous_sha256=st.binary(min_size=32, max_size=32),
)


@given(readings, links)
def test_a_reading_comes_back_from_its_payload(value: Reading, link: ChainLink) -> None:
    record = record_of(value, link)
    assert reading_of(record) == value
    assert link_of(record) == link
    assert decode(encode(record)) == record


TRIP = Trip()
TRIP.record(reading(0))
TRIP.record(reading(1, -40_000, Tamper.DOOR_OPEN))
VIDEO = digest_of(b"video")
HANDOVER = decode(handovers(TRIP.trip_id)[0].transactions[0].payload)
ACTIONS: list[Action] = [
    *(decode(batch.transactions[0].payload) for batch in registrations()[::3]),
    TERMS,
    TRIP.start,
    TRIP.records[1],
    decode(TRIP.seal([VIDEO]).payload),
    decode(TRIP.video(VIDEO, "0" * 128).transactions[0].payload),
    HANDOVER,
]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: type(action).__name__)
def test_a_payload_damaged_at_any_byte_is_refused_or_means_something_else(action: Action) -> None:
    wire = encode(action)
    for at in range(len(wire)):
        for damage in (0x01, 0x80, 0xFF):
            check_other(wire[:at] + bytes([wire[at] ^ damage]) + wire[at + 1 :], action)
        check_other(wire[:at], action)
        check_other(wire[:at] + b"\0" + wire[at:], action)


@given(st.sampled_from(ACTIONS), st.data())
def test_a_payload_with_bytes_put_in_anywhere_is_refused_or_means_something_else(
    action: Action, data: st.DataObject
) -> None:
    wire = encode(action)
    at = data.draw(st.integers(0, len(wire)))
    check_other(wire[:at] + data.draw(st.binary(min_size=1, max_size=8)) + wire[at:], action)


def check_other(wire: bytes, action: Action) -> None:
    """Check that `wire`, which does not stand for `action`, has at most one meaning of its own."""
    try:
        other = decode(wire)
    except RejectedError:
        return
    assert encode(other) == wire
    assert other != action


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_have_one_meaning(wire: bytes) -> None:
    try:
        action = decode(wire)
    except RejectedError:
        return
    assert encode(action) == wire


BATCH = build_batch(TRIP.signer, [TRIP.sign(TRIP.start), TRIP.sign(TRIP.records[0])])


def test_no_batch_damaged_at_any_byte_is_accepted() -> None:
    wire = canonical(BATCH)
    assert [at for at in range(len(wire)) if accepted(altered(wire, at))] == []
    assert [end for end in range(len(wire)) if accepted(wire[:end])] == []


def altered(wire: bytes, at: int) -> bytes:
    return wire[:at] + bytes([wire[at] ^ (at % 255 + 1)]) + wire[at + 1 :]


def accepted(wire: bytes) -> bool:
    try:
        check_batch(parse(Batch, wire))
    except RejectedError:
        return False
    return True


@given(st.data())
def test_whatever_check_batch_accepts_says_what_was_signed(data: st.DataObject) -> None:
    wire = canonical(BATCH)
    at = data.draw(st.integers(0, len(wire)))
    damaged = wire[:at] + data.draw(st.binary(min_size=1, max_size=6)) + wire[at:]
    if accepted(damaged):
        batch = parse(Batch, damaged)
        batch.trace = False  # a wish to the ledger, which nobody signs
        batch.DiscardUnknownFields()
        assert batch == BATCH


def test_a_damaged_header_is_one_clear_error_even_when_signed() -> None:
    header = BATCH.transactions[0].header
    for at in range(len(header)):
        transaction = build(TRIP.signer, TRIP.start)
        transaction.header = altered(header, at)
        transaction.header_signature = TRIP.signer.sign(transaction.header)
        try:
            parsed = parse_header(transaction)
        except RejectedError:
            assert not accepted(canonical(build_batch(TRIP.signer, [transaction])))
        else:
            assert parsed != parse_header(BATCH.transactions[0])


GATEWAY = key("gateway-buyer")
BODY = ReceiptBody(
    device_id="truck-1",
    trip_id=TRIP.trip_id,
    reading_count=2,
    head_sha256=bytes(32),
    seal_transaction_id="0" * 128,
    recordings=[
        StoredRecording(sha256=VIDEO.sha256, size=VIDEO.size, copies=["volume:main:fsync"])
    ],
    block_num=3,
)


def test_no_receipt_damaged_at_any_byte_frees_anything_else() -> None:
    receipt = sign_receipt(GATEWAY, BODY)
    wire = canonical(receipt)
    for at in range(len(wire)):
        for damaged in (altered(wire, at), wire[:at]):
            with pytest.raises(RejectedError):
                open_receipt(parse_message(Receipt, damaged), {GATEWAY.public_key})
    assert open_receipt(parse_message(Receipt, wire), {GATEWAY.public_key}) == BODY


def test_a_records_message_damaged_at_any_byte_yields_no_altered_batch() -> None:
    batches = [canonical(one(TRIP.signer, TRIP.start)), canonical(BATCH)]
    (wire,) = pack_records(batches)
    for at in range(len(wire)):
        for damaged in (altered(wire, at), wire[:at]):
            for batch in carried(damaged):
                assert batch in batches


def carried(wire: bytes) -> list[bytes]:
    """Return the batches of a records message that hold, as a gateway would keep them."""
    try:
        message = parse_message(Records, wire)
    except RejectedError:
        return []
    return [batch for batch in message.batches if accepted(batch)]


@given(st.lists(st.binary(min_size=1, max_size=70_000), max_size=12))
def test_records_are_packed_whole_in_order_and_within_the_limit(batches: list[bytes]) -> None:
    messages = list(pack_records(batches))
    assert all(len(message) <= MESSAGE_BYTES_MAX for message in messages)
    unpacked = [parse_message(Records, message).batches for message in messages]
    assert [batch for group in unpacked for batch in group] == batches


@given(st.binary(max_size=300), st.integers(1, (1 << 200)))
def test_whatever_is_signed_verifies_under_its_key_alone(message: bytes, secret: int) -> None:
    signer = Signer.from_hex(f"{secret:064x}")
    signature = signer.sign(message)
    assert verify(signer.public_key, signature, message)
    assert not verify(GATEWAY.public_key, signature, message)
    assert not verify(signer.public_key, signature, message + b"\0")


@given(st.text(max_size=130), st.text(max_size=130))
def test_any_text_as_key_or_signature_is_simply_not_valid(public_key: str, signature: str) -> None:
    assert not verify(public_key, GATEWAY.sign(b""), b"")
    assert not verify(GATEWAY.public_key, signature, b"")
