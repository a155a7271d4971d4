"""Signs one action of a party, or changes of settings, and submits them in a batch."""

import time
from collections.abc import Sequence
from contextlib import closing
from typing import Final

from contracts.actions.payload import build
from contracts.actions.table import Action
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.ledger.fromjson import BatchStatus
from contracts.ledger.place import LedgerPlace
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.sawtooth.batches import Status, build_batch

COMMIT_TIMEOUT_S: Final = 60
UNKNOWN_POLL_S: Final = 0.1


def submit(signer: Signer, action: Action, at: str | LedgerPlace) -> str:
    """Sign an action, submit it alone, and return its transaction id once it is committed.

    Raises:
        RejectedError: The rules refuse the action.
        UnavailableError: The ledger does not answer, or does not commit the action in time.
    """
    transaction = build(signer, action, nonce=str(time.time_ns()))
    with closing(LedgerClient(at)) as ledger:
        commit(signer, [transaction], ledger)
    return transaction.header_signature


def commit(signer: Signer, transactions: Sequence[Transaction], ledger: LedgerClient) -> None:
    """Submit transactions in one batch, and return once it is committed.

    Raises:
        RejectedError: The rules refuse one, and so all.
        UnavailableError: The ledger does not answer, or does not commit it in time.
    """
    batch = build_batch(signer, transactions)
    ledger.submit([batch])
    status = _outcome(ledger, batch.header_signature)
    if status.status is Status.INVALID:
        raise RejectedError(status.reason)
    if status.status is not Status.COMMITTED:
        raise UnavailableError(f"not committed within {COMMIT_TIMEOUT_S} s: {status.status}")


def _outcome(ledger: LedgerClient, batch_id: str) -> BatchStatus:
    """Return the status of a batch, once it is decided or the time is up."""
    deadline = time.monotonic() + COMMIT_TIMEOUT_S
    while True:
        left_s = deadline - time.monotonic()
        status = ledger.statuses([batch_id], wait_s=max(1, round(left_s)))[batch_id]
        # For a moment, Sawtooth does not know a batch that it has accepted, and does not wait.
        if status.status is not Status.UNKNOWN or left_s <= 0:
            return status
        time.sleep(UNKNOWN_POLL_S)
