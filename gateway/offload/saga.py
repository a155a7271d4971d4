"""The offload saga: from held to committed and receipted, until the truck may delete.

Its only state is the inbox, the recordings and the ledger, and each step can be
repeated; so a gateway that was killed continues where it was:

    held -> submitted -> committed        every batch of readings, in its chain's order
    committed -> submitted                after the ledger went back and lost it
    offered -> whole, read here -> digest committed    every recording
    sealed, committed and whole -> receipt, provisional while the policy asks for more copies
    further copies -> final receipt
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import NOT_OF_A_DEVICE
from contracts.ledger.client import BusyError, LedgerClient
from contracts.ledger.fromjson import BatchStatus
from contracts.proto.sawtooth_pb2 import Batch, BatchHeader
from contracts.sawtooth.batches import Status
from gateway.index.network import Network
from gateway.intake.held import End, HeldBatch, Offer, State
from gateway.intake.inbox import Inbox
from gateway.intake.refused import OnRefused, Refused, not_counted
from gateway.offload.ledgerfacts import LedgerFacts
from gateway.offload.parsed import Parsed, size_of
from gateway.offload.receipts import Receipts
from gateway.offload.recheck import Recheck
from gateway.offload.shares import fair_share
from gateway.worker import Worker
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.stages import NOT_RECORDED, Stage, Stages, timed

SUBMIT_BATCHES_MAX: Final = 200
"""Batches in one BatchList."""
SUBMIT_BYTES: Final = 1 << 20
"""A BatchList with so many bytes takes no further batch: it has enough readings, about a thousand,
that a block's own cost does not count, and little enough for memory."""
SUBMITTED_MAX: Final = 500
"""Batches at the ledger whose status is asked for in one request."""
AHEAD_BYTES_MAX: Final = 4 * SUBMIT_BYTES
"""With fewer bytes than this at the ledger, the next batches follow without a wait: while the
ledger makes a block of some lists, it checks the next. With so many of one chain, its next batches
wait: others have their turn."""
AHEAD_MAX: Final = 2 * SUBMIT_BATCHES_MAX
"""With so many batches of one chain at the ledger, its next ones wait too."""
STATUS_WAIT_S: Final = 1
OFFERS_LOOKED_AT_MAX: Final = 500
"""Digests of one device that one step looks at."""
MISSES_MAX: Final = 20
"""Missing transactions of one device that one step asks for; the order of chains is random."""
IDLE_S: Final = 1.0

LOST: Final = "the ledger went back and lost this batch, whose bytes were dropped here"

_UNKNOWN: Final = BatchStatus(Status.UNKNOWN, "")

_log = logging.getLogger(__name__)


class _Ahead:
    """How much of each chain is at the ledger.

    Attributes:
        size: Bytes of all.
    """

    def __init__(self, ends: Iterable[End]) -> None:
        self._batches: Counter[tuple[str, str]] = Counter()
        self._bytes: Counter[tuple[str, str]] = Counter()
        for trip_id, device_id, size in ends:
            self._batches[trip_id, device_id] += 1
            self._bytes[trip_id, device_id] += size
        self.size = self._bytes.total()

    def has_room(self, held: HeldBatch) -> bool:
        """Say whether further batches of a chain may follow now."""
        chain = (held.trip_id, held.device_id)
        return self._batches[chain] < AHEAD_MAX and self._bytes[chain] < AHEAD_BYTES_MAX


