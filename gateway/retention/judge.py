"""Whether a recording's copies may be deleted at all, as far as trips and the ledger say.

Every doubt keeps them: a ledger that does not answer, an index that is behind,
a digest that is not committed or not deep enough, a visit without its final
receipt, a hold on any trip that has the recording, announced or committed.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from contracts.errors import RejectedError, UnavailableError
from contracts.proto.payload_pb2 import RecordVideo
from contracts.receipt import body_of
from gateway.inbox import Inbox, Offer, State
from gateway.index.holds import holds_in_force
from gateway.index.store import IndexStore
from storage.recordings.manifest import StoredRecording

HEADS_MAX: Final = 64
"""Blocks that the index may have taken in since the ledger was asked for its head."""


class KeptError(RejectedError):
    """The recording must be kept; the message says why."""


class Ledger(Protocol):
    """The ledger, as far as retention asks it."""

    def head_id(self) -> str:
        """Return the id of its newest block.

        Raises:
            UnavailableError: It did not answer.
        """
        ...


class Network(Protocol):
    """Knows which ledger is ours."""

    def check(self) -> None:
        """Make sure that the ledger is.

        Raises:
            RejectedError: It is another one.
            UnavailableError: It did not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Standing:
    """What was so when it was found that a recording may go.

    Attributes:
        trip_ids: The trips that have it, none of them under hold.
        block_num: Of the ledger's head at that time.
        block_id: Of that block.
        genesis_id: Which ledger.
    """

    trip_ids: tuple[str, ...]
    block_num: int
    block_id: str
    genesis_id: str


class Judge:
    """Asks the ledger, the index that follows it, and the inbox.

    Args:
        inbox: What was announced here, and the receipts.
        index: What is committed.
        ledger: Its head shows whether the index is up to date.
        network: Makes sure that it is our ledger.
        confirmations: Blocks that must be upon the one with the digest.
    """

    def __init__(
        self,
        inbox: Inbox,
        index: IndexStore,
        ledger: Ledger,
        network: Network,
        *,
        confirmations: int,
    ) -> None:
        self._inbox = inbox
        self._index = index
        self._ledger = ledger
        self._network = network
        self._confirmations = confirmations

    def check_released(self, recording: StoredRecording) -> None:
        """Check that a whole recording is committed and finally receipted; holds are not asked.

        Raises:
            KeptError: It is not, or not yet.
        """
        head = self._index.head()
        if head is None:
            raise KeptError("the index is empty")
        offers = self._inbox.offers_of(recording.sha256)
        receipted = [offer for offer in offers if self._is_receipted(offer, recording)]
        if not receipted:
            raise KeptError("no visit with it has ended here with a final receipt")
        for offer in receipted:
            self._check_depth(offer, recording, head[0])

    def awaited(self) -> set[bytes]:
        """Return the recordings of visits that have no final receipt yet."""
        return {
            recording
            for trip_id, device_id, _ in self._inbox.open_visits()
            for recording, _, _ in self._inbox.offered(trip_id, device_id)
        }

    def allow(self, recording: StoredRecording) -> Standing:
        """Return on what grounds a whole recording may go now.

        Raises:
            KeptError: It must be kept.
            UnavailableError: The ledger did not answer, or the index is not at its head.
        """
        head = self._head()
        self.check_released(recording)
        return self._not_held(recording.sha256, head)

    def allow_partial(self, recording_id: bytes) -> Standing:
        """Return on what grounds an upload that never became whole may go now: no hold is on it.

        Raises:
            KeptError: It must be kept.
            UnavailableError: The ledger did not answer, or the index is not at its head.
        """
        return self._not_held(recording_id, self._head())

    def _head(self) -> tuple[int, str]:
        """Return number and id of the ledger's head, which the index has taken in.

        Raises:
            UnavailableError: It did not answer, or the index has not come that far.
        """
        self._network.check()
        head_id = self._ledger.head_id()
        for block_num, block_id in self._index.query(
            "SELECT block_num, block_id FROM blocks ORDER BY block_num DESC LIMIT ?", HEADS_MAX
        ):
            if block_id == head_id:
                return int(block_num), head_id
        raise UnavailableError(f"the index has not come to the ledger's head, {head_id[:16]}…")

    def _is_receipted(self, offer: Offer, recording: StoredRecording) -> bool:
        """Say whether the visit of an offer ended with a final receipt for this very recording.

        Raises:
            KeptError: It has not, and may yet.
        """
        standing = self._inbox.standing(offer.batch_id)
        state = standing[1] if standing else State.LOST
        if state is State.QUARANTINED:
            return False  # a device could else keep anything for ever; its trip's holds count
        if state is not State.COMMITTED:
            raise KeptError(f"its digest for trip {offer.trip_id} is {state}, not committed")
        kept = self._inbox.receipt(offer.trip_id, offer.device_id)
        if kept is None or not kept.final:
            raise KeptError(f"the visit of {offer.device_id} with trip {offer.trip_id} goes on")
        body = body_of(kept.wire)
        if self._index.block_id(body.block_num) != body.block_id:
            raise KeptError(f"block {body.block_num} of its receipt is not on the ledger")
        named = {each.sha256: (each.size, each.tree_root) for each in body.recordings}
        said = named.get(recording.sha256)
        return said is not None and recording.fits(*said)

    def _check_depth(self, offer: Offer, recording: StoredRecording, head_num: int) -> None:
        rows = self._index.query(
            "SELECT action, block_num FROM videos WHERE sha256 = ? AND trip_id = ?",
            *(recording.sha256, offer.trip_id),
        )
        digests = [(RecordVideo.FromString(action), block_num) for action, block_num in rows]
        depths = [
            head_num - block_num
            for digest, block_num in digests
            if recording.fits(digest.size, digest.tree_root)
        ]
        if not depths or max(depths) < self._confirmations:
            raise KeptError(
                f"its digest for trip {offer.trip_id} has {max(depths, default=0)} of "
                f"{self._confirmations} confirmations"
            )

    def _not_held(self, recording_id: bytes, head: tuple[int, str]) -> Standing:
        """Check every trip that has the recording, by the ledger or by its own announcement."""
        rows = self._index.query("SELECT trip_id FROM videos WHERE sha256 = ?", recording_id)
        announced = [offer.trip_id for offer in self._inbox.offers_of(recording_id)]
        trip_ids = sorted({*announced, *(str(trip_id) for (trip_id,) in rows)})
        for trip_id in trip_ids:
            for hold in holds_in_force(self._index, trip_id):
                placed = hold.placed
                raise KeptError(
                    f"trip {trip_id} is under hold {placed.hold_id} of {placed.party_id}"
                )
        block_num, block_id = head
        if self._index.block_id(block_num) != block_id:  # cut while it was asked
            raise UnavailableError(f"block {block_num} was taken back by the ledger")
        return Standing(tuple(trip_ids), block_num, block_id, self._index.block_id(0) or "")
