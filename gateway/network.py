"""Which ledger this gateway belongs to: the one whose first block it saw first.

One gateway serves one network for good. What its inbox calls committed, and its
receipts, speak of that ledger; on another one they would be false.
"""

import logging

from contracts.errors import RejectedError
from contracts.ledger import LedgerClient
from gateway.inbox import Inbox
from gateway.index.store import IndexStore

_log = logging.getLogger(__name__)


class Network:
    """Compares the ledger's first block with the one on record, until it was found the same."""

    def __init__(self, ledger: LedgerClient, inbox: Inbox, index: IndexStore) -> None:
        self._ledger = ledger
        self._inbox = inbox
        self._index = index
        self._checked = False

    def check(self) -> None:
        """Make sure that the ledger is ours; its first block is put on record the first time.

        Raises:
            RejectedError: It is another one.
            UnavailableError: It did not answer.
        """
        if self._checked:
            return
        found = self._ledger.genesis().header_signature
        expected = self._inbox.genesis_id() or found
        if found != expected:
            raise RejectedError(
                f"the ledger begins with block {found[:16]}…, this gateway's data belong to the "
                f"one that begins with {expected[:16]}…; point ledger.url back at it, or give the "
                f"gateway a new data directory"
            )
        self._inbox.put_genesis_id(found)
        if self._index.block_id(0) not in (None, found):
            _log.warning("the index is of another ledger; made anew")
            self._index.cut(-1)
        self._checked = True
