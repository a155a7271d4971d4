"""Receipts: a truck may delete its evidence only on the signature of a trusted gateway."""

import pytest

from contracts.actions.form import RECORDINGS_MAX
from contracts.copies import DEFAULT_POLICY, REQUIREMENTS_MAX, Policy
from contracts.errors import RejectedError
from contracts.proto.wire_pb2 import Receipt, ReceiptBody, StoredRecording
from contracts.receipt import body_of, lacking, open_receipt, sign_receipt
from contracts.wire import MESSAGE_BYTES_MAX, parse_message
from support.network.world import key

GATEWAY = key("gateway-buyer")
BODY = ReceiptBody(device_id="truck-1", trip_id="0" * 32, reading_count=3, block_num=9)
TRUSTED = {GATEWAY.public_key}


def test_a_receipt_says_what_was_signed() -> None:
    assert open_receipt(sign_receipt(GATEWAY, BODY), TRUSTED) == BODY


def test_a_gateway_nobody_trusts_frees_nothing() -> None:
    with pytest.raises(RejectedError, match="not trusted"):
        open_receipt(sign_receipt(key("stranger"), BODY), TRUSTED)
    with pytest.raises(RejectedError, match="not trusted"):
        open_receipt(Receipt(), TRUSTED)


def test_a_signature_for_another_body_frees_nothing() -> None:
    receipt = sign_receipt(GATEWAY, BODY)
    receipt.body = sign_receipt(GATEWAY, ReceiptBody(device_id="truck-2")).body
    with pytest.raises(RejectedError, match="signature does not match"):
        open_receipt(receipt, TRUSTED)


def test_signed_junk_is_one_clear_error() -> None:
    junk = b"\xff\xff"
    receipt = Receipt(
        body=junk, gateway_public_key=GATEWAY.public_key, signature=GATEWAY.sign(junk)
    )
    with pytest.raises(RejectedError, match="not a valid ReceiptBody"):
        open_receipt(receipt, TRUSTED)


def test_each_recording_and_requirement_lacks_by_itself() -> None:
    one = StoredRecording(sha256=b"\1" * 32, copies=["volume:main:fsync", "blobs:files:fsync"])
    other = StoredRecording(sha256=b"\2" * 32, copies=["volume:main:fsync"])
    assert lacking(DEFAULT_POLICY, []) == lacking(DEFAULT_POLICY, [one]) == []
    assert lacking(DEFAULT_POLICY, [one, other]) == [
        "recording 0202020202020202… has no copy blobs"
    ]
    strict = Policy.parse(["volume", "blobs:QUORUM"])
    assert len(lacking(strict, [one, other])) == 2


def test_a_copy_that_is_not_understood_is_none() -> None:
    strange = StoredRecording(copies=["volume", "tape:vault:forever", "blobs:files:fsync"])
    assert lacking(DEFAULT_POLICY, [strange]) == ["recording … has no copy volume"]


def test_the_longest_receipt_fits_into_a_message() -> None:
    copies = ["volume:a-volume-with-a-name:fsync", "blobs:files+cassandra:fsync+LOCAL_QUORUM"]
    policy = Policy.parse(["blobs:EACH_QUORUM"] * REQUIREMENTS_MAX)
    stored = [
        StoredRecording(sha256=bytes(32), size=1 << 36, tree_root=bytes(32), copies=copies)
        for _ in range(RECORDINGS_MAX)
    ]
    body = ReceiptBody(recordings=stored, lacking=lacking(policy, stored))
    body.seal_transaction_id = body.block_id = body.genesis_id = "f" * 128
    assert len(body.lacking) == RECORDINGS_MAX * REQUIREMENTS_MAX
    wire = sign_receipt(GATEWAY, body).SerializeToString()
    assert len(wire) <= MESSAGE_BYTES_MAX
    assert open_receipt(parse_message(Receipt, wire), TRUSTED) == body_of(wire) == body
