"""Deletions: the gateway's signed word on what it removed, and why it was allowed to.

Each names the one before it by hash, so that whoever has one can tell whether
an earlier one was left out or changed later.
"""

import hashlib
from collections.abc import Collection
from typing import Final

from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer, verify
from contracts.proto.deletion_pb2 import Deletion, DeletionBody

_DOMAIN: Final = b"wayseal deletion 1\n"
"""Signed before the body: the key signs receipts too, and neither may pass for the other."""


def sign_deletion(signer: Signer, body: DeletionBody) -> Deletion:
    """Return `body` under the gateway's signature."""
    wire = canonical(body)
    return Deletion(
        body=wire, gateway_public_key=signer.public_key, signature=signer.sign(_DOMAIN + wire)
    )


def open_deletion(deletion: Deletion, trusted_keys: Collection[str]) -> DeletionBody:
    """Return what a deletion says, once its signature holds.

    Args:
        deletion: As it arrived.
        trusted_keys: Public keys of the gateways whose word counts.

    Raises:
        RejectedError: A key that is not trusted, a wrong signature, or no deletion.
    """
    key = deletion.gateway_public_key
    if key not in trusted_keys:
        raise RejectedError(f"deletion by a gateway whose key is not trusted: {key[:66]!r}")
    if not verify(key, deletion.signature, _DOMAIN + deletion.body):
        raise RejectedError(f"deletion signature does not match gateway key {key}")
    return parse(DeletionBody, deletion.body)


def deletion_hash(deletion: Deletion) -> bytes:
    """Return what the next deletion calls this one by, 32 bytes."""
    return hashlib.sha256(canonical(deletion)).digest()
