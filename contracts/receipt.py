"""Receipts: a gateway signs that a trip is committed and which copies exist.

A receipt is final when both the gateway's and the truck's policy are met; until
then it is provisional. Only the truck decides whether to delete its own copy.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from contracts.copies import Copy, Policy
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import SigningKey
from contracts.proto.wire_pb2 import Receipt, ReceiptBody, StoredRecording
from contracts.statement import StatementKind

_RECEIPT: Final = StatementKind("receipt", Receipt, ReceiptBody, b"")


def sign_receipt(signer: SigningKey, body: ReceiptBody) -> Receipt:
    """Return `body` under the gateway's signature."""
    return _RECEIPT.sign(signer, body)


def open_receipt(receipt: Receipt, trusted_keys: Collection[str]) -> ReceiptBody:
    """Check the signature of a receipt and return its body; see `StatementKind.open`."""
    return _RECEIPT.open(receipt, trusted_keys)


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
