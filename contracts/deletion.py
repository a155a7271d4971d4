"""Deletions: a gateway signs what it deleted, and why it was allowed to.

Each deletion names the previous one by its hash. So a deletion shows whether an
earlier one was left out or changed later.
"""

import hashlib
from collections.abc import Collection
from typing import Final

from contracts.encoding import canonical, parse
from contracts.keys import SigningKey, check_gateway
from contracts.proto.deletion_pb2 import Deletion, DeletionBody

_DOMAIN: Final = b"wayseal deletion 1\n"
"""Signed before the body, so that a receipt of the same key never passes for a deletion."""


def sign_deletion(signer: SigningKey, body: DeletionBody) -> Deletion:
    """Return `body` under the gateway's signature."""
    wire = canonical(body)
    return Deletion(
        body=wire, gateway_public_key=signer.public_key, signature=signer.sign(_DOMAIN + wire)
    )


def open_deletion(deletion: Deletion, trusted_keys: Collection[str]) -> DeletionBody:
    """Check the signature of a deletion and return its body.

    Args:
        deletion: As it arrived.
        trusted_keys: Public keys of trusted gateways.

    Raises:
        RejectedError: The key is not trusted, the signature is wrong, or the body is invalid.
    """
    key, signature = deletion.gateway_public_key, deletion.signature
    check_gateway("deletion", _DOMAIN + deletion.body, key, signature, trusted_keys)
    return parse(DeletionBody, deletion.body)


def deletion_hash(deletion: Deletion) -> bytes:
    """Return the hash by which the next deletion names this one, 32 bytes."""
    return hashlib.sha256(canonical(deletion)).digest()
