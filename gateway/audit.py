"""Evidence: everything that proves a trip, gathered from ledger, index and recordings."""

from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile

from contracts.chunktree import blob_size
from contracts.encoding import parse
from contracts.errors import UnavailableError
from contracts.evidence.container import EvidenceWriter
from contracts.evidence.trust import Trust
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.ledger import LedgerClient
from contracts.payload import ADMIN_KEYS_SETTING
from contracts.proto.evidence_pb2 import Blob, BlockHead, Header, LeafHashes
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader
from contracts.records.clock import now_ms
from gateway.index.store import IndexStore
from gateway.subjects import batches_about
from storage.recordings.store import RecordingStore


class Audit:
    """Writes evidence files."""

    def __init__(self, index: IndexStore, ledger: LedgerClient, recordings: RecordingStore) -> None:
        self._index = index
        self._ledger = ledger
        self._recordings = recordings

    def evidence(
        self, trip_ids: list[str], *, with_video: bool, with_lots: bool = True
    ) -> Iterator[bytes]:
        """Return the bytes of an evidence file about `trip_ids`, in pieces.

        Args:
            trip_ids: Trips on the ledger.
            with_video: Put every blob of every recording in, too.
            with_lots: Put in what the delivered lots were made from, too.

        Raises:
            UnknownTripError: There is no such trip.
            RejectedError: Too many transformations lead to the delivered lots.
            UnavailableError: Ledger, index or recordings did not answer.
        """
        places = batches_about(self._index, trip_ids, with_lots=with_lots)
        genesis_id = self._index.block_id(0)
        if genesis_id is None:
            raise UnavailableError("the index holds no block yet")
        header = Header(
            version=1,
            genesis_id=genesis_id,
            trip_ids=sorted(set(trip_ids)),
            exported_at_ms=now_ms(),
        )
        return self._write(header, places, with_video=with_video)

    def judge(self, trip_id: str) -> Verdict:
        """Return the verdict on a trip's evidence, by the ledger's own keys.

        Raises:
            UnknownTripError: There is no such trip.
            UnavailableError: Ledger, index or recordings did not answer.
        """
        with TemporaryFile() as file:
            for piece in self.evidence([trip_id], with_video=False):
                file.write(piece)
            file.seek(0)
            return verify_evidence(file, trust_of(self._ledger), [])

    def _write(
        self, header: Header, places: dict[tuple[int, int], str], *, with_video: bool
    ) -> Iterator[bytes]:
        writer = EvidenceWriter()
        yield writer.start(header)
        for block_id, head in self._index.query(
            "SELECT block_id, header FROM blocks WHERE block_num <= ? ORDER BY block_num",
            max(places)[0],
        ):
            yield writer.frame(BlockHead(header=head, header_signature=block_id))
        for _, batch_id in sorted(places.items()):
            yield writer.frame(self._batch(batch_id))
        recordings = self._recorded(header.trip_ids)
        for recording in recordings:
            yield from self._leaf_hashes(writer, recording)
        for recording in recordings if with_video else ():
            yield from self._blobs(writer, recording)
        yield writer.end()

    def _batch(self, batch_id: str) -> Batch:
        batch = self._ledger.batch(batch_id)
        if batch is None:
            raise UnavailableError(f"the ledger has no batch {batch_id[:16]}… that it committed")
        return batch

    def _recorded(self, trip_ids: Iterable[str]) -> list[bytes]:
        """Return the recordings of trips, each once, in the order of their digests."""
        found = [
            sha256
            for trip_id in trip_ids
            for (sha256,) in self._index.query(
                "SELECT sha256 FROM videos WHERE trip_id = ? ORDER BY rowid", trip_id
            )
        ]
        return list(dict.fromkeys(found))

    def _leaf_hashes(self, writer: EvidenceWriter, recording: bytes) -> Iterator[bytes]:
        stored = self._recordings.find(recording)
        if stored is not None:
            hashes = b"".join(stored.leaves)
            yield writer.frame(LeafHashes(recording_sha256=recording, hashes=hashes))

    def _blobs(self, writer: EvidenceWriter, recording: bytes) -> Iterator[bytes]:
        stored = self._recordings.find(recording)
        if stored is None:
            return
        at = 0
        for index in range(len(stored.leaves)):
            stop = at + blob_size(stored.size, index)
            data = b"".join(self._recordings.read(recording, at, stop))
            yield writer.frame(Blob(recording_sha256=recording, index=index, data=data))
            at = stop


def trust_of(ledger: LedgerClient) -> Trust:
    """Return the keys of a ledger as it stands: for those who trust it, or can check them.

    Raises:
        UnavailableError: The ledger did not answer.
    """
    genesis = ledger.genesis()
    signer = parse(BlockHeader, genesis.header).signer_public_key
    admins = ledger.setting(ADMIN_KEYS_SETTING)
    return Trust(genesis.header_signature, frozenset([signer]), frozenset(admins.split(",")))
