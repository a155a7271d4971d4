"""What must be on a ledger before anything is measured, and what is there afterwards."""

from collections.abc import Collection, Sequence
from contextlib import closing
from typing import Final

from contracts.errors import RejectedError
from contracts.ledger import LedgerClient
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Status

COMMIT_S: Final = 60
"""What is registered beforehand must be committed in so many seconds."""
PER_LIST: Final = 50


def commit(url: str, batches: Sequence[Batch]) -> None:
    """Commit batches in their order.

    Raises:
        RejectedError: One is not committed: why.
        UnavailableError: The ledger does not answer.
    """
    with closing(LedgerClient(url)) as ledger:
        for at in range(0, len(batches), PER_LIST):
            some = batches[at : at + PER_LIST]
            ledger.submit(some)
            found = ledger.statuses([batch.header_signature for batch in some], wait_s=COMMIT_S)
            for status in found.values():
                if status.status is not Status.COMMITTED:
                    words = f"is {status.status} {status.reason}".rstrip()
                    raise RejectedError(f"what must be on {url} beforehand {words}")


def head_num(url: str) -> int:
    """Return the number of a ledger's newest block."""
    with closing(LedgerClient(url)) as ledger:
        return ledger.head_num()


def transactions_in_blocks(url: str, first: int, batch_ids: Collection[str]) -> int:
    """Return how many transactions of these batches the blocks from number `first` on hold."""
    with closing(LedgerClient(url)) as ledger:
        return sum(
            len(batch.transactions)
            for block in ledger.blocks(first)
            for batch in block.batches
            if batch.header_signature in batch_ids
        )
