"""Copies come and go in any order: no receipt claims one that is not there, and no truck deletes
below a policy, or on a word that its gateway has replaced since.
"""

import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from contracts.chunktree import leaf_hash, root_hash
from contracts.copies import Copy, Place, Policy
from contracts.errors import RejectedError
from contracts.proto.wire_pb2 import ReceiptBody, StoredRecording
from contracts.receipt import body_of, lacking
from device.journal.database import Database
from device.journal.outbox import Outbox
from device.offload.receipts import accept
from gateway.intake.inbox import Inbox
from gateway.offload.ledgerfacts import Completed
from gateway.offload.receipts import Receipts
from storage.recordings.manifest import StoredRecording as Manifest
from support.network.world import key

TRIP: Final = "0" * 32
SIGNER: Final = key("gateway-buyer")
GENESIS: Final = "9" * 128
MIB: Final = 1 << 20


def manifest_of(content: bytes) -> Manifest:
    leaf = leaf_hash(content)
    return Manifest(content.ljust(32), len(content), root_hash([leaf]), (leaf,), ())


MANIFESTS: Final = {each.sha256: each for each in map(manifest_of, (b"one", b"other"))}
COPIES: Final = (
    Copy(Place.VOLUME, "main", "fsync"),
    Copy(Place.BLOBS, "files", "fsync"),
    Copy(Place.BLOBS, "cassandra", "QUORUM"),
)
POLICIES: Final = st.lists(
    st.sampled_from(["volume", "blobs", "blobs:fsync", "blobs:QUORUM", "blobs:ONE"]),
    min_size=1,
    max_size=3,
    unique=True,
).map(Policy.parse)


class OneVisit(Completed):
    """A ledger on which one trip is complete."""

    def __init__(self) -> None:
        pass

    def body(self, trip_id: str, device_id: str) -> ReceiptBody | None:
        named = [StoredRecording(sha256=recording_id) for recording_id in MANIFESTS]
        return ReceiptBody(
            trip_id=trip_id, device_id=device_id, recordings=named, genesis_id=GENESIS
        )

    def confirmations(self, body: ReceiptBody) -> int | None:
        del body
        return 0


def sealed_journal(path: Path) -> Database:
    """Return a truck's journal with one sealed trip, its recordings and a batch."""
    database = Database(path, "truck-1", key("truck-1").public_key)
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO trips (trip_id, input_id, start, state, last_transaction_id, clock)"
            " VALUES (?, x'', x'', 'sealed', '', x'')",
            (TRIP,),
        )
        connection.execute(
            "INSERT INTO batches (batch_id, trip_id, wire, held) VALUES ('b', ?, x'00', 1)", (TRIP,)
        )
        connection.executemany(
            "INSERT INTO recordings (trip_id, sha256, size, tree_root, name, media_type,"
            " duration_ms, source_sha256) VALUES (?, ?, ?, ?, 'v', 'video/mp4', 0, x'')",
            ((TRIP, each.sha256, each.size, each.tree_root) for each in MANIFESTS.values()),
        )
    return database


class CopiesComeAndGo(RuleBasedStateMachine):
    """One visit of one truck, while anything happens to the copies of its two recordings."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.held: dict[bytes, set[Copy]] = {name: set() for name in MANIFESTS}
        self.sent: list[bytes] = []
        self.newest = 0
        self.released = False
        self.journal = sealed_journal(self.directory / "journal.sqlite")
        self.inbox = Inbox(self.directory / "inbox.db", bytes_max=MIB, quarantine_bytes_max=MIB)
        self.inbox.visits.note(TRIP, "truck-1")

    @initialize(gateway=POLICIES, truck=POLICIES)
    def begin(self, gateway: Policy, truck: Policy) -> None:
        self.gateways, self.trucks = gateway, truck
        self.restart()

    @rule()
    def restart(self) -> None:
        self.receipts = Receipts(
            self.inbox,
            OneVisit(),
            self.manifest,
            SIGNER,
            site_id="site-buyer",
            policy=self.gateways,
            confirmations=0,
            send=self.send,
        )

    def manifest(self, recording_id: bytes) -> Manifest | None:
        copies = tuple(sorted(self.held[recording_id], key=str))
        found = MANIFESTS[recording_id]
        named = Manifest(found.sha256, found.size, found.tree_root, found.leaves, copies)
        return named if copies else None

    def send(self, device_id: str, wire: bytes) -> None:
        """Check that what is sent is true at this moment."""
        assert device_id == "truck-1"
        body = body_of(wire)
        assert {item.sha256 for item in body.recordings} == set(MANIFESTS)
        for item in body.recordings:
            assert sorted(item.copies) == sorted(map(str, self.held[item.sha256])) != []
        assert list(body.lacking) == lacking(self.gateways, body.recordings)
        if wire not in self.sent[-1:]:
            assert all(body_of(each).issued_at_ms < body.issued_at_ms for each in self.sent)
        self.sent.append(wire)

    @rule(at=st.integers(0, 1), copy=st.sampled_from(COPIES))
    def appear(self, at: int, copy: Copy) -> None:
        self.held[list(MANIFESTS)[at]].add(copy)

    @rule(at=st.integers(0, 1), copy=st.sampled_from(COPIES))
    def vanish(self, at: int, copy: Copy) -> None:
        self.held[list(MANIFESTS)[at]].discard(copy)

    @rule()
    def look(self) -> None:
        self.receipts.note_copies()
        self.receipts.issue()

    @rule()
    def ask(self) -> None:
        self.receipts.repeat("truck-1", [TRIP])

    @rule(at=st.integers(0, 50))
    def deliver(self, at: int) -> None:
        """Let the truck take any message that was sent, once more or late."""
        if self.sent:
            self.take(self.sent[at % len(self.sent)])

    def take(self, wire: bytes) -> None:
        """Let the truck take a receipt; it refuses one, and only one, that it knows a newer of."""
        place, body = self.sent.index(wire), body_of(wire)
        outdated = place < self.newest and not self.released
        with pytest.raises(RejectedError, match="issued another") if outdated else nullcontext():
            accept(
                wire,
                Outbox(self.journal),
                device_id="truck-1",
                trusted_keys=[SIGNER.public_key],
                policy=self.trucks,
                genesis_block_id=GENESIS,
                site_id=None,
                videos=self.directory,
            )
        if not outdated:
            self.newest = place
            self.released |= not (body.lacking or lacking(self.trucks, body.recordings))

    def deleted(self) -> bool:
        ((left,),) = self.journal.query("SELECT COUNT(*) FROM recordings")
        return bool(left == 0)

    @invariant()
    def the_truck_deletes_on_a_final_receipt_that_stands_and_on_nothing_else(self) -> None:
        assert self.deleted() is self.released

    def teardown(self) -> None:
        try:
            if hasattr(self, "receipts"):
                self.end()
        finally:
            self.inbox.close()
            with self.journal:
                pass
            shutil.rmtree(self.directory)

    def end(self) -> None:
        """Once all copies exist, every device that asks gets a final receipt."""
        self.held = {name: set(COPIES) for name in MANIFESTS}
        self.look()
        self.ask()
        if self.sent:
            self.take(self.sent[-1])
        assert self.deleted()


CopiesComeAndGo.TestCase.settings = settings(stateful_step_count=25)
TestCopiesComeAndGo = CopiesComeAndGo.TestCase
