"""The ledger that this gateway belongs to: the first one that it saw.

A gateway serves one network for good. The commits in its inbox and its receipts are true for that
ledger only.
"""

import logging

from contracts.errors import RejectedError
from contracts.ledger.client import LedgerClient
from gateway.index.store import IndexStore
from gateway.intake.inbox import Inbox

_log = logging.getLogger(__name__)


class Network:
    """Compares the ledger's first block with the one on record, until they have matched once.

    Attributes:
        genesis_block_id: Id of the ledger's first block; None before the ledger was ever reached.
    """

    def __init__(self, ledger: LedgerClient, inbox: Inbox, index: IndexStore) -> None:
        self._ledger = ledger
        self._inbox = inbox
        self._index = index
        self._checked = False
        self.genesis_block_id = inbox.genesis_id()

    def check(self) -> None:
        """Check that the ledger is ours; the first check puts its first block on record.

        Raises:
            RejectedError: It is another ledger.
            UnavailableError: The ledger did not answer.
        """
        if self._checked:
            return
        found = self._ledger.genesis().header_signature
        expected = self.genesis_block_id or found
        if found != expected:
            raise RejectedError(
                f"the ledger begins with block {found[:16]}…, but this gateway's data belong to "
                f"the ledger that begins with {expected[:16]}…; point ledger.url back at that one, "
                f"or, if this one goes on from it, run wayseal-gateway adopt URL; otherwise give "
                f"the gateway a new data directory"
            )
        self._inbox.put_genesis_id(found)
        self.genesis_block_id = found
        if self._index.block_id(0) not in (None, found):
            _log.warning("the index belongs to another ledger and is rebuilt")
            self._index.cut(-1)
        self._checked = True
