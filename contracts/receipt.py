"""Receipts: the gateway's signed word that a trip is committed, and which copies there are.

A receipt is final when nothing lacks, by the gateway's policy and by that of
the truck, which alone decides on its own copy; until then it is provisional.
"""

from collections.abc import Collection, Iterable, Iterator

from contracts.copies import Copy, Policy
from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer, verify
from contracts.proto.wire_pb2 import Receipt, ReceiptBody, StoredRecording


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


def body_of(wire: bytes) -> ReceiptBody:
    """Return what a receipt says that was verified before it was kept.

    Raises:
        RejectedError: The bytes are no receipt.
    """
    return parse(ReceiptBody, parse(Receipt, wire).body)


def lacking(policy: Policy, recordings: Iterable[StoredRecording]) -> list[str]:
    """Say what `policy` misses, one entry for each recording and requirement; none when it is met.

    A copy in a form that is not known here counts as none.
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
