"""Transactions, and the batches that are committed together or not at all.

A transaction is a signed header that commits to a payload. A batch is a signed header that commits
to its transactions, in order.

Source: Sawtooth 1.2 architecture guide, "Transactions and Batches".
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Self

from contracts.encoding import canonical, parse, parse_known, sized, tag_of
from contracts.errors import RejectedError
from contracts.keys import SigningKey, is_signature, verify
from contracts.proto.sawtooth_pb2 import (
    Batch,
    BatchHeader,
    BatchList,
    Transaction,
    TransactionHeader,
)

ID_HEX: Final = 128
"""Hexadecimal digits of a batch's or transaction's id, which is its header signature."""


_BATCH: Final = tag_of(BatchList.BATCHES_FIELD_NUMBER, is_sized=True)


class Family(NamedTuple):
    """A transaction family, whose rules a payload obeys."""

    name: str
    version: str

    @classmethod
    def of(cls, header: TransactionHeader) -> Self:
        """Return the family that a transaction names."""
        return cls(header.family_name, header.family_version)


def build_transaction(
    signer: SigningKey,
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
        signer: Signs the payload.
        family: Family name and version.
        payload: The payload in the family's encoding.
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


def build_batch(signer: SigningKey, transactions: Sequence[Transaction]) -> Batch:
    """Return a signed batch; its id is its header signature.

    Raises:
        RejectedError: No transactions. An empty batch stops a Sawtooth validator.
    """
    if not transactions:
        raise RejectedError("a batch needs at least one transaction, got none")
    header = BatchHeader(
        signer_public_key=signer.public_key,
        transaction_ids=[transaction.header_signature for transaction in transactions],
    )
    wire = canonical(header)
    return Batch(header=wire, header_signature=signer.sign(wire), transactions=transactions)


def listed(batches: Iterable[bytes]) -> bytes:
    """Return serialised batches as one serialised BatchList, without parsing any of them."""
    return b"".join(part for each in batches for part in sized(_BATCH, each))


def parse_header(transaction: Transaction) -> TransactionHeader:
    """Parse the header of `transaction`.

    Raises:
        RejectedError: The header bytes are not a TransactionHeader.
    """
    return parse(TransactionHeader, transaction.header)


class Status(StrEnum):
    """The status of a batch on a ledger.

    Source: Sawtooth 1.2 REST API reference, `/batch_statuses`.
    """

    COMMITTED = "COMMITTED"
    PENDING = "PENDING"
    INVALID = "INVALID"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class CheckedBatch:
    """A batch whose signatures hold, with the headers that were parsed to check them.

    Attributes:
        batch: The batch.
        header: Its header.
        headers: The headers of its transactions, in order.
    """

    batch: Batch
    header: BatchHeader
    headers: tuple[TransactionHeader, ...]


def check_batch(batch: Batch) -> CheckedBatch:
    """Check every signature in `batch` and that header and transactions agree.

    Raises:
        RejectedError: Names the batch or transaction and what does not hold.
    """
    name = batch.header_signature
    if not is_signature(name):
        raise RejectedError(
            f"batch signature must be {ID_HEX} lower-case hexadecimal digits: {name[:80]!r}"
        )
    header = parse_known(BatchHeader, batch.header)
    if not verify(header.signer_public_key, name, batch.header):
        raise RejectedError(
            f"batch {name[:16]}…: signature does not match header and key "
            f"{header.signer_public_key[:66]!r}"
        )
    ids = [transaction.header_signature for transaction in batch.transactions]
    if not ids:
        raise RejectedError(f"batch {name[:16]}…: holds no transactions, expected at least one")
    if ids != list(header.transaction_ids):
        raise RejectedError(
            f"batch {name[:16]}…: header names {len(header.transaction_ids)} transactions, "
            f"the batch holds {len(ids)}, and they differ or stand in another order"
        )
    signer = header.signer_public_key
    headers = tuple(_check_member(each, signer) for each in batch.transactions)
    return CheckedBatch(batch, header, headers)


def check_transaction(transaction: Transaction) -> TransactionHeader:
    """Check signature and payload hash of one transaction, and return its header.

    Raises:
        RejectedError: Names the transaction and what does not hold.
    """
    name = transaction.header_signature
    header = parse_known(TransactionHeader, transaction.header)
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
    return header


def _check_member(transaction: Transaction, batcher_public_key: str) -> TransactionHeader:
    """Check a transaction and that its header names the key that signed the batch."""
    header = check_transaction(transaction)
    if header.batcher_public_key != batcher_public_key:
        raise RejectedError(
            f"transaction {transaction.header_signature[:16]}…: made for batcher "
            f"{header.batcher_public_key[:66]!r}, batch signed by {batcher_public_key}"
        )
    return header
