"""A gateway's saga, index, inbox and receipts around a fake ledger, stepped by hand."""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from contracts import address
from contracts.actions.payload import decode
from contracts.copies import DEFAULT_POLICY, Copy, Policy
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.proto.payload_pb2 import SealTrip
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import Chain
from contracts.proto.wire_pb2 import ReceiptBody
from contracts.receipt import body_of
from contracts.records.recording import RecordingDigest
from gateway.index.follower import Follower
from gateway.index.network import Network
from gateway.index.store import IndexStore
from gateway.intake.admission import admit_records
from gateway.intake.held import State
from gateway.intake.inbox import Inbox
from gateway.offload.ledgerfacts import Completed, LedgerFacts
from gateway.offload.receipts import Receipts
from gateway.offload.recheck import Recheck
from gateway.offload.saga import OffloadSaga
from gateway.records.records import Records
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from support.evidence.chain import digest_of, genesis_batch
from support.ledgers.fake import FakeLedger
from support.network.world import Trip, key, reading, registrations
from support.storage.stores import open_store
from support.trucks.rogue import until, wire_of

MIB = 1 << 20


@dataclass
class Shelf:
    """The store's manifests, with other copies where a test says so.

    Attributes:
        store: The real one.
        copies: By recording id, what its manifest is to name.
    """

    store: RecordingStore
    copies: dict[bytes, tuple[Copy, ...]] = field(default_factory=dict)

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        found = self.store.manifest(recording_id)
        if found is None or recording_id not in self.copies:
            return found
        return replace(found, copies=self.copies[recording_id])


@dataclass
class Desk:
    """The parts of a gateway process, over its files on disk.

    Attributes:
        sent: Device and body of every receipt that was sent.
    """

    ledger: FakeLedger
    client: LedgerClient
    inbox: Inbox
    shelf: Shelf
    index: IndexStore
    waits: list[float]
    policy: Policy = DEFAULT_POLICY
    confirmations: int = 0
    sent: list[tuple[str, ReceiptBody]] = field(default_factory=list)

    def __post_init__(self) -> None:
        facts, records = LedgerFacts(self.client), Records(self.index)
        self.receipts = Receipts(
            self.inbox,
            Completed(facts, records),
            self.shelf.manifest,
            Signer.generate(),
            site_id="site-b",
            policy=self.policy,
            confirmations=self.confirmations,
            send=lambda device_id, wire: self.sent.append((device_id, body_of(wire))),
        )
        network = Network(self.client, self.inbox, self.index)
        recheck = Recheck(self.inbox, records, self.client, facts)
        self.saga = OffloadSaga(
            self.inbox, self.client, network, facts, self.shelf.store, self.receipts, recheck
        )
        self.follower = Follower(self.client, network, self.index, lambda: None, recheck.doubt)

    def restarted(self, **settings: Any) -> Self:  # noqa: ANN401 - any of the attributes
        """Return the desk of a new process on the same files."""
        return replace(self, **settings)

    def hold(self, batches: list[Batch]) -> list[str]:
        self.inbox.add([admit_records(wire_of(batch), "truck-1") for batch in batches], [])
        return [batch.header_signature for batch in batches]

    def states(self, names: list[str]) -> list[State]:
        found = [self.inbox.batch(name) for name in names]
        return [held.state for held in found if held is not None]

    def follow(self) -> None:
        until("the ledger's head", self._at_head)

    def _at_head(self) -> bool:
        self.follower.catch_up()
        head = self.index.head()
        return head is not None and head.block_id == self.ledger.blocks[-1].header_signature

    def stored(self, content: bytes) -> RecordingDigest:
        """Store a recording, and return its digest."""
        recording_id = hashlib.sha256(content).digest()
        with self.shelf.store.begin(recording_id, len(content)) as writer:
            writer.write(content)
            writer.finish()
        return digest_of(content)

    def committed(self, readings: int = 4) -> tuple[Trip, list[Batch]]:
        """Commit one whole trip without recordings in block 2."""
        trip = Trip()
        batches = trip.whole([reading(at) for at in range(readings)], size=readings // 2)
        names = self.hold(batches)
        self.saga.step()
        self.ledger.statuses = dict.fromkeys(names, "COMMITTED")
        self.ledger.extend([registrations(), batches])
        self.ledger.state[address.chain(trip.trip_id, "truck-1")] = sealed(batches, -1)
        self.follow()
        self.saga.step()
        return trip, batches

    def go_back(self, trip: Trip) -> None:
        """Let the ledger end before the trip, as if it had been restored from an older copy."""
        del self.ledger.blocks[2:]
        self.ledger.statuses = dict.fromkeys(self.ledger.statuses, "UNKNOWN")
        self.ledger.state[address.chain(trip.trip_id, "truck-1")] = b""
        self.follow()

    def commit_again(self, trip: Trip, batches: list[Batch], salt: str) -> None:
        """Let the ledger commit the trip's batches again, one block higher than before."""
        self.ledger.statuses = {batch.header_signature: "COMMITTED" for batch in batches}
        self.ledger.extend([[], batches], salt=salt)
        self.ledger.state[address.chain(trip.trip_id, "truck-1")] = sealed(batches, -1)
        self.follow()
        self.saga.step()

    def visited(self, *contents: bytes) -> tuple[Trip, list[RecordingDigest]]:
        """Bring a trip with recordings to the last step before its receipt."""
        trip, made = Trip(), [self.stored(content) for content in contents]
        batches = trip.whole([reading(0)], made)
        self.inbox.visits.note(trip.trip_id, "truck-1")
        self.ledger.state[address.chain(trip.trip_id, "truck-1")] = sealed(batches, -1 - len(made))
        self.ledger.extend([registrations(), batches])
        self.follow()
        return trip, made

    def receipt(self, trip: Trip, device_id: str = "truck-1") -> ReceiptBody | None:
        """Return what the receipt on record says."""
        kept = self.inbox.visits.receipt(trip.trip_id, device_id)
        return None if kept is None else body_of(kept.wire)

    def is_final(self, trip: Trip) -> bool:
        kept = self.inbox.visits.receipt(trip.trip_id, "truck-1")
        return kept is not None and kept.final

    def look(self) -> None:
        """Let the saga check all copies, as if one had changed."""
        self.receipts.note_copies()
        self.saga.step()


def sealed(batches: list[Batch], at: int = -2) -> bytes:
    """Return how the chain whose seal ends the batch at `at` stands on the ledger."""
    seal_transaction = batches[at].transactions[-1]
    seal = decode(seal_transaction.payload)
    assert isinstance(seal, SealTrip)
    return Chain(
        count=seal.reading_count,
        head_sha256=seal.head_sha256,
        seal=seal,
        seal_transaction_id=seal_transaction.header_signature,
        recorded_videos=[recording.sha256 for recording in seal.recordings],
    ).SerializeToString()


@contextmanager
def open_desk(directory: Path) -> Iterator[Desk]:
    """Run a fake ledger with its first block, and open the rest on `directory`."""
    with ExitStack() as stack:
        ledger = stack.enter_context(FakeLedger())
        ledger.extend([[genesis_batch(key("node"))]])
        waits: list[float] = []
        client = LedgerClient(ledger.url, sleep=waits.append)
        stack.callback(client.close)
        recordings = stack.enter_context(open_store(directory / "stored"))
        inbox = Inbox(directory / "inbox.db", bytes_max=64 * MIB, quarantine_bytes_max=MIB)
        stack.callback(inbox.close)
        index = IndexStore(directory / "index.db")
        stack.callback(index.close)
        yield Desk(ledger, client, inbox, Shelf(recordings), index, waits)
