"""Parsing batches of unknown origin and checking all of their signatures.

Signatures are checked in threads: libsecp256k1 runs without the interpreter's
lock, so all cores share the work.
"""

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.proto.sawtooth_pb2 import Batch, BatchList, Transaction, TransactionHeader
from contracts.sawtooth.batches import check_batch
from contracts.sawtooth.counts import check_transactions

SLICE_TRANSACTIONS: Final = 200
"""About so many transactions are one task of the pool: some milliseconds of work."""
AT_ONCE_BYTES: Final = 4 << 10
"""A list up to this size, a few signatures, is checked in the event loop's thread. For a batch of
one transaction, handing it to another thread and back took a quarter of the whole time."""
ADDRESSES_MAX: Final = 10_000
"""Inputs, outputs and dependencies of one transaction, together."""
BATCH_ADDRESSES_MAX: Final = 1_000_000
"""The same for all transactions of a batch or block. An empty one takes 2 bytes, 22 as JSON."""


class UndecodableError(RejectedError):
    """The bytes are not a BatchList, or hold more transactions than are taken at once."""


@dataclass(frozen=True, slots=True)
class VerifiedBatch:
    """A well formed batch with valid signatures.

    Attributes:
        batch: The batch.
        headers: Headers of its transactions, in order.
        size: Serialised size, bytes.
        addresses: Inputs, outputs and dependencies of its transactions, together.
    """

    batch: Batch
    headers: Sequence[TransactionHeader]
    size: int
    addresses: int

    @property
    def id(self) -> str:
        """Return the batch id, 128 hexadecimal digits."""
        return self.batch.header_signature


def parse_batches(wire: bytes) -> list[Batch]:
    """Parse a serialised BatchList.

    Drops what no signature covers: unknown fields, and the flag for tracing,
    which a Sawtooth node does not store either.

    Raises:
        TooManyError: It holds more transactions than are taken at once.
        RejectedError: The bytes are not a BatchList.
    """
    if len(wire) > AT_ONCE_BYTES:  # a short one costs little, whatever is in it
        check_transactions(wire)
    batch_list: BatchList = parse(BatchList, wire)
    batch_list.DiscardUnknownFields()
    for batch in batch_list.batches:
        batch.ClearField("trace")
    return list(batch_list.batches)


def verify_batch(batch: Batch) -> VerifiedBatch:
    """Check structure and signatures of one batch.

    Raises:
        RejectedError: Names the batch or transaction, and its fault.
    """
    headers = check_batch(batch).headers
    name = batch.header_signature[:16]
    addresses = sum(map(_addresses, batch.transactions, headers))
    if addresses > BATCH_ADDRESSES_MAX:
        raise RejectedError(
            f"batch {name}…: {addresses} inputs, outputs and dependencies, "
            f"at most {BATCH_ADDRESSES_MAX} allowed"
        )
    if len({transaction.header_signature for transaction in batch.transactions}) != len(headers):
        raise RejectedError(f"batch {name}…: holds a transaction twice")
    if any(not dependency for header in headers for dependency in header.dependencies):
        raise RejectedError(f"batch {name}…: a transaction depends on an empty id")
    return VerifiedBatch(batch, headers, batch.ByteSize(), addresses)


class Verifier:
    """Parses and checks batches on all cores; only short lists in the event loop's thread."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="verify")

    async def check(self, wire: bytes) -> list[VerifiedBatch]:
        """Parse a serialised BatchList and check every batch.

        Raises:
            UndecodableError: The bytes are not a BatchList, or hold too much.
            RejectedError: One of the batches is invalid.
        """
        loop = asyncio.get_running_loop()
        if len(wire) <= AT_ONCE_BYTES:
            verified, parts = _check(wire)
        else:
            verified, parts = await loop.run_in_executor(self._pool, _check, wire)
        if not parts:
            return verified
        tasks = [loop.run_in_executor(self._pool, _verify_all, part) for part in parts]
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            verified += result
        return verified

    def close(self) -> None:
        """Stop the threads once their current tasks are finished."""
        self._pool.shutdown(cancel_futures=True)


def _addresses(transaction: Transaction, header: TransactionHeader) -> int:
    """Return how many inputs, outputs and dependencies a transaction has."""
    named = len(header.inputs) + len(header.outputs) + len(header.dependencies)
    if named > ADDRESSES_MAX:
        raise RejectedError(
            f"transaction {transaction.header_signature[:16]}…: {named} inputs, outputs and "
            f"dependencies, at most {ADDRESSES_MAX} allowed"
        )
    return named


def _check(wire: bytes) -> tuple[list[VerifiedBatch], list[list[Batch]]]:
    """Return verified batches, or, if there are many, parts that threads can share.

    Few batches are parsed and verified in one task: handing over another one costs as much as
    a signature.
    """
    try:
        parts = _slices(parse_batches(wire))
    except RejectedError as error:
        raise UndecodableError(str(error)) from error
    return ([], parts) if len(parts) > 1 else (_verify_all(parts[0]), [])


def _verify_all(batches: Sequence[Batch]) -> list[VerifiedBatch]:
    return [verify_batch(batch) for batch in batches]


def _slices(batches: Sequence[Batch]) -> list[list[Batch]]:
    """Split into parts of about `SLICE_TRANSACTIONS`, in order."""
    parts: list[list[Batch]] = [[]]
    filled = 0
    for batch in batches:
        if filled >= SLICE_TRANSACTIONS:
            parts.append([])
            filled = 0
        parts[-1].append(batch)
        filled += len(batch.transactions)
    return parts
