"""Evidence: everything that proves a trip, gathered from ledger, index and recordings."""

from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile

from contracts.chunktree import blob_size
from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError
from contracts.evidence.container import EvidenceWriter
from contracts.evidence.trust import Trust
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.ledger import LedgerClient
from contracts.payload import ADMIN_KEYS_SETTING
from contracts.proto.evidence_pb2 import Blob, BlockHead, Header, LeafHashes
from contracts.proto.payload_pb2 import HandOver, StartTrip
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader
from contracts.proto.state_pb2 import Delivery
from contracts.records.clock import now_ms
from gateway.index.store import IndexStore
from storage.recordings.store import RecordingStore


class UnknownTripError(RejectedError):
    """The trip is not on the ledger."""


class Audit:
    """Writes evidence files."""

    def __init__(self, index: IndexStore, ledger: LedgerClient, recordings: RecordingStore) -> None:
        self._index = index
        self._ledger = ledger
        self._recordings = recordings

    def evidence(self, trip_ids: list[str], *, with_video: bool) -> Iterator[bytes]:
        """Return the bytes of an evidence file about `trip_ids`, in pieces.

        Args:
            trip_ids: Trips on the ledger.
            with_video: Put every blob of every recording in, too.

        Raises:
            UnknownTripError: There is no such trip.
            UnavailableError: Ledger, index or recordings did not answer.
        """
        subjects = set().union(*map(self._subjects, trip_ids))
        places = self._places(subjects)
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

    def _subjects(self, trip_id: str) -> set[str]:
        """Return everything that a trip's proof speaks of: devices, parties, sites, deliveries."""
        starts = self._index.query("SELECT start FROM trips WHERE trip_id = ?", trip_id)
        if not starts:
            raise UnknownTripError(f"no trip {trip_id[:80]!r} on the ledger")
        start = StartTrip.FromString(starts[0][0])
        devices = {start.device_id} | self._column(
            "SELECT DISTINCT device_id FROM readings WHERE trip_id = ?"
            " UNION SELECT device_id FROM seals WHERE trip_id = ?",
            trip_id,
            trip_id,
        )
        sites = {start.origin_site_id, start.destination_site_id}
        for (action,) in self._index.query(
            "SELECT action FROM handovers WHERE trip_id = ?", trip_id
        ):
            sites.add(HandOver.FromString(action).site_id)
        parties = self._owners("devices", "device_id", devices)
        parties |= self._owners("sites", "site_id", sites)
        for delivery_id in start.delivery_ids:
            parties |= self._delivery_parties(delivery_id)
        return {
            f"trip {trip_id}",
            *(f"device {name}" for name in devices),
            *(f"site {name}" for name in sites),
            *(f"delivery {name}" for name in start.delivery_ids),
            *(f"party {name}" for name in parties),
        }

    def _delivery_parties(self, delivery_id: str) -> set[str]:
        rows = self._index.query(
            "SELECT entry FROM deliveries WHERE delivery_id = ? LIMIT 1", delivery_id
        )
        return {
            party_id
            for (entry,) in rows
            for terms in [Delivery.FromString(entry).terms]
            for party_id in (terms.seller_id, terms.carrier_id, terms.buyer_id)
        }

    def _owners(self, table: str, column: str, names: Iterable[str]) -> set[str]:
        sql = f"SELECT DISTINCT party_id FROM {table} WHERE {column} = ?"  # noqa: S608
        return set().union(*(self._column(sql, name) for name in names))

    def _places(self, subjects: set[str]) -> dict[tuple[int, int], str]:
        """Return the batches about `subjects` by their place on the ledger.

        A batch brings in what else it is about, since it can be shown only whole.
        """
        places: dict[tuple[int, int], str] = {}
        seen: set[str] = set()
        while new := subjects - seen:
            seen |= new
            found = [
                row
                for subject in new
                for row in self._index.query(
                    "SELECT block_num, place, batch_id FROM batches WHERE subject = ?", subject
                )
            ]
            for block_num, place, batch_id in found:
                if (block_num, place) not in places:
                    places[block_num, place] = batch_id
                    subjects |= self._column(
                        "SELECT subject FROM batches WHERE batch_id = ?", batch_id
                    )
        return places

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
        stored = self._recordings.manifest(recording)
        if stored is not None:
            hashes = b"".join(stored.leaves)
            yield writer.frame(LeafHashes(recording_sha256=recording, hashes=hashes))

    def _blobs(self, writer: EvidenceWriter, recording: bytes) -> Iterator[bytes]:
        stored = self._recordings.manifest(recording)
        if stored is None:
            return
        at = 0
        for index in range(len(stored.leaves)):
            stop = at + blob_size(stored.size, index)
            data = b"".join(self._recordings.read(recording, at, stop))
            yield writer.frame(Blob(recording_sha256=recording, index=index, data=data))
            at = stop

    def _column(self, sql: str, *values: object) -> set[str]:
        return {row[0] for row in self._index.query(sql, *values)}


def trust_of(ledger: LedgerClient) -> Trust:
    """Return the keys of a ledger as it stands: for those who trust it, or can check them.

    Raises:
        UnavailableError: The ledger did not answer.
    """
    genesis = ledger.genesis()
    signer = parse(BlockHeader, genesis.header).signer_public_key
    admins = ledger.setting(ADMIN_KEYS_SETTING)
    return Trust(genesis.header_signature, frozenset([signer]), frozenset(admins.split(",")))
