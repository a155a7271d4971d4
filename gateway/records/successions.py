"""Administrators' signed words on ledgers that go on as this one, for trucks that pin one."""

from collections.abc import Iterator

from contracts.encoding import canonical
from contracts.ledger.client import LedgerClient
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.succession import Predecessor, predecessors_in
from contracts.successor import is_succession


class Successions:
    """Reads them from the ledger once: only a replay, into another ledger, adds one."""

    def __init__(self, ledger: LedgerClient) -> None:
        self._ledger = ledger
        self._found: tuple[bytes, ...] | None = None

    def all(self) -> tuple[bytes, ...]:
        """Return the signed transactions, the oldest first; none for a ledger without predecessor.

        Raises:
            UnavailableError: The ledger did not answer.
        """
        if self._found is None:
            before = predecessors_in(self._ledger.state)
            self._found = tuple(canonical(each) for ended in before for each in self._sealed(ended))
        return self._found

    def _sealed(self, ended: Predecessor) -> Iterator[Transaction]:
        """Yield those in the block that seals a predecessor's head."""
        block = next(self._ledger.blocks(ended.block_num + 1), None)
        for batch in () if block is None else block.batches:
            yield from filter(is_succession, batch.transactions)
