"""Judges whether a recording's copies may be deleted, by its trips and the ledger.

Every doubt keeps them: a ledger that does not answer, an index that is behind,
a digest that is not committed or not deep enough, a visit without its final
receipt, a legal hold on any trip with the recording, announced or committed, or an
automatic hold on the recording.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from contracts.errors import RejectedError, UnavailableError
from contracts.receipt import body_of
from gateway.intake.held import Offer, State
from gateway.intake.inbox import Inbox
from gateway.records.blocks import BlockRecord
from gateway.records.records import Records
from gateway.retention.autoholds import AutomaticHolds, words
from gateway.retention.holdends import HoldEnds
from storage.recordings.manifest import StoredRecording

HEADS_MAX: Final = 64
"""Blocks that the index may take in while the ledger is asked for its head."""


class KeptError(RejectedError):
    """The recording must be kept; the message says why."""


class Ledger(Protocol):
    """The ledger's head; all that retention asks the ledger for."""

    def head_id(self) -> str:
        """Return the id of its newest block.

        Raises:
            UnavailableError: It did not answer.
        """
        ...


class LedgerCheck(Protocol):
    """Compares the ledger with the one that this gateway belongs to."""

    def check(self) -> None:
        """Check that the ledger is the same one as before.

        Raises:
            RejectedError: It is another ledger.
            UnavailableError: It did not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Standing:
    """The grounds on which a recording may be deleted.

    Attributes:
        trip_ids: The trips with the recording, none of them under legal hold.
        block_num: Number of the ledger's head at that time.
        block_id: Id of that block.
        genesis_id: Id of the ledger's first block.
        hold_ends: Numbers of the ends of automatic holds that let go of it.
    """

    trip_ids: tuple[str, ...]
    block_num: int
    block_id: str
    genesis_id: str
    hold_ends: tuple[int, ...]


class Judge:
    """Judges by the ledger, the records and the inbox, in the one thread of retention.

    Args:
        inbox: Holds the offers made here, and the receipts.
        records: Tell which digests are committed.
        ledger: Its head shows whether the records are up to date.
        network: Checks that it is our ledger.
        hold_ends: The automatic holds that a person ended.
        confirmations: Blocks that must follow the block with the digest.
    """

    def __init__(
        self,
        inbox: Inbox,
        records: Records,
        ledger: Ledger,
        network: LedgerCheck,
        hold_ends: HoldEnds,
        *,
        confirmations: int,
    ) -> None:
        self._inbox = inbox
        self._records = records
        self._ledger = ledger
        self._network = network
        self._hold_ends = hold_ends
        self._confirmations = confirmations
        self._looked: tuple[str, AutomaticHolds] | None = None

    def check_released(self, recording: StoredRecording) -> None:
        """Check that a whole recording is committed and has a final receipt; ignores holds.

        Raises:
            KeptError: It is not committed, or has no final receipt yet.
        """
        head = self._records.blocks.head()
        if head is None:
            raise KeptError("the index is empty")
        offers = self._inbox.offers_of(recording.sha256)
        receipted = [offer for offer in offers if self._is_receipted(offer, recording)]
        if not receipted:
            raise KeptError("no visit with the recording has ended here with a final receipt")
        for offer in receipted:
            self._check_depth(offer, recording, head.block_num)

    def awaited(self) -> set[bytes]:
        """Return the recordings of visits that have no final receipt yet."""
        return {
            recording
            for trip_id, device_id, _ in self._inbox.visits.open()
            for recording, _, _ in self._inbox.visits.offered(trip_id, device_id)
        }

    def allow(self, recording: StoredRecording) -> Standing:
        """Return the grounds on which a whole recording may be deleted now.

        Raises:
            KeptError: It must be kept.
            UnavailableError: The ledger did not answer, or the index is not at its head.
        """
        head = self._head()
        self.check_released(recording)
        return self._not_held(recording.sha256, head)

    def allow_partial(self, recording_id: bytes) -> Standing:
        """Return the grounds on which a partial upload may be deleted now: it is under no hold.

        Raises:
            KeptError: It must be kept.
            UnavailableError: The ledger did not answer, or the index is not at its head.
        """
        return self._not_held(recording_id, self._head())

    def begin_round(self) -> None:
        """Forget what was known of automatic holds: another round of retention begins."""
        self._looked = None

    def _holds(self) -> AutomaticHolds:
        """Return the automatic holds as they are known at the index's head of now.

        A round asks for many recordings of one trip. A block more, or one that was taken back,
        makes all be read again; an end of this round only lets go in the next one.
        """
        head = self._records.blocks.head()
        block_id = head.block_id if head else ""
        if self._looked is None or self._looked[0] != block_id:
            made = AutomaticHolds(self._records, self._hold_ends, self._inbox)
            self._looked = block_id, made
        return self._looked[1]

    def _head(self) -> BlockRecord:
        """Return the ledger's head, which the index has taken in.

        Raises:
            UnavailableError: The ledger did not answer, or the index is behind it.
        """
        self._network.check()
        head_id = self._ledger.head_id()
        for block in self._records.blocks.newest(HEADS_MAX):
            if block.block_id == head_id:
                return block
        raise UnavailableError(f"the index has not reached the ledger's head, {head_id[:16]}…")

    def _is_receipted(self, offer: Offer, recording: StoredRecording) -> bool:
        """Say whether an offer's visit ended with a final receipt for exactly this recording.

        Raises:
            KeptError: The visit has not ended, and still may.
        """
        known = self._inbox.standing(offer.batch_id)
        state = known.state if known else State.LOST
        if state is State.QUARANTINED:
            return False  # or a device could keep anything for ever; holds on its trip still count
        if state is not State.COMMITTED:
            raise KeptError(f"its digest for trip {offer.trip_id} is {state}, not committed")
        kept = self._inbox.visits.receipt(offer.trip_id, offer.device_id)
        if kept is None or not kept.final:
            raise KeptError(
                f"the visit of {offer.device_id} with trip {offer.trip_id} has not ended"
            )
        body = body_of(kept.wire)
        if not self._records.blocks.has(body.block_num, body.block_id):
            raise KeptError(f"block {body.block_num} of its receipt is not on the ledger")
        named = {each.sha256: (each.size, each.tree_root) for each in body.recordings}
        said = named.get(recording.sha256)
        return said is not None and recording.fits(*said)

    def _check_depth(self, offer: Offer, recording: StoredRecording, head_num: int) -> None:
        depths = [
            head_num - found.block_num
            for found in self._records.digests.of_recording(recording.sha256)
            if found.digest.trip_id == offer.trip_id and found.fits(recording)
        ]
        if not depths or max(depths) < self._confirmations:
            raise KeptError(
                f"its digest for trip {offer.trip_id} has {max(depths, default=0)} of "
                f"{self._confirmations} confirmations"
            )

    def _not_held(self, recording_id: bytes, head: BlockRecord) -> Standing:
        """Check for holds on every trip with the recording, committed or only announced."""
        announced = {offer.trip_id for offer in self._inbox.offers_of(recording_id)}
        trip_ids = sorted(announced | self._records.digests.trip_ids(recording_id))
        for trip_id in trip_ids:
            for hold in self._records.trips.holds_in_force(trip_id):
                placed = hold.placed
                raise KeptError(
                    f"trip {trip_id} is under hold {placed.hold_id} of {placed.party_id}"
                )
        ends = set()
        for held in self._holds().of_recording(recording_id):
            if held.end is None:
                raise KeptError(f"trip {held.ground.trip_id} holds it: {words(held.ground)}")
            ends.add(held.end.number)
        blocks = self._records.blocks
        # The index may have been cut back during the checks.
        if not blocks.has(head.block_num, head.block_id):
            raise UnavailableError(f"block {head.block_num} is no longer on the ledger")
        return Standing(
            tuple(trip_ids),
            head.block_num,
            head.block_id,
            blocks.genesis_id() or "",
            tuple(sorted(ends)),
        )
