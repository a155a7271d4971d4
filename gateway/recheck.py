"""Looks again at what was committed, after the ledger went back behind it.

A fork takes blocks away, and so does a ledger that was restored from an older
copy. What the inbox calls committed, and its receipts, may then be of blocks
that are no more. Batches that are gone are handed over again; a receipt whose
block is gone is withdrawn, and signed anew once all that it tells of is back.
"""

import json
import logging
import threading
from typing import Final

from contracts.errors import WaysealError
from contracts.ledger import LedgerClient
from contracts.receipt import body_of
from gateway.inbox import Inbox, State
from gateway.index.store import IndexStore
from gateway.ledgerfacts import LedgerFacts

BATCHES_PER_QUESTION: Final = 1000

_log = logging.getLogger(__name__)


class Recheck:
    """Compares the inbox with the index: once after the start, and whenever the index was cut.

    At the start too, since a kill may come between the two, or the index be made anew.
    """

    def __init__(
        self, inbox: Inbox, index: IndexStore, ledger: LedgerClient, facts: LedgerFacts
    ) -> None:
        self._inbox = inbox
        self._index = index
        self._ledger = ledger
        self._facts = facts
        self._doubted = threading.Event()
        self._doubted.set()

    def doubt(self) -> None:
        """Have all looked at again; to be called after the index was cut, by any thread."""
        self._doubted.set()

    def run(self) -> bool:
        """Look again, if need be and the index is at the ledger's head; say if anything is gone.

        Raises:
            UnavailableError: The ledger, the inbox or the index did not answer.
        """
        if not self._doubted.is_set():
            return False
        head_id = self._ledger.head_id()
        head = self._index.head()
        if head is None or head[1] != head_id:
            return False
        self._doubted.clear()  # first, for the index may be cut again meanwhile
        try:
            self._facts.forget()
            withdrawn = self._withdraw_receipts()
            return self._ask_for_batches() or withdrawn
        except WaysealError:
            self._doubted.set()
            raise

    def _withdraw_receipts(self) -> bool:
        """Forget the receipts that name a block which is gone."""
        withdrawn = False
        for trip_id, device_id, wire in self._inbox.receipts():
            body = body_of(wire)
            if self._index.block_id(body.block_num) != body.block_id:
                self._inbox.withdraw_receipt(trip_id, device_id)
                withdrawn = True
                _log.error(
                    "receipt for trip %s of %s names block %d, %s…, which the ledger no longer "
                    "has: withdrawn; the device may have deleted its copy",
                    trip_id,
                    device_id,
                    body.block_num,
                    body.block_id[:16],
                )
        return withdrawn

    def _ask_for_batches(self) -> bool:
        """Take the committed batches that the index has not for submitted: their fate is asked."""
        gone, after = 0, 0
        while found := self._inbox.committed_after(after, BATCHES_PER_QUESTION):
            after = found[-1][0]
            names = [batch_id for _, batch_id in found]
            rows = self._index.query(
                "SELECT batch_id FROM batches WHERE batch_id IN (SELECT value FROM json_each(?))",
                json.dumps(names),
            )
            missing = set(names) - {batch_id for (batch_id,) in rows}
            self._inbox.mark(missing, State.SUBMITTED)
            gone += len(missing)
        if gone:
            _log.error("%d batches that were committed are not in the index: asked about", gone)
        return gone > 0
