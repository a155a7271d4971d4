"""One party's word, signed and submitted alone."""

import time
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.ledger import LedgerClient
from contracts.payload import Action, build
from contracts.sawtooth.batches import Status, build_batch

COMMIT_TIMEOUT_S: Final = 60


def submit(signer: Signer, action: Action, ledger_url: str) -> str:
    """Sign an action, submit it alone, and return its transaction id once it is committed.

    Raises:
        RejectedError: The rules refuse it.
        UnavailableError: The ledger does not answer, or does not commit it in time.
    """
    transaction = build(signer, action, nonce=str(time.time_ns()))
    batch = build_batch(signer, [transaction])
    ledger = LedgerClient(ledger_url)
    try:
        ledger.submit([batch])
        answer = ledger.statuses([batch.header_signature], wait_s=COMMIT_TIMEOUT_S)
    finally:
        ledger.close()
    status = answer[batch.header_signature]
    if status.status is Status.INVALID:
        raise RejectedError(status.reason)
    if status.status is not Status.COMMITTED:
        raise UnavailableError(f"not committed within {COMMIT_TIMEOUT_S} s: {status.status}")
    return transaction.header_signature
