"""Receipts: a gateway signs that a trip is committed and which copies exist.

A receipt is final when both the gateway's and the truck's policy are met; until
then it is provisional. Only the truck decides whether to delete its own copy.
"""

from collections.abc import Collection, Iterable, Iterator

from contracts.copies import Copy, Policy
from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import SigningKey, check_gateway
from contracts.proto.wire_pb2 import Receipt, ReceiptBody, StoredRecording


def sign_receipt(signer: SigningKey, body: ReceiptBody) -> Receipt:
    """Return `body` under the gateway's signature."""
    wire = canonical(body)
    return Receipt(body=wire, gateway_public_key=signer.public_key, signature=signer.sign(wire))


def open_receipt(receipt: Receipt, trusted_keys: Collection[str]) -> ReceiptBody:
    """Check the signature of a receipt and return its body.

    Args:
        receipt: As it arrived.
        trusted_keys: Public keys of trusted gateways.

    Raises:
        RejectedError: The key is not trusted, the signature is wrong, or the body is invalid.
    """
    key, signature = receipt.gateway_public_key, receipt.signature
    check_gateway("receipt", receipt.body, key, signature, trusted_keys)
    return parse(ReceiptBody, receipt.body)


def body_of(wire: bytes) -> ReceiptBody:
    """Return the body of a stored receipt, whose signature was checked before.

    Raises:
        RejectedError: The bytes are not a receipt.
    """
    return parse(ReceiptBody, parse(Receipt, wire).body)


def lacking(policy: Policy, recordings: Iterable[StoredRecording]) -> list[str]:
    """Return what `policy` lacks, in words, one for each recording and requirement.

    A copy in an unknown form does not count. Empty when the policy is met.
    """
    return [
        f"recording {stored.sha256.hex()[:16]}… has no copy {requirement}"
        for stored in recordings
        for requirement in policy.missing(_known(stored.copies))
    ]


def _known(texts: Iterable[str]) -> Iterator[Copy]:
    for text in texts:
        try:
            yield Copy.parse(text)
        except RejectedError:
            continue
