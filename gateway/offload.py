"""The offload saga: from held to committed, receipted, and allowed to be forgotten on the truck.

Its state is the inbox, the recordings and the ledger, nothing else, and each step
can be repeated; so a gateway that was killed goes on where it was:

    held -> submitted -> committed        every batch of readings, in its chain's order
    committed -> submitted                what a ledger that went back has no more
    offered -> whole, read here -> digest committed    every recording
    sealed, all of it committed and whole -> receipt, provisional while the policy lacks a copy
    copies that followed -> final receipt
"""

import logging
from collections.abc import Iterator
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.ledger import BatchStatus, LedgerClient
from contracts.payload import decode
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Status
from contracts.sawtooth.transactions import parse_header
from gateway.inbox import HeldBatch, Inbox, Offer, State
from gateway.ledgerfacts import LedgerFacts
from gateway.network import Network
from gateway.receipts import Receipts
from gateway.recheck import Recheck
from gateway.worker import Worker
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.stages import Stage, Stages, Untold, timed

SUBMIT_BATCHES_MAX: Final = 20
"""Batches of one chain in one BatchList: enough to fill a block, few enough to bound memory."""
SUBMITTED_MAX: Final = 500
"""Batches at the ledger whose outcome is not known yet."""
STATUS_WAIT_S: Final = 1
IDLE_S: Final = 1.0

LOST: Final = "the ledger went back behind this batch, whose bytes were dropped here"

_UNKNOWN: Final = BatchStatus(Status.UNKNOWN, "")

_log = logging.getLogger(__name__)