class OffloadSaga:
    """Moves batches and digests on in its own thread, and waits while none can move.

    Attributes:
        refused: Counts what the ledger refused.
        committed: Called when batches turn out to be committed: the index has a block to take.
        give_way: Called before each batch and each list.
        worker: The thread; wake it when the inbox grew, a recording is whole, or a block came.
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
        stages: Stages = NOT_RECORDED,
    ) -> None:
        self._inbox = inbox
        self._ledger = ledger
        self._network = network
        self._facts = facts
        self._recordings = recordings
        self._receipts = receipts
        self._recheck = recheck
        self._stages = stages
        self._blocked: dict[str, str] = {}
        self._waits = True
        self._misses: Counter[str] = Counter()
        self.refused: OnRefused = not_counted
        self.give_way: Callable[[], None] = lambda: None
        self.committed: Callable[[], None] = _tell_nobody
        self.worker = Worker("offload", self.step, idle_s=IDLE_S)

    def blocked_by(self) -> dict[str, str]:
        """Return, for each batch that must wait, the id of the transaction that it waits for."""
        return dict(self._blocked)

    def step(self) -> bool:
        """Move everything that can move, once; say whether anything did.

        A ledger whose queue is full gets nothing more in this step, and keeps no truck from its
        receipt whose batches are committed already.

        Raises:
            RejectedError: The ledger is not the same one as before.
            UnavailableError: The ledger, the inbox or a disk did not answer, or the queue is full.
        """
        self._network.check()
        moved = self._recheck.run()
        moved |= self._settle()
        self._misses.clear()
        blocked: dict[str, str] = {}
        at_ledger = self._inbox.ends_in(State.SUBMITTED)
        ahead, sent = _Ahead(at_ledger.values()), 0
        busy: BusyError | None = None
        try:
            for ready in self._lists(ahead, set(at_ledger), blocked):
                self.give_way()
                if self._submit(ready):
                    sent += size_of(ready)
        except BusyError as error:
            busy = error
        self._waits = not sent or ahead.size + sent >= AHEAD_BYTES_MAX
        moved |= sent > 0
        self._blocked = blocked
        self._misses.clear()
        moved |= busy is None and self._submit_digests()
        moved |= self._receipts.issue()
        if busy is not None:
            raise busy
        return moved

    def _submit_digests(self) -> bool:
        """Submit the digests of recordings that are whole; say whether any moved."""
        moved = False
        for offer in fair_share(
            self._inbox.offers_in(State.HELD), lambda offer: offer.device_id, OFFERS_LOOKED_AT_MAX
        ):
            moved |= self._submit_digest(offer)
        return moved

    def _settle(self) -> bool:
        """Ask for the status of the submitted batches, and mark them accordingly."""
        waiting = self._inbox.ids_in(State.SUBMITTED, SUBMITTED_MAX)
        if not waiting:
            return False
        with timed(self._stages, Stage.LEDGER):
            if self._waits:
                self._ledger.statuses(waiting[:1], wait_s=STATUS_WAIT_S)
            found = self._ledger.statuses(waiting)
        answers = {batch_id: found.get(batch_id, _UNKNOWN) for batch_id in waiting}
        by_status = {
            status: [each for each in waiting if answers[each].status is status]
            for status in Status
        }
        self._inbox.mark(by_status[Status.COMMITTED], State.COMMITTED)
        if by_status[Status.COMMITTED]:
            self.committed()
        self._take_back(
            {
                each: answers[each]
                for each in (*by_status[Status.INVALID], *by_status[Status.UNKNOWN])
            }
        )
        return len(by_status[Status.PENDING]) < len(waiting)

    def _take_back(self, answers: Mapping[str, BatchStatus]) -> None:
        """Quarantine what the ledger rejected, and hold again what it does not know.

        What follows a rejected batch is held, too, whatever the ledger says of it: it is as good as
        it was, and moves on once that batch does.
        """
        failed = [held for each in answers if (held := self._inbox.batch(each))]
        if not failed:
            return
        rejected = set(self._inbox.ends_in(State.QUARANTINED)) | {
            held.last_transaction_id
            for held in failed
            if answers[held.batch_id].status is Status.INVALID
        }
        for held in failed:
            answer = answers[held.batch_id]
            if held.wire and held.dependency in rejected:
                self._inbox.mark([held.batch_id], State.HELD)
                rejected.add(held.last_transaction_id)
            elif answer.status is Status.INVALID:
                self._quarantine(held.batch_id, f"the ledger rejected it: {answer.reason}")
            else:
                self._repeat(held)

    def _repeat(self, held: HeldBatch) -> None:
        """Hold a batch again that the ledger lost, in a restart or by going back.

        The bytes of a batch with a final receipt may have been dropped to make room.
        """
        if not held.wire:
            _log.error(
                "batch %s… is lost: gone from the ledger, and its bytes were dropped",
                held.batch_id[:16],
                extra={
                    "batch_id": held.batch_id,
                    "trip_id": held.trip_id,
                    "device_id": held.device_id,
                },
            )
            self._inbox.mark([held.batch_id], State.LOST, LOST)
            return
        _log.warning(
            "batch %s… is unknown to the ledger; submitting it again",
            held.batch_id[:16],
            extra={"batch_id": held.batch_id},
        )
        self._inbox.mark([held.batch_id], State.HELD)

    def _lists(
        self, ahead: _Ahead, ends: set[str], blocked: dict[str, str]
    ) -> Iterator[list[Parsed]]:
        """Yield lists of what can move, each with as many chains as it has room for.

        A list costs a sync of the inbox and a request, however short it is.

        Args:
            ahead: How much of each chain is at the ledger.
            ends: See `_ready`.
            blocked: See `_ready`.
        """
        one: list[Parsed] = []
        try:
            for chain in self._inbox.chains(SUBMIT_BATCHES_MAX, SUBMIT_BYTES):
                if chain and ahead.has_room(chain[0]):
                    ready = list(self._ready(chain, ends, blocked))
                    if len(one) + len(ready) > SUBMIT_BATCHES_MAX or size_of(one) >= SUBMIT_BYTES:
                        yield one
                        one = []
                    one += ready
        except WaysealError:  # of one chain, which keeps back none of those before it
            yield one
            raise
        yield one

    def _ready(
        self, chain: list[HeldBatch], ends: set[str], blocked: dict[str, str]
    ) -> Iterator[Parsed]:
        """Yield the first batches of a chain, as far as the ledger can take them now.

        Args:
            chain: The batches of one chain that are held.
            ends: The last transactions of what is at the ledger, which keeps the order; those of
                the yielded batches are added.
            blocked: Where a batch that must wait is noted.
        """
        stuck: set[str] = set()
        started = False
        for held in chain:
            before = held.dependency
            started |= before in ends
            follows = not before or before in ends
            if not follows and (before in stuck or not self._is_committed(before, held.device_id)):
                blocked[held.batch_id] = before
                stuck.add(held.last_transaction_id)
                continue
            self.give_way()
            parsed = Parsed(held, parse(Batch, held.wire))
            reason = self._inadmissible(parsed, started=started)
            if reason:
                self._quarantine(held.batch_id, reason)
                continue
            started = True
            ends.add(held.last_transaction_id)
            yield parsed

    def _is_committed(self, transaction_id: str, device_id: str) -> bool:
        """Ask the ledger for a transaction; not if too many of this device's were missing.

        A device whose chains wait for transactions that never come must not slow down the others.
        """
        if self._misses[device_id] >= MISSES_MAX:
            return False
        found = self._facts.has_transaction(transaction_id)
        self._misses[device_id] += not found
        return found

    def _inadmissible(self, parsed: Parsed, *, started: bool) -> str:
        """Return why the ledger would refuse a batch, or ""."""
        # Admission checked that one key signed the batch and all of its transactions.
        signer = parse(BatchHeader, parsed.batch.header).signer_public_key
        if not self._facts.is_device_key(signer):
            return f"key {signer} {NOT_OF_A_DEVICE}"
        trip_id = parsed.held.trip_id
        if not (started or parsed.starts_trip() or self._facts.has_trip(trip_id)):
            return f"trip {trip_id} does not exist"
        return ""

    def _submit(self, ready: list[Parsed]) -> bool:
        """Submit batches to the ledger, in one list."""
        if not ready:
            return False
        # Marked first: after a kill before the submission, the ledger answers UNKNOWN.
        ids = [parsed.held.batch_id for parsed in ready]
        self._inbox.mark(ids, State.SUBMITTED)
        try:
            with timed(self._stages, Stage.LEDGER, size_of(ready)):
                self._ledger.submit_wires([each.held.wire for each in ready])
        except UnavailableError:
            self._inbox.mark(ids, State.HELD)
            raise
        except RejectedError as error:
            self._submit_apart(ready, str(error))
        return True

    def _submit_apart(self, ready: list[Parsed], reason: str) -> None:
        """Find the batch that made the ledger refuse a list, by submitting halves."""
        if len(ready) == 1:
            self._quarantine(ready[0].held.batch_id, reason)
            return
        half = len(ready) // 2
        self._submit(ready[:half])
        self._submit(ready[half:])

    def _submit_digest(self, offer: Offer) -> bool:
        """Submit a recording's digest, once its bytes are here and its trip is sealed.

        A recording without a copy was stored by another site: until this site has read its bytes,
        they prove nothing about the digest.
        """
        held = self._inbox.batch(offer.batch_id)
        stored = self._stored(offer.recording)
        if held is None or stored is None or not stored.copies:
            return False
        if not self._is_committed(held.dependency, held.device_id):
            return False
        if not stored.fits(offer.size, offer.tree_root):
            self._quarantine(
                held.batch_id,
                f"the recording has {stored.size} bytes and tree root {stored.tree_root.hex()}, "
                f"its digest names {offer.size} bytes and {offer.tree_root.hex()}",
            )
            return True
        return self._submit([Parsed(held, parse(Batch, held.wire))])

    def _stored(self, recording: bytes) -> StoredRecording | None:
        """Return a whole recording's manifest, or None; other offers do not wait for a bad one."""
        try:
            return self._recordings.manifest(recording)
        except WaysealError as error:
            _log.warning(
                "digest of recording %s waits: %s",
                recording.hex(),
                error,
                extra={"recording_id": recording.hex()},
            )
            return None

    def _quarantine(self, batch_id: str, reason: str) -> None:
        self.refused(Refused.LEDGER)
        _log.warning(
            "batch %s… quarantined: %s", batch_id[:16], reason, extra={"batch_id": batch_id}
        )
        self._inbox.mark([batch_id], State.QUARANTINED, reason)


def _tell_nobody() -> None:
    """Do nothing."""
