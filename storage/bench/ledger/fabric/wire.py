"""A transaction of Fabric's as the loader reads it from its file: 32 octets of its id, the request.

The request is a whole EndorseRequest with its signed proposal. Fabric has no batches: each
transaction is one of its own.
"""

import hashlib

from contracts.errors import RejectedError
from storage.bench.ledger.fabric.messages import ID_BYTES, Proposed


def wired(proposed: Proposed) -> tuple[str, bytes]:
    """Return name and octets of a transaction."""
    wire = proposed.digest + proposed.to_endorse
    return name_of(wire), wire


def name_of(wire: bytes) -> str:
    """Return the name of a transaction, as long as the id of a batch of Sawtooth's."""
    return hashlib.sha512(wire[:ID_BYTES]).hexdigest()


def taken_apart(wire: bytes) -> tuple[bytes, bytes]:
    """Return a transaction's id and the request to endorse it.

    Raises:
        RejectedError: It is cut short.
    """
    if len(wire) <= ID_BYTES:
        raise RejectedError("a transaction is cut short")
    return wire[:ID_BYTES], wire[ID_BYTES:]
