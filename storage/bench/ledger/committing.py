"""Batches committed to a ledger without a loader, and counted in its blocks afterwards."""

import time
from collections.abc import Collection, Sequence
from contextlib import closing
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Status

COMMIT_S: Final = 60
"""For the registrations before a load."""
PER_LIST: Final = 50
COMMIT_TIMEOUT_S: Final = 600
PER_FULL_LIST: Final = 20
"""Batches of one list, as a gateway hands them over."""
_STATUS_WAIT_S: Final = 5


def commit(url: str, batches: Sequence[Batch]) -> None:
    """Commit batches in their order.

    Raises:
        RejectedError: A batch is not committed; gives the reason.
        UnavailableError: The ledger does not answer.
    """
    with closing(LedgerClient(LedgerPlace.here(url))) as ledger:
        for at in range(0, len(batches), PER_LIST):
            some = batches[at : at + PER_LIST]
            ledger.submit(some)
            found = ledger.statuses([batch.header_signature for batch in some], wait_s=COMMIT_S)
            for status in found.values():
                if status.status is not Status.COMMITTED:
                    words = f"is {status.status} {status.reason}".rstrip()
                    raise RejectedError(
                        f"expected {url} to commit the registrations, a batch {words}"
                    )


def commit_flat_out(ledger: LedgerClient, batches: Sequence[Batch]) -> None:
    """Submit batches as fast as the ledger takes them, in order; return once all are committed.

    Raises:
        RejectedError: The ledger refuses a batch.
        UnavailableError: The ledger failed, or did not commit them within COMMIT_TIMEOUT_S.
    """
    for at in range(0, len(batches), PER_FULL_LIST):
        ledger.submit(batches[at : at + PER_FULL_LIST])
    waiting = [batch.header_signature for batch in batches]
    end_s = time.monotonic() + COMMIT_TIMEOUT_S
    while waiting:
        found = ledger.statuses(waiting, wait_s=_STATUS_WAIT_S)
        for answer in found.values():
            if answer.status is Status.INVALID:
                raise RejectedError(f"the ledger refuses a batch: {answer.reason}")
        waiting = [name for name in waiting if found[name].status is not Status.COMMITTED]
        if waiting and time.monotonic() > end_s:
            raise UnavailableError(
                f"expected all batches committed within {COMMIT_TIMEOUT_S} s, "
                f"{len(waiting)} are not"
            )


def head_num(url: str) -> int:
    """Return the number of a ledger's newest block."""
    with closing(LedgerClient(LedgerPlace.here(url))) as ledger:
        return ledger.head_num()


def transactions_in_blocks(url: str, first: int, batch_ids: Collection[str]) -> int:
    """Count the transactions of these batches in the blocks from number `first` on."""
    with closing(LedgerClient(LedgerPlace.here(url))) as ledger:
        return sum(
            len(batch.transactions)
            for block in ledger.blocks(first)
            for batch in block.batches
            if batch.header_signature in batch_ids
        )
