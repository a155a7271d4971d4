"""The port to what a ledger has committed, read back after a load, and its adapter for Sawtooth."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contracts.proto.sawtooth_pb2 import Batch
from storage.bench.ledger.committing import head_num, transactions_in_blocks


class LedgerReader(Protocol):
    """Reads a ledger's blocks, and knows the form of its batches."""

    def head(self) -> int:
        """Return the number of the newest block.

        Raises:
            UnavailableError: The ledger does not answer.
        """
        ...

    def committed(self, first: int, batch_ids: Collection[str], files: Sequence[Path]) -> int:
        """Count the transactions of these batches in the blocks from number `first` on.

        Args:
            first: Number of a block.
            batch_ids: Of batches that the ledger called committed.
            files: Of signed batches, which hold them.

        Raises:
            UnavailableError: The ledger does not answer.
        """
        ...

    def parts(self, wire: bytes) -> Iterator[tuple[str, int]]:
        """Yield id and size in bytes of each transaction of a batch."""
        ...


@dataclass(frozen=True, slots=True)
class SawtoothReader:
    """Implements `LedgerReader` for Sawtooth's REST API, which our node answers too.

    Attributes:
        url: Of the REST API.
    """

    url: str

    def head(self) -> int:
        """See `LedgerReader.head`."""
        return head_num(self.url)

    def committed(self, first: int, batch_ids: Collection[str], files: Sequence[Path]) -> int:
        """See `LedgerReader.committed`."""
        del files
        return transactions_in_blocks(self.url, first, batch_ids)

    def parts(self, wire: bytes) -> Iterator[tuple[str, int]]:
        """See `LedgerReader.parts`."""
        for transaction in Batch.FromString(wire).transactions:
            yield transaction.header_signature, transaction.ByteSize()
