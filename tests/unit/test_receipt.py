"""Receipts: only what a trusted gateway signed frees a truck of its evidence."""

import pytest

from contracts.errors import RejectedError
from contracts.proto.wire_pb2 import Receipt, ReceiptBody
from contracts.receipt import open_receipt, sign_receipt
from support.world import key

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
    with pytest.raises(RejectedError, match="no ReceiptBody"):
        open_receipt(receipt, TRUSTED)
