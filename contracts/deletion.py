"""Deletions: a gateway signs what it deleted, and why it was allowed to.

Each deletion names the previous one by its hash. So a deletion shows whether an
earlier one was left out or changed later.
"""

import hashlib
from collections.abc import Collection
from typing import Final

from contracts.encoding import canonical
from contracts.keys import SigningKey
from contracts.proto.deletion_pb2 import Deletion, DeletionBody
from contracts.statement import StatementKind

_DELETION: Final = StatementKind("deletion", Deletion, DeletionBody, b"wayseal deletion 1\n")


def sign_deletion(signer: SigningKey, body: DeletionBody) -> Deletion:
    """Return `body` under the gateway's signature."""
    return _DELETION.sign(signer, body)


def open_deletion(deletion: Deletion, trusted_keys: Collection[str]) -> DeletionBody:
    """Check the signature of a deletion and return its body; see `StatementKind.open`."""
    return _DELETION.open(deletion, trusted_keys)


def deletion_hash(deletion: Deletion) -> bytes:
    """Return the hash by which the next deletion names this one, 32 bytes."""
    return hashlib.sha256(canonical(deletion)).digest()
