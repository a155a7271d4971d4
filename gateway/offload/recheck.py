"""Checks committed batches and receipts again after the ledger went back.

A fork removes blocks, and so does a ledger that was restored from an older
backup. Then batches that the inbox calls committed, and receipts, may belong to
blocks that no longer exist. Such batches are submitted again. A receipt whose
block is gone is withdrawn; a new one is signed once everything is committed again.
"""

import logging
import threading
from typing import Final

from contracts.errors import WaysealError
from contracts.ledger.client import LedgerClient
from contracts.receipt import body_of
from gateway.intake.held import State
from gateway.intake.inbox import Inbox
from gateway.offload.ledgerfacts import LedgerFacts
from gateway.records.records import Records

BATCHES_PER_QUESTION: Final = 1000

_log = logging.getLogger(__name__)


class Recheck:
    """Compares the inbox with the index: after the start, and whenever the index was cut back.

    It compares after the start too, because the process may have been killed between cut and
    comparison, or the index may have been rebuilt.
    """

    def __init__(
        self, inbox: Inbox, records: Records, ledger: LedgerClient, facts: LedgerFacts
    ) -> None:
        self._inbox = inbox
        self._records = records
        self._ledger = ledger
        self._facts = facts
        self._doubted = threading.Event()
        self._doubted.set()

    def doubt(self) -> None:
        """Have everything compared again; called after the index was cut back, from any thread."""
        self._doubted.set()

    def run(self) -> bool:
        """Compare, if needed and the index is at the ledger's head; say whether anything is gone.

        Raises:
            UnavailableError: The ledger, the inbox or the index did not answer.
        """
        if not self._doubted.is_set():
            return False
        head_id = self._ledger.head_id()
        head = self._records.blocks.head()
        if head is None or head.block_id != head_id:
            return False
        self._doubted.clear()  # first: the index may be cut again during the comparison
        try:
            self._facts.forget()
            withdrawn = self._withdraw_receipts()
            return self._ask_for_batches() or withdrawn
        except WaysealError:
            self._doubted.set()
            raise

    def _withdraw_receipts(self) -> bool:
        """Delete the receipts that name a block that is gone."""
        withdrawn = False
        for trip_id, device_id, wire in self._inbox.visits.receipts():
            body = body_of(wire)
            if not self._records.blocks.has(body.block_num, body.block_id):
                self._inbox.visits.withdraw_receipt(trip_id, device_id)
                withdrawn = True
                _log.error(
                    "receipt for trip %s of %s withdrawn: the ledger no longer has its block %d, "
                    "%s…; the device may have deleted its copy",
                    trip_id,
                    device_id,
                    body.block_num,
                    body.block_id[:16],
                    extra={"trip_id": trip_id, "device_id": device_id},
                )
        return withdrawn

    def _ask_for_batches(self) -> bool:
        """Mark committed batches that the index lacks as submitted; the saga asks for them."""
        gone, after = 0, 0
        while found := self._inbox.committed_after(after, BATCHES_PER_QUESTION):
            after = found[-1][0]
            missing = self._records.visits.uncommitted({batch_id for _, batch_id in found})
            self._inbox.mark(missing, State.SUBMITTED)
            gone += len(missing)
        if gone:
            _log.error("%d committed batches are missing from the index: asking the ledger", gone)
        return gone > 0
