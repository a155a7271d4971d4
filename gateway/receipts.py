"""Receipts: signed once a device's trip is sealed, all of it committed and all of it stored."""

import logging
from collections.abc import Callable, Iterable

from contracts.keys import Signer
from contracts.proto.payload_pb2 import RecordVideo
from contracts.proto.state_pb2 import Chain
from contracts.proto.wire_pb2 import Receipt, ReceiptBody, StoredRecording
from contracts.receipt import sign_receipt
from contracts.records.clock import now_ms
from gateway.inbox import Inbox
from gateway.index.store import IndexStore
from gateway.ledgerfacts import LedgerFacts
from storage.recordings.store import RecordingStore

_log = logging.getLogger(__name__)


class Receipts:
    """Signs, keeps and sends the receipts of one gateway."""

    def __init__(
        self,
        inbox: Inbox,
        index: IndexStore,
        facts: LedgerFacts,
        recordings: RecordingStore,
        signer: Signer,
        *,
        site_id: str,
        send: Callable[[str, bytes], None],
    ) -> None:
        self._inbox = inbox
        self._index = index
        self._facts = facts
        self._recordings = recordings
        self._signer = signer
        self._site_id = site_id
        self._send = send

    def issue(self) -> bool:
        """Sign and send every receipt that is due; say whether there was one."""
        issued = False
        for trip_id, device_id in self._inbox.open_visits():
            body = self._body(trip_id, device_id)
            if body is not None:
                wire = sign_receipt(self._signer, body).SerializeToString()
                self._inbox.put_receipt(trip_id, device_id, wire)
                self._send(device_id, wire)
                _log.info("receipt for trip %s of %s", trip_id, device_id)
                issued = True
        return issued

    def repeat(self, device_id: str, trip_ids: Iterable[str]) -> None:
        """Send again the receipts of trips that a device still asks about."""
        for trip_id in set(trip_ids):
            wire = self._inbox.receipt(trip_id, device_id)
            if wire is not None:
                self._send(device_id, self._as_ours(wire))

    def _as_ours(self, wire: bytes) -> bytes:
        """Return a receipt under our key, should it be under one that this site had before."""
        receipt = Receipt.FromString(wire)
        if receipt.gateway_public_key == self._signer.public_key:
            return wire
        body = ReceiptBody.FromString(receipt.body)
        return sign_receipt(self._signer, body).SerializeToString()

    def _body(self, trip_id: str, device_id: str) -> ReceiptBody | None:
        """Return the receipt of a visit, or None while something is missing."""
        chain = self._facts.chain(trip_id, device_id)
        seal = chain.seal
        if not chain.HasField("seal") or (chain.count, chain.head_sha256) != (
            seal.reading_count,
            seal.head_sha256,
        ):
            return None
        copies = self._copies(chain)
        block = self._last_block(trip_id, device_id, chain)
        if copies is None or block is None:
            return None
        block_num, block_id, genesis_id = block
        return ReceiptBody(
            device_id=device_id,
            trip_id=trip_id,
            reading_count=seal.reading_count,
            head_sha256=seal.head_sha256,
            seal_transaction_id=chain.seal_transaction_id,
            recordings=copies,
            block_num=block_num,
            block_id=block_id,
            genesis_id=genesis_id,
            issued_at_ms=now_ms(),
            site_id=self._site_id,
        )

    def _copies(self, chain: Chain) -> list[StoredRecording] | None:
        """Return what is stored of the sealed recordings, or None while one is missing."""
        copies = []
        for sealed in chain.seal.recordings:
            stored = self._recordings.manifest(sealed.sha256)
            if stored is None or sealed.sha256 not in chain.recorded_videos:
                return None
            copies.append(
                StoredRecording(
                    sha256=stored.sha256,
                    size=stored.size,
                    tree_root=stored.tree_root,
                    copies=map(str, stored.copies),
                )
            )
        return copies

    def _last_block(
        self, trip_id: str, device_id: str, chain: Chain
    ) -> tuple[int, str, str] | None:
        """Return number and id of the block that completed a visit, and the genesis id.

        None while the index, which follows the ledger, has not come that far. What other devices
        of the trip sealed and recorded does not count.
        """
        numbers = self._blocks_of_seal(trip_id, chain.seal_transaction_id)
        digests = self._blocks_of_digests(trip_id, device_id)
        sealed = {recording.sha256 for recording in chain.seal.recordings}
        if not numbers or not sealed <= digests.keys():
            return None
        rows = self._index.query(
            "SELECT b.block_num, b.block_id, g.block_id FROM blocks b, blocks g"
            " WHERE g.block_num = 0 AND b.block_num = ?",
            max(numbers + [digests[sha256] for sha256 in sealed]),
        )
        return rows[0] if rows else None

    def _blocks_of_seal(self, trip_id: str, transaction_id: str) -> list[int]:
        rows = self._index.query(
            "SELECT block_num FROM seals WHERE trip_id = ? AND transaction_id = ?",
            trip_id,
            transaction_id,
        )
        return [block_num for (block_num,) in rows]

    def _blocks_of_digests(self, trip_id: str, device_id: str) -> dict[bytes, int]:
        """Return, by hash, in which block the digest of each recording of a device is."""
        rows = self._index.query(
            "SELECT action, block_num FROM videos WHERE trip_id = ? ORDER BY block_num DESC",
            trip_id,
        )
        digests = [(RecordVideo.FromString(action), block_num) for action, block_num in rows]
        return {
            digest.sha256: block_num
            for digest, block_num in digests
            if digest.device_id == device_id
        }
