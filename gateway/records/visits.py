"""The committed part of a device's visit: its batches, and the block that completed it."""

import json
from collections.abc import Collection
from dataclasses import dataclass

from contracts.proto.payload_pb2 import RecordVideo
from contracts.proto.state_pb2 import Chain
from gateway.index.store import IndexStore


@dataclass(frozen=True, slots=True)
class CompletionRecord:
    """The block that completed a visit, and the id of the ledger's first block."""

    block_num: int
    block_id: str
    genesis_id: str


class Visits:
    """Answers questions about visits."""

    def __init__(self, index: IndexStore) -> None:
        self._index = index

    def completed_in(self, trip_id: str, device_id: str, chain: Chain) -> CompletionRecord | None:
        """Return the block with the last of a sealed chain and its recordings' digests.

        Seals and digests of other devices on the trip do not count.

        Args:
            trip_id: The trip.
            device_id: The device.
            chain: The device's chain on the trip, sealed, as the ledger has it.

        Returns:
            None while the index, which follows the ledger, has not taken in all of it.
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
        return CompletionRecord(*rows[0]) if rows else None

    def trip_of(self, batch_id: str, device_id: str) -> str | None:
        """Return the trip of a committed batch, or None if the device recorded nothing on it."""
        rows = self._index.query(
            "SELECT substr(subject, 6) AS trip FROM batches"
            " WHERE batch_id = ?1 AND subject LIKE 'trip %' AND ("
            " EXISTS (SELECT 1 FROM trips WHERE trip_id = trip AND device_id = ?2)"
            " OR EXISTS (SELECT 1 FROM warm_readings WHERE trip_id = trip AND device_id = ?2)"
            " OR EXISTS (SELECT 1 FROM cold_read WHERE trip_id = trip AND device_id = ?2)"
            " OR EXISTS (SELECT 1 FROM seals WHERE trip_id = trip AND device_id = ?2))",
            batch_id,
            device_id,
        )
        return str(rows[0][0]) if rows else None

    def uncommitted(self, batch_ids: Collection[str]) -> set[str]:
        """Return the batches that the index does not have."""
        rows = self._index.query(
            "SELECT batch_id FROM batches WHERE batch_id IN (SELECT value FROM json_each(?))",
            json.dumps(list(batch_ids)),
        )
        return set(batch_ids) - {batch_id for (batch_id,) in rows}

    def _blocks_of_seal(self, trip_id: str, transaction_id: str) -> list[int]:
        rows = self._index.query(
            "SELECT block_num FROM seals WHERE trip_id = ? AND transaction_id = ?",
            trip_id,
            transaction_id,
        )
        return [block_num for (block_num,) in rows]

    def _blocks_of_digests(self, trip_id: str, device_id: str) -> dict[bytes, int]:
        """Return, by hash, the block with the first digest of each recording of a device."""
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
