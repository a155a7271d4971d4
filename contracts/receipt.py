"""Receipts: the gateway's signed word that a trip is durable and committed."""

from collections.abc import Collection

from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer, verify
from contracts.proto.wire_pb2 import Receipt, ReceiptBody


def sign_receipt(signer: Signer, body: ReceiptBody) -> Receipt:
    """Return `body` under the gateway's signature."""
    wire = canonical(body)
    return Receipt(body=wire, gateway_public_key=signer.public_key, signature=signer.sign(wire))


def open_receipt(receipt: Receipt, trusted_keys: Collection[str]) -> ReceiptBody:
    """Return what a receipt says, once its signature holds.

    Args:
        receipt: As it arrived.
        trusted_keys: Public keys of the gateways whose word counts.

    Raises:
        RejectedError: A key that is not trusted, a wrong signature, or no receipt.
    """
    key = receipt.gateway_public_key
    if key not in trusted_keys:
        raise RejectedError(f"receipt by a gateway whose key is not trusted: {key[:66]!r}")
    if not verify(key, receipt.signature, receipt.body):
        raise RejectedError(f"receipt signature does not match gateway key {key}")
    return parse(ReceiptBody, receipt.body)