class OffloadSaga:
    """Moves whatever can be moved, in a thread of its own, and waits when nothing can.

    Attributes:
        worker: The thread; to be woken when the inbox grew, a recording is whole, or a block came.
    """

    def __init__(
        self,
        inbox: Inbox,
        ledger: LedgerClient,
        network: Network,
        facts: LedgerFacts,
        recordings: RecordingStore,
        receipts: Receipts,
        recheck: Recheck,
        stages: Stages | None = None,
    ) -> None:
        self._inbox = inbox
        self._ledger = ledger
        self._network = network
        self._facts = facts
        self._recordings = recordings
        self._receipts = receipts
        self._recheck = recheck
        self._stages = stages or Untold()
        self._blocked: dict[str, str] = {}
        self.worker = Worker("offload", self.step, idle_s=IDLE_S)

    def blocked_by(self) -> dict[str, str]:
        """Return, for each batch that cannot go yet, the transaction that it waits for."""
        return dict(self._blocked)

    def step(self) -> bool:
        """Do what can be done once; say whether anything moved.

        Raises:
            RejectedError: The ledger is another one than before.
            UnavailableError: The ledger, the inbox or a disk did not answer.
        """
        self._network.check()
        moved = self._recheck.run()
        moved |= self._settle()
        blocked: dict[str, str] = {}
        for chain in self._inbox.chains(SUBMIT_BATCHES_MAX):
            moved |= self._submit(list(self._ready(chain, blocked)))
        self._blocked = blocked
        for offer in self._inbox.offers_in(State.HELD):
            moved |= self._submit_digest(offer)
        return self._receipts.issue() or moved

    def _settle(self) -> bool:
        """Learn what became of the batches at the ledger."""
        waiting = self._inbox.ids_in(State.SUBMITTED, SUBMITTED_MAX)
        if not waiting:
            return False
        moved = False
        with timed(self._stages, Stage.LEDGER):
            found = self._ledger.statuses(waiting, wait_s=STATUS_WAIT_S)
        for batch_id in waiting:
            answer = found.get(batch_id, _UNKNOWN)
            if answer.status is Status.PENDING:
                continue
            moved = True
            if answer.status is Status.COMMITTED:
                self._inbox.mark([batch_id], State.COMMITTED)
            elif answer.status is Status.INVALID:
                self._quarantine(batch_id, f"the ledger says: {answer.reason}")
            else:
                self._repeat(batch_id)
        return moved

    def _repeat(self, batch_id: str) -> None:
        """Hand over again what the ledger lost: in the queue when it restarted, or by going back.

        A batch that had its receipt may have given its bytes up for others.
        """
        held = self._inbox.batch(batch_id)
        if held is not None and not held.wire:
            _log.error("batch %s… is on the ledger no more, and not here: lost", batch_id[:16])
            self._inbox.mark([batch_id], State.LOST, LOST)
            return
        _log.warning("batch %s… is unknown to the ledger, submitted again", batch_id[:16])
        self._inbox.mark([batch_id], State.HELD)

    def _ready(self, chain: list[HeldBatch], blocked: dict[str, str]) -> Iterator[HeldBatch]:
        """Yield the batches from the front of a chain that the ledger can take now."""
        ends: set[str] = set()
        started = False
        for held in chain:
            before = held.dependency
            if before and before not in ends and not self._facts.has_transaction(before):
                blocked[held.batch_id] = before
                continue
            batch = parse(Batch, held.wire)
            reason = self._inadmissible(held, batch, started=started)
            if reason:
                self._quarantine(held.batch_id, reason)
                continue
            started = True
            ends.add(held.last_transaction_id)
            yield held

    def _inadmissible(self, held: HeldBatch, batch: Batch, *, started: bool) -> str:
        """Return why the ledger would not take a batch, or nothing."""
        for transaction in batch.transactions:
            signer = parse_header(transaction).signer_public_key
            if not self._facts.is_device_key(signer):
                return f"key {signer} never was a key of a registered device"
        first = decode(batch.transactions[0].payload)
        if not (started or isinstance(first, StartTrip) or self._facts.has_trip(held.trip_id)):
            return f"trip {held.trip_id} does not exist"
        return ""

    def _submit(self, ready: list[HeldBatch]) -> bool:
        """Hand batches to the ledger, in one list."""
        if not ready:
            return False
        # Marked first: after a kill in between, the ledger is asked, and answers UNKNOWN.
        ids = [held.batch_id for held in ready]
        self._inbox.mark(ids, State.SUBMITTED)
        try:
            with timed(self._stages, Stage.LEDGER, sum(len(held.wire) for held in ready)):
                self._ledger.submit([parse(Batch, held.wire) for held in ready])
        except UnavailableError:
            self._inbox.mark(ids, State.HELD)
            raise
        except RejectedError as error:
            self._submit_apart(ready, str(error))
        return True

    def _submit_apart(self, ready: list[HeldBatch], reason: str) -> None:
        """Find the batch that made the ledger refuse a whole list, by halves."""
        if len(ready) == 1:
            self._quarantine(ready[0].batch_id, reason)
            return
        half = len(ready) // 2
        self._submit(ready[:half])
        self._submit(ready[half:])

    def _submit_digest(self, offer: Offer) -> bool:
        """Hand a recording's digest to the ledger, once its bytes are here and its trip sealed.

        A recording without a copy is another site's word: until its bytes were read here, they
        neither speak for the digest nor against it.
        """
        held = self._inbox.batch(offer.batch_id)
        stored = self._stored(offer.recording)
        if held is None or stored is None or not stored.copies:
            return False
        if not self._facts.has_transaction(held.dependency):
            return False
        if not stored.fits(offer.size, offer.tree_root):
            self._quarantine(
                held.batch_id,
                f"the recording has {stored.size} bytes and tree root {stored.tree_root.hex()}, "
                f"its digest says {offer.size} and {offer.tree_root.hex()}",
            )
            return True
        return self._submit([held])

    def _stored(self, recording: bytes) -> StoredRecording | None:
        """Return a whole recording's manifest; one that cannot be read holds up no other offer."""
        try:
            return self._recordings.manifest(recording)
        except WaysealError as error:
            _log.warning("digest of recording %s waits: %s", recording.hex(), error)
            return None

    def _quarantine(self, batch_id: str, reason: str) -> None:
        _log.warning("batch %s… quarantined: %s", batch_id[:16], reason)
        self._inbox.mark([batch_id], State.QUARANTINED, reason)
