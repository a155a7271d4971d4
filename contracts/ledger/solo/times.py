"""Begins blocks with the time: the injector `block_info`.

Source: Sawtooth 1.2 architecture guide, "Injecting Batches and On-Chain Block Validation Rules".
"""

import logging
from collections.abc import Callable
from typing import Final

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.engine.blocks import StoredBlock
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.execution import blocktimes
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.sawtooth.batches import parse_header
from contracts.sawtooth.block_info import (
    ADDRESSES,
    SYNC_TOLERANCE_S,
    block_info_batch,
    latest_block_info,
)

_LOG = logging.getLogger(__name__)

REPEATED_S: Final = 10
"""Time, seconds, for which rounds that make no block share one batch. A time that a processor
read in one of them stays true in the next."""
_ADDRESSES: Final = 2 * len(ADDRESSES)
"""Inputs and outputs of the batch."""
_NO_TIME: Final = "blocks have no time"
_BEHIND: Final = "the clock is behind, blocks repeat the newest time until it has caught up"


class Times:
    """Makes the batch with the time of the block before.

    A clock that runs back never stops the ledger: the time of blocks then stands still until the
    clock has caught up, which is logged.

    Args:
        signer: Signs blocks.
        now: Returns the time, seconds since 1970, UTC.
    """

    def __init__(self, signer: Signer, now: Callable[[], float]) -> None:
        self._signer = signer
        self._now = now
        self._said = self._head_id = ""
        self._made_s = 0
        self._batch: VerifiedBatch

    def begin(self, candidate: Candidate, head: StoredBlock) -> None:
        """Begin the block after `head` with the time; without it, if state is not up to date."""
        now_s = int(self._now())
        try:
            latest = latest_block_info(candidate.read)
        except RejectedError as error:
            self._say(_NO_TIME, str(error))
            return
        before_s = now_s if latest is None else latest.timestamp
        if head.id != self._head_id or not 0 <= now_s - self._made_s <= REPEATED_S:
            self._head_id, self._made_s = head.id, now_s
            before_id = "" if latest is None else latest.header_signature
            self._batch = self._build(head, before_id, max(now_s, before_s))
        refused = candidate.inject(self._batch, blocktimes.apply)
        if refused is not None:
            self._say(_NO_TIME, refused.message)
        elif before_s > now_s + SYNC_TOLERANCE_S:
            self._say(_BEHIND, f"{now_s} s since 1970, the newest block's time is {before_s}")
        else:
            self._said = ""

    def _build(self, head: StoredBlock, before_id: str, time_s: int) -> VerifiedBatch:
        """Return the batch about `head`; the newest entry's id stands for the block before it.

        The two differ once, after a replay: the entries in state name the blocks of the old chain.
        """
        header = BlockHeader()
        header.CopyFrom(head.header)
        header.previous_block_id = before_id or header.previous_block_id
        batch = block_info_batch(self._signer, header, head.id, time_s)
        headers = [parse_header(transaction) for transaction in batch.transactions]
        return VerifiedBatch(batch, headers, batch.ByteSize(), _ADDRESSES)

    def _say(self, what: str, detail: str) -> None:
        """Log a trouble once, until it is over."""
        if what != self._said:
            self._said = what
            _LOG.error("%s: %s", what, detail)
