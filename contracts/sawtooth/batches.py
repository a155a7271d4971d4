"""Batches: transactions that are committed together or not at all.

Source: Sawtooth 1.2 architecture guide, "Transactions and Batches".
"""

from collections.abc import Sequence
from enum import StrEnum

from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer, is_signature, verify
from contracts.proto.sawtooth_pb2 import Batch, BatchHeader, Transaction, TransactionHeader
from contracts.sawtooth.transactions import ID_HEX, check_transaction, parse_header


class Status(StrEnum):
    """What a ledger says of a batch.

    Source: Sawtooth 1.2 REST API reference, `/batch_statuses`.
    """

    COMMITTED = "COMMITTED"
    PENDING = "PENDING"
    INVALID = "INVALID"
    UNKNOWN = "UNKNOWN"


def build_batch(signer: Signer, transactions: Sequence[Transaction]) -> Batch:
    """Return a signed batch; its id is its header signature.

    Raises:
        RejectedError: No transactions: an empty batch stops a Sawtooth validator.
    """
    if not transactions:
        raise RejectedError("a batch needs at least one transaction, got none")
    header = BatchHeader(
        signer_public_key=signer.public_key,
        transaction_ids=[transaction.header_signature for transaction in transactions],
    )
    wire = canonical(header)
    return Batch(header=wire, header_signature=signer.sign(wire), transactions=transactions)


def check_batch(batch: Batch) -> list[TransactionHeader]:
    """Check every signature in `batch` and that header and transactions agree.

    Returns:
        The headers of its transactions, in order.

    Raises:
        RejectedError: Names the batch or transaction and what does not hold.
    """
    name = batch.header_signature
    if not is_signature(name):
        raise RejectedError(
            f"batch signature must be {ID_HEX} lower-case hexadecimal digits: {name[:80]!r}"
        )
    header = parse(BatchHeader, batch.header)
    if not verify(header.signer_public_key, name, batch.header):
        raise RejectedError(
            f"batch {name[:16]}…: signature does not match header and key "
            f"{header.signer_public_key[:66]!r}"
        )
    ids = [transaction.header_signature for transaction in batch.transactions]
    if not ids:
        raise RejectedError(f"batch {name[:16]}…: holds no transactions, expected at least one")
    if len(ids) != len(header.transaction_ids) or ids != list(header.transaction_ids):
        raise RejectedError(
            f"batch {name[:16]}…: header names {len(header.transaction_ids)} transactions, "
            f"the batch holds {len(ids)}, and they differ or stand in another order"
        )
    headers: list[TransactionHeader] = []
    for transaction in batch.transactions:
        transaction_header = parse_header(transaction)
        check_transaction(transaction, transaction_header)
        headers.append(transaction_header)
        if transaction_header.batcher_public_key != header.signer_public_key:
            raise RejectedError(
                f"transaction {transaction.header_signature[:16]}…: made for batcher "
                f"{transaction_header.batcher_public_key[:66]!r}, "
                f"batch signed by {header.signer_public_key}"
            )
    return headers
