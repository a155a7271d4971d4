"""Signs receipts: a device's trip gets one when it is sealed, committed and stored.

A receipt names the existing copies, and only copies that a manifest lists at
that moment. While the policy asks for further copies, the receipt is provisional,
and a new one is signed whenever the copies change. Of two receipts for the same
visit the later one has the later `issued_at_ms`, even if the clock was set back;
so the truck knows which one is valid.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from contracts.copies import Policy
from contracts.errors import WaysealError
from contracts.keys import SigningKey
from contracts.proto.wire_pb2 import Receipt, ReceiptBody, StoredRecording
from contracts.receipt import body_of, lacking, sign_receipt
from contracts.records.clock import now_ms
from gateway.intake.held import KeptReceipt
from gateway.intake.inbox import Inbox
from gateway.offload.ledgerfacts import Completed
from gateway.offload.shares import fair_share
from storage.recordings.manifest import StoredRecording as Manifest

LOOK_EVERY_S: Final = 5.0
"""Time between two checks of the copies behind provisional receipts; a change at this gateway is
checked at once."""
VISITS_ASKED_MAX: Final = 50
"""Visits of one device, none with a receipt yet, that one step asks the ledger about."""
SIGNED_AT_ONCE_MAX: Final = 16
"""Receipts that one transaction keeps: a truck that asks again waits for them, and a key in a token
takes its time for each."""
NO_COPY: Final = "a recording has no whole copy here"

_log = logging.getLogger(__name__)


class _Signed(NamedTuple):
    """A receipt that is not kept yet."""

    body: ReceiptBody
    wire: bytes


class Receipts:
    """Signs, keeps and sends the receipts of one gateway; used by several threads."""

    def __init__(
        self,
        inbox: Inbox,
        completed: Completed,
        manifest: Callable[[bytes], Manifest | None],
        signer: SigningKey,
        *,
        site_id: str,
        policy: Policy,
        confirmations: int,
        send: Callable[[str, bytes], None],
    ) -> None:
        """Prepare; nothing is signed yet.

        Args:
            inbox: Keeps visits and receipts.
            completed: Tells whether a visit is committed, and how deep.
            manifest: Returns a recording's manifest with its copies; None if it is not whole.
            signer: The gateway's key.
            site_id: The gateway's site.
            policy: The copies that a final receipt needs.
            confirmations: Blocks that must follow a receipt's block before it is signed.
            send: Takes device id and bytes of a receipt; may lose it.
        """
        self._inbox = inbox
        self._completed = completed
        self._manifest = manifest
        self._signer = signer
        self._site_id = site_id
        self._policy = policy
        self._confirmations = confirmations
        self._send = send
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._looked_s = -LOOK_EVERY_S
        self._awaited: dict[tuple[str, str], str] = {}

    def note_copies(self) -> None:
        """Have all provisional receipts looked at: a recording has a further copy."""
        self._changed.set()

    def awaited(self, trip_id: str, device_id: str) -> str:
        """Return why the next receipt of a visit waits, apart from the policy; empty if unknown."""
        return self._awaited.get((trip_id, device_id), "")

    def issue(self) -> bool:
        """Sign and send every receipt that is due; say whether any was.

        Raises:
            UnavailableError: The ledger, the index or the inbox did not answer.
        """
        look = self._is_due()
        visits, stuck = self._inbox.visits.open(), self._inbox.visits.stuck()
        waiting = {(trip_id, device_id) for trip_id, device_id, _ in visits}
        due = [body_of(kept.wire) for *_, kept in visits if look and kept is not None]
        asked = {
            (trip_id, device_id) for trip_id, device_id, kept in visits if kept is None
        } - stuck
        if asked:  # what the ledger decides now is asked about once it has decided
            moving = asked & self._inbox.visits.moving()
            asked, waiting = asked - moving, waiting - moving
        try:
            for visit in fair_share(sorted(asked), lambda visit: visit[1], VISITS_ASKED_MAX):
                body = self._completed.body(*visit)
                if body is not None:
                    due.append(body)
                else:
                    waiting.discard(visit)
        finally:  # an answer that fails keeps back no other visit
            issued = [self._issue(each) for each in _in_groups(due)]
        self._forget_others(waiting - stuck)
        return any(issued)

    def repeat(self, device_id: str, trip_ids: Iterable[str]) -> None:
        """Send again the receipts of trips that a device still asks about, brought up to date.

        A device that asks still has its copy. If copies that the kept receipt names are gone, the
        device gets a new receipt, or no receipt while a recording has no copy at all.
        """
        for trip_id in set(trip_ids):
            try:
                self._repeat(trip_id, device_id)
            except WaysealError as error:
                _log.warning(
                    "no receipt for trip %s of %s for now: %s",
                    trip_id,
                    device_id,
                    error,
                    extra={"trip_id": trip_id, "device_id": device_id},
                )

    def _repeat(self, trip_id: str, device_id: str) -> None:
        with self._lock:
            kept = self._inbox.visits.receipt(trip_id, device_id)
            if kept is None:
                return
            body = self._renewed(body_of(kept.wire))
            if body is not None:
                wire = self._kept(kept, body)
                if wire is None:
                    self._give([self._signed(kept, body)])
                else:
                    self._send(device_id, wire)
            elif kept.final and self.awaited(trip_id, device_id) == NO_COPY:
                # The visit is open again, so a new receipt follows once there is a copy.
                self._inbox.visits.put_receipt(trip_id, device_id, kept.wire, final=False)

    def _issue(self, said: Sequence[ReceiptBody]) -> bool:
        """Sign, keep and send receipts, except those that would say the same as the kept ones."""
        made: list[_Signed] = []
        with self._lock:
            try:
                for each in said:
                    body = self._renewed(each)
                    kept = self._inbox.visits.receipt(each.trip_id, each.device_id)
                    if body is not None and self._kept(kept, body) is None:
                        made.append(self._signed(kept, body))
            finally:  # a key that fails keeps back none that is signed
                self._give(made)
        return bool(made)

    def _kept(self, kept: KeptReceipt | None, body: ReceiptBody) -> bytes | None:
        """Return the kept receipt if it says the same as `body` under our present key."""
        if kept is None or kept.final is bool(body.lacking):
            return None
        if Receipt.FromString(kept.wire).gateway_public_key != self._signer.public_key:
            return None
        said = body_of(kept.wire)
        same = said.recordings == body.recordings and said.lacking == body.lacking
        return kept.wire if same else None

    def _signed(self, before: KeptReceipt | None, body: ReceiptBody) -> _Signed:
        said_ms = body_of(before.wire).issued_at_ms if before else 0
        body.issued_at_ms = max(now_ms(), said_ms + 1)
        return _Signed(body, sign_receipt(self._signer, body).SerializeToString())

    def _give(self, made: Sequence[_Signed]) -> None:
        """Keep signed receipts in one transaction, then send them."""
        self._inbox.visits.put_receipts(
            [(body.trip_id, body.device_id, wire, not body.lacking) for body, wire in made]
        )
        for body, wire in made:
            _log.info(
                "%s receipt for trip %s of %s%s",
                "provisional" if body.lacking else "final",
                body.trip_id,
                body.device_id,
                "".join(f"; {each}" for each in body.lacking[:1]),
                extra={"trip_id": body.trip_id, "device_id": body.device_id},
            )
            self._send(body.device_id, wire)

    def _is_due(self) -> bool:
        now_s = time.monotonic()
        if not self._changed.is_set() and now_s - self._looked_s < LOOK_EVERY_S:
            return False
        self._changed.clear()
        self._looked_s = now_s
        return True

    def _forget_others(self, visits: set[tuple[str, str]]) -> None:
        with self._lock:
            for visit in self._awaited.keys() - visits:
                del self._awaited[visit]

    def _renewed(self, said: ReceiptBody) -> ReceiptBody | None:
        """Return the visit's receipt as of now; None while it must wait."""
        visit = (said.trip_id, said.device_id)
        confirmations = self._completed.confirmations(said)
        if confirmations is None or confirmations < self._confirmations:
            self._awaited[visit] = (
                f"block {said.block_num} has {confirmations or 0} of {self._confirmations} "
                f"confirmations"
            )
            return None
        try:
            recordings = [self._stored(recording.sha256) for recording in said.recordings]
        except WaysealError as error:  # other visits do not wait for this recording
            self._awaited[visit] = str(error)
            return None
        body = ReceiptBody()
        body.CopyFrom(said)
        del body.recordings[:], body.lacking[:]
        body.recordings.extend(stored for stored in recordings if stored)
        if len(body.recordings) < len(recordings):
            self._awaited[visit] = NO_COPY
            return None
        self._awaited.pop(visit, None)
        body.lacking.extend(lacking(self._policy, body.recordings))
        body.confirmations = confirmations
        body.site_id = self._site_id
        return body

    def _stored(self, sha256: bytes) -> StoredRecording | None:
        """Return the receipt's entry for a recording, or None while there is no whole copy."""
        stored = self._manifest(sha256)
        if stored is None or not stored.copies:
            return None
        return StoredRecording(
            sha256=stored.sha256,
            size=stored.size,
            tree_root=stored.tree_root,
            copies=map(str, stored.copies),
        )


def _in_groups(due: Sequence[ReceiptBody]) -> Iterator[Sequence[ReceiptBody]]:
    for at in range(0, len(due), SIGNED_AT_ONCE_MAX):
        yield due[at : at + SIGNED_AT_ONCE_MAX]
