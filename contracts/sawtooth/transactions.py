"""Transactions: a signed header that commits to a payload.

Source: Sawtooth 1.2 architecture guide, "Transactions and Batches".
"""

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple, Self

from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer, is_signature, verify
from contracts.proto.sawtooth_pb2 import Transaction, TransactionHeader

ID_HEX: Final = 128


class Family(NamedTuple):
    """A transaction family: whose rules a payload obeys."""

    name: str
    version: str

    @classmethod
    def of(cls, header: TransactionHeader) -> Self:
        """Return the family that a transaction names."""
        return cls(header.family_name, header.family_version)


def build_transaction(
    signer: Signer,
    family: Family,
    payload: bytes,
    *,
    batcher_public_key: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    dependencies: Sequence[str] = (),
    nonce: str = "",
) -> Transaction:
    """Return a signed transaction; its id is its header signature.

    Args:
        signer: Whose word the payload is.
        family: Family name and version.
        payload: The family's own encoding.
        batcher_public_key: Key that will sign the batch around it.
        inputs: Addresses or prefixes that may be read.
        outputs: Addresses or prefixes that may be written.
        dependencies: Ids of transactions that must be committed before.
        nonce: Tells apart transactions that are otherwise equal.
    """
    header = TransactionHeader(
        batcher_public_key=batcher_public_key,
        dependencies=dependencies,
        family_name=family.name,
        family_version=family.version,
        inputs=inputs,
        nonce=nonce,
        outputs=outputs,
        payload_sha512=hashlib.sha512(payload).hexdigest(),
        signer_public_key=signer.public_key,
    )
    wire = canonical(header)
    return Transaction(header=wire, header_signature=signer.sign(wire), payload=payload)


def parse_header(transaction: Transaction) -> TransactionHeader:
    """Parse the header of `transaction`.

    Raises:
        RejectedError: The header bytes are no TransactionHeader.
    """
    return parse(TransactionHeader, transaction.header)


def check_transaction(transaction: Transaction, header: TransactionHeader) -> None:
    """Check signature and payload hash of one transaction.

    Raises:
        RejectedError: Names the transaction and what does not hold.
    """
    name = transaction.header_signature
    if not is_signature(name):
        raise RejectedError(
            f"transaction signature must be {ID_HEX} lower-case hexadecimal digits: {name[:80]!r}"
        )
    if not verify(header.signer_public_key, name, transaction.header):
        raise RejectedError(
            f"transaction {name[:16]}…: signature does not match header and key "
            f"{header.signer_public_key[:66]!r}"
        )
    found = hashlib.sha512(transaction.payload).hexdigest()
    if found != header.payload_sha512:
        raise RejectedError(
            f"transaction {name[:16]}…: payload SHA-512 is {found[:16]}…, "
            f"the header says {header.payload_sha512[:16]!r}…"
        )
