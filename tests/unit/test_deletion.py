"""Deletions: a gateway's signed deletion can be shown to others, and cannot be changed later."""

import pytest

from contracts.deletion import deletion_hash, open_deletion, sign_deletion
from contracts.errors import RejectedError
from contracts.proto.deletion_pb2 import Deletion, DeletionBody
from contracts.proto.wire_pb2 import Receipt, ReceiptBody
from contracts.receipt import open_receipt, sign_receipt
from support.network.world import key

GATEWAY = key("gateway-buyer")
BODY = DeletionBody(number=1, recording_sha256=bytes(32), rule="quota", copies=["volume:v:fsync"])
TRUSTED = {GATEWAY.public_key}


def test_a_deletion_says_what_was_signed() -> None:
    assert open_deletion(sign_deletion(GATEWAY, BODY), TRUSTED) == BODY


def test_neither_a_stranger_nor_another_body_passes() -> None:
    with pytest.raises(RejectedError, match="not trusted"):
        open_deletion(sign_deletion(key("stranger"), BODY), TRUSTED)
    with pytest.raises(RejectedError, match="not trusted"):
        open_deletion(Deletion(), TRUSTED)
    deletion = sign_deletion(GATEWAY, BODY)
    deletion.body = sign_deletion(GATEWAY, DeletionBody(number=2)).body
    with pytest.raises(RejectedError, match="signature does not match"):
        open_deletion(deletion, TRUSTED)


def test_no_receipt_passes_for_a_deletion_nor_the_other_way() -> None:
    deletion = sign_deletion(GATEWAY, BODY)
    receipt = sign_receipt(GATEWAY, ReceiptBody(block_num=9))
    with pytest.raises(RejectedError, match="signature does not match"):
        open_receipt(
            Receipt(
                body=deletion.body,
                gateway_public_key=deletion.gateway_public_key,
                signature=deletion.signature,
            ),
            TRUSTED,
        )
    with pytest.raises(RejectedError, match="signature does not match"):
        open_deletion(
            Deletion(
                body=receipt.body,
                gateway_public_key=receipt.gateway_public_key,
                signature=receipt.signature,
            ),
            TRUSTED,
        )


def test_each_has_a_hash_of_its_own() -> None:
    one, two = (sign_deletion(GATEWAY, DeletionBody(number=number)) for number in (1, 2))
    assert deletion_hash(one) != deletion_hash(two)
