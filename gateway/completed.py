"""What the ledger says of a visit: whether all that was sealed is committed, and how deep."""

from contracts.proto.payload_pb2 import RecordVideo
from contracts.proto.state_pb2 import Chain
from contracts.proto.wire_pb2 import ReceiptBody, StoredRecording
from gateway.index.store import IndexStore
from gateway.ledgerfacts import LedgerFacts


class Completed:
    """Asks the ledger for a chain as it stands, and the index, which follows it, for blocks."""

    def __init__(self, facts: LedgerFacts, index: IndexStore) -> None:
        self._facts = facts
        self._index = index

    def body(self, trip_id: str, device_id: str) -> ReceiptBody | None:
        """Return what a receipt may say of the ledger, or None while something is not committed.

        Its recordings have their hashes alone.
        """
        chain = self._facts.chain(trip_id, device_id)
        seal = chain.seal
        if not chain.HasField("seal") or (chain.count, chain.head_sha256) != (
            seal.reading_count,
            seal.head_sha256,
        ):
            return None
        if any(sealed.sha256 not in chain.recorded_videos for sealed in seal.recordings):
            return None
        block = self._last_block(trip_id, device_id, chain)
        if block is None:
            return None
        block_num, block_id, genesis_id = block
        return ReceiptBody(
            device_id=device_id,
            trip_id=trip_id,
            reading_count=seal.reading_count,
            head_sha256=seal.head_sha256,
            seal_transaction_id=chain.seal_transaction_id,
            recordings=[StoredRecording(sha256=sealed.sha256) for sealed in seal.recordings],
            block_num=block_num,
            block_id=block_id,
            genesis_id=genesis_id,
        )

    def confirmations(self, body: ReceiptBody) -> int | None:
        """Return how many blocks are upon the one that a receipt names; None: it is not there."""
        head = self._index.head()
        if head is None or self._index.block_id(body.block_num) != body.block_id:
            return None
        # The index may be cut between the two questions; a fork was seen then, or will be.
        return max(0, head[0] - body.block_num)

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
