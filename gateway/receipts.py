"""Receipts: signed once a device's trip is sealed, all of it committed and all of it stored.

A receipt names the copies that there are. While the gateway's policy lacks one
it is provisional, and signed anew whenever the copies become others; nothing
is ever said of a copy that is in no manifest at that moment. Of two receipts for
the same visit the one that was signed later says so, whatever the clock did: the
truck tells by that which one is true.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from contracts.copies import Policy
from contracts.errors import WaysealError
from contracts.keys import Signer
from contracts.proto.wire_pb2 import Receipt, ReceiptBody, StoredRecording
from contracts.receipt import body_of, lacking, sign_receipt
from contracts.records.clock import now_ms
from gateway.completed import Completed
from gateway.inbox import Inbox, KeptReceipt
from storage.recordings.manifest import StoredRecording as Manifest

LOOK_EVERY_S: Final = 5.0
"""Between two looks at the copies of what has a provisional receipt, unless they changed here."""
NO_COPY: Final = "a recording has no whole copy here"

_log = logging.getLogger(__name__)


class Receipts:
    """Signs, keeps and sends the receipts of one gateway; used by several threads."""

    def __init__(
        self,
        inbox: Inbox,
        completed: Completed,
        manifest: Callable[[bytes], Manifest | None],
        signer: Signer,
        *,
        site_id: str,
        policy: Policy,
        confirmations: int,
        send: Callable[[str, bytes], None],
    ) -> None:
        """Prepare; nothing is signed yet.

        Args:
            inbox: Where visits are, and receipts are kept.
            completed: Tells what is committed, and how deep.
            manifest: Tells which copies of a recording there are; None: it is not whole.
            signer: The gateway's key.
            site_id: Where this is.
            policy: The copies that a final receipt needs.
            confirmations: Blocks upon the one that a receipt names, before it is given.
            send: Takes device and bytes of a receipt; may lose it.
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
        """Have all provisional receipts looked at: a recording has a copy more."""
        self._changed.set()

    def awaited(self, trip_id: str, device_id: str) -> str:
        """Return what the next receipt of a visit waits for besides the policy; empty: unknown."""
        return self._awaited.get((trip_id, device_id), "")

    def issue(self) -> bool:
        """Sign and send every receipt that is due; say whether there was one.

        Raises:
            UnavailableError: The ledger, the index or the inbox did not answer.
        """
        issued, look = False, self._is_due()
        completed: set[tuple[str, str]] = set()
        for trip_id, device_id, kept in self._inbox.open_visits():
            body = body_of(kept.wire) if kept else self._completed.body(trip_id, device_id)
            if body is not None:
                completed.add((trip_id, device_id))
                if look or kept is None:
                    issued |= self._issue(body)
        self._forget_others(completed)
        return issued

    def repeat(self, device_id: str, trip_ids: Iterable[str]) -> None:
        """Send again the receipts of trips that a device still asks about, as true as they are now.

        Who asks has its copy yet: should copies be gone that the receipt on record names, the
        device gets another receipt, or none while there is no copy at all.
        """
        for trip_id in set(trip_ids):
            try:
                self._repeat(trip_id, device_id)
            except WaysealError as error:
                _log.warning("no receipt for trip %s of %s now: %s", trip_id, device_id, error)

    def _repeat(self, trip_id: str, device_id: str) -> None:
        with self._lock:
            kept = self._inbox.receipt(trip_id, device_id)
            if kept is None:
                return
            body = self._renewed(body_of(kept.wire))
            if body is not None:
                wire = self._kept(kept, body) or self._keep(kept, body)
                self._send(device_id, wire)
            elif kept.final and self.awaited(trip_id, device_id) == NO_COPY:
                # Open again, so that the next one follows as soon as there is what it may say.
                self._inbox.put_receipt(trip_id, device_id, kept.wire, final=False)

    def _issue(self, said: ReceiptBody) -> bool:
        """Sign, keep and send a visit's receipt, unless it would say nothing new."""
        with self._lock:
            body = self._renewed(said)
            kept = self._inbox.receipt(said.trip_id, said.device_id)
            if body is None or self._kept(kept, body) is not None:
                return False
            self._send(body.device_id, self._keep(kept, body))
            return True

    def _kept(self, kept: KeptReceipt | None, body: ReceiptBody) -> bytes | None:
        """Return the receipt on record if it says what `body` says, under our key of today."""
        if kept is None or kept.final is bool(body.lacking):
            return None
        if Receipt.FromString(kept.wire).gateway_public_key != self._signer.public_key:
            return None
        said = body_of(kept.wire)
        same = said.recordings == body.recordings and said.lacking == body.lacking
        return kept.wire if same else None

    def _keep(self, before: KeptReceipt | None, body: ReceiptBody) -> bytes:
        said_ms = body_of(before.wire).issued_at_ms if before else 0
        body.issued_at_ms = max(now_ms(), said_ms + 1)
        wire = sign_receipt(self._signer, body).SerializeToString()
        final = not body.lacking
        self._inbox.put_receipt(body.trip_id, body.device_id, wire, final=final)
        _log.info(
            "%s receipt for trip %s of %s%s",
            "final" if final else "provisional",
            body.trip_id,
            body.device_id,
            "".join(f"; {each}" for each in body.lacking[:1]),
        )
        return wire

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
        """Return what a visit's receipt says at this moment; None while it must wait."""
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
        except WaysealError as error:  # one recording's manifest holds up no other visit
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
        """Return what is stored of a recording, or None while it is whole nowhere."""
        stored = self._manifest(sha256)
        if stored is None or not stored.copies:
            return None
        return StoredRecording(
            sha256=stored.sha256,
            size=stored.size,
            tree_root=stored.tree_root,
            copies=map(str, stored.copies),
        )
