"""A gateway's retention over a store in memory; the test sets every answer that it asks for.

Inbox, index, deletions and ages are the real ones, in files. Truth is kept
beside them: whatever is deleted is judged by it on the spot.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from contracts.chunktree import BLOB_BYTES, root_hash
from contracts.copies import DEFAULT_POLICY, FSYNC, Copy, Place, Policy
from contracts.errors import UnavailableError
from contracts.proto.deletion_pb2 import DeletionBody
from contracts.proto.payload_pb2 import PlaceHold, RecordVideo, ReleaseHold
from contracts.proto.state_pb2 import Hold
from contracts.proto.wire_pb2 import Receipt, ReceiptBody
from contracts.proto.wire_pb2 import StoredRecording as SaidRecording
from gateway.index.projection import Projected
from gateway.index.readings import NewReadings
from gateway.index.store import IndexStore
from gateway.intake.held import HeldBatch, Offer, State
from gateway.intake.inbox import Inbox
from gateway.records.records import Records
from gateway.retention.deletions import Deletions
from gateway.retention.judge import Judge
from gateway.retention.keeper import Retention
from gateway.retention.remover import Remover
from gateway.retention.reserve import Reserve
from gateway.storagesettings import RetentionSettings
from storage.recordings.manifest import Progress, StoredRecording
from storage.recordings.store import RecordingStore
from storage.retention.ages import Ages
from storage.retention.rules import Fill
from storage.volumes.volume import VolumePlace
from support.network.world import key
from support.storage.stores import open_store

VOLUME = Copy(Place.VOLUME, "main", FSYNC)
BLOBS = Copy(Place.BLOBS, "files", FSYNC)
DEVICE = "truck-1"
DAY_S = 86_400
RESERVE_BYTES = 1 << 20
SIGNER = key("gateway-buyer")


class KilledError(BaseException):
    """Stands for kill -9: nothing after it runs."""


def recording(number: int) -> bytes:
    return hashlib.sha256(b"recording %d" % number).digest()


def trip(number: int) -> str:
    return f"{number:032x}"


def manifest_of(recording_id: bytes, *copies: Copy) -> StoredRecording:
    leaves = (recording_id,)
    return StoredRecording(recording_id, BLOB_BYTES, root_hash(leaves), leaves, copies)


@dataclass
class MemoryStore:
    """Stored recordings, with a hook that sees each deletion.

    Attributes:
        copies: The whole copies of each recording.
        uploads: The progress of each partial recording.
        rotten: Recordings that lack a blob in the blob store.
        unproved: Recordings whose blobs are all listed, but one of them is bad.
        poisoned: Recordings that can be neither deleted nor proved.
        kills: Steps until it dies in the middle of one; negative: never.
        witness: Called with each copy before it is deleted; the copy is None for an upload.
    """

    copies: dict[bytes, list[Copy]] = field(default_factory=dict)
    uploads: dict[bytes, Progress] = field(default_factory=dict)
    rotten: set[bytes] = field(default_factory=set)
    unproved: set[bytes] = field(default_factory=set)
    dropped: set[bytes] = field(default_factory=set)
    poisoned: set[bytes] = field(default_factory=set)
    kills: int = -1
    witness: Callable[[bytes, Copy | None], None] = lambda *_: None

    def recordings(self) -> Iterator[bytes]:
        return iter(sorted(self.copies))

    def partial(self) -> Iterator[Progress]:
        return iter([self.uploads[each] for each in sorted(self.uploads)])

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        there = self.copies.get(recording_id)
        return manifest_of(recording_id, *there) if there else None

    def progress(self, recording_id: bytes) -> Progress | None:
        return self.uploads.get(recording_id)

    def blobs_hold(self, recording_id: bytes) -> bool:
        return BLOBS in self.copies.get(recording_id, ()) and recording_id not in self.rotten

    def prove_blobs(self, recording_id: bytes, stop: Callable[[], bool]) -> bool:
        self._check_poison(recording_id)
        return not stop() and recording_id not in self.unproved

    def drop(self, recording_id: bytes, copy: Copy) -> None:
        self._check_poison(recording_id)
        self._die()
        there = self.copies.get(recording_id, [])
        if copy in there:
            self.witness(recording_id, copy)
            there.remove(copy)
        self.dropped.add(recording_id)
        self._die()

    def want(self, recording_id: bytes, place: Place) -> None:
        assert place is Place.VOLUME
        self.dropped.discard(recording_id)

    def delete(self, recording_id: bytes) -> None:
        self._die()
        for copy in self.copies.get(recording_id, []):
            self.witness(recording_id, copy)
        self.copies.pop(recording_id, None)
        self._die()
        if recording_id in self.uploads:
            self.witness(recording_id, None)
            del self.uploads[recording_id]
        self._die()

    def _check_poison(self, recording_id: bytes) -> None:
        if recording_id in self.poisoned:
            raise OverflowError("no bigint")

    def _die(self) -> None:
        if self.kills == 0:
            raise KilledError
        self.kills -= 1


class MemoryLedger:
    """A ledger head that moves, and that can stop answering."""

    def __init__(self) -> None:
        self.block_ids = ["block 0"]
        self.down = False

    def head_id(self) -> str:
        if self.down:
            raise UnavailableError("the ledger does not answer")
        return self.block_ids[-1]

    def check(self) -> None:
        self.head_id()


class Desk:
    """The retention of one gateway.

    Attributes:
        after_record: Called once a deletion is on record and before anything goes.
    """

    def __init__(
        self, root: Path, settings: RetentionSettings, policy: Policy = DEFAULT_POLICY
    ) -> None:
        self.root, self.settings, self.policy = root, settings, policy
        self.store, self.ledger = MemoryStore(), MemoryLedger()
        self.kept: MemoryStore | RecordingStore = self.store
        self.shown: Callable[[bytes], StoredRecording] = manifest_of
        self.inbox = Inbox(root / "inbox.db", bytes_max=1 << 30, quarantine_bytes_max=1 << 20)
        self.index = IndexStore(root / "index.db")
        if self.index.head() is None:
            self.index.add({"blocks": [(0, "block 0", b"")]})
        blocks = self.index.query("SELECT block_id FROM blocks ORDER BY block_num")
        self.ledger.block_ids = [str(block_id) for (block_id,) in blocks]
        self.now_ms, self.monotonic_s = 1_700_000_000_000, 0.0
        self.quota_bytes = self.needed_bytes = 0
        self.confirmations = 0
        self.unseen: list[Projected] = []
        self.after_record: Callable[[], None] = lambda: None
        self.open()

    def open(self) -> None:
        desk = self

        class Watched(Deletions):
            def begin(self, draft: DeletionBody) -> DeletionBody:
                body = super().begin(draft)
                desk.after_record()
                return body

        self.deletions = Watched(self.root / "deletions.db", SIGNER)
        self.ages = Ages(self.root / "retention.db", lambda: self.monotonic_s)
        judge = Judge(
            self.inbox,
            Records(self.index),
            self.ledger,
            self.ledger,
            self.deletions.hold_ends,
            confirmations=self.confirmations,
        )
        remover = Remover(
            self.kept,
            self.deletions,
            judge,
            policy=self.policy,
            site_id="site-b",
            let_go=lambda _: None,
            touched=lambda _: None,
            clock_ms=lambda: self.now_ms,
        )
        self.retention = Retention(
            self.kept,
            self.ages,
            self.deletions,
            judge,
            remover,
            self.settings,
            self.fills,
            Reserve(self.root / "reserve", RESERVE_BYTES),
        )

    def restart(self) -> None:
        self.deletions.close()
        self.ages.close()
        self.store.kills = -1
        self.open()

    def close(self) -> None:
        for each in (self.deletions, self.ages, self.inbox, self.index):
            each.close()

    def fills(self) -> list[Fill]:
        there = [self.kept.manifest(each) for each in self.kept.recordings()]
        holdings = {each.sha256: each.size for each in there if each and VOLUME in each.copies}
        return [Fill("main", holdings, self.quota_bytes, 1 << 40, self.needed_bytes)]

    def step(self) -> bool:
        """Run one step as its thread would; a failed request is tried again later."""
        try:
            return self.retention.step()
        except UnavailableError:
            return False

    def steps(self) -> None:
        """Run steps until nothing more is deleted."""
        while self.step():
            pass

    def days(self, count: float) -> None:
        self.monotonic_s += count * DAY_S

    def upload(self, recording_id: bytes, *copies: Copy) -> None:
        self.store.uploads.pop(recording_id, None)
        self.store.copies[recording_id] = list(copies or (VOLUME, BLOBS))

    def offer(self, recording_id: bytes, trip_id: str, state: State = State.HELD) -> str:
        name = f"{recording_id.hex()} {trip_id}"
        held = HeldBatch(name, DEVICE, trip_id, b"wire", 0, "", name, recording_id, state)
        shown = self.shown(recording_id)
        offer = Offer(trip_id, DEVICE, recording_id, shown.size, shown.tree_root, name)
        self.inbox.add([held], [offer])
        return name

    def commit(self, recording_id: bytes, trip_id: str, film: RecordVideo | None = None) -> None:
        """Commit a recording's digest; `film` says when it was filmed, and its name."""
        shown = self.shown(recording_id)
        action = RecordVideo(
            trip_id=trip_id, sha256=shown.sha256, size=shown.size, tree_root=shown.tree_root
        )
        action.MergeFrom(film or RecordVideo())
        times = action.started_at_ms, action.started_at_ms + action.duration_ms
        self.block({"videos": [(shown.sha256, trip_id, action.SerializeToString(), "tx", *times)]})
        self.inbox.mark([f"{recording_id.hex()} {trip_id}"], State.COMMITTED)

    def receipt(self, trip_id: str, *recordings: bytes, lacking: str = "") -> None:
        num = len(self.ledger.block_ids) - 1
        shown = [self.shown(each) for each in recordings]
        body = ReceiptBody(
            device_id=DEVICE,
            trip_id=trip_id,
            recordings=[
                SaidRecording(sha256=each.sha256, size=each.size, tree_root=each.tree_root)
                for each in shown
            ],
            block_num=num,
            block_id=self.ledger.block_ids[num],
            lacking=[lacking] if lacking else [],
        )
        wire = Receipt(body=body.SerializeToString()).SerializeToString()
        self.inbox.visits.put_receipt(trip_id, DEVICE, wire, final=not lacking)

    def hold(
        self, trip_id: str, name: str = "case", *, released: bool = False, seen: bool = True
    ) -> None:
        hold = Hold(placed=PlaceHold(trip_id=trip_id, hold_id=name, party_id="customs"))
        if released:
            hold.released.CopyFrom(ReleaseHold(trip_id=trip_id, hold_id=name))
        self.block({"holds": [(trip_id, name, hold.SerializeToString())]}, seen=seen)

    def block(self, rows: dict[str, list[tuple[object, ...]]], *, seen: bool = True) -> None:
        """Add a block with these rows, whose block number is added, to ledger and index."""
        num = len(self.ledger.block_ids)
        self.ledger.block_ids.append(f"block {num}")
        numbered = {
            table: [(*row, num) for row in entries]
            for table, entries in rows.items()
            if table != "readings"
        }
        readings = [row for row in rows.get("readings", ()) if isinstance(row, NewReadings)]
        self.unseen.append(
            Projected({"blocks": [(num, f"block {num}", b"")], **numbered}, readings)
        )
        if seen:
            self.catch_up()

    def catch_up(self) -> None:
        """Let the index catch up with the ledger."""
        while self.unseen:
            self.index.add(*self.unseen[0])
            del self.unseen[0]

    def settled(
        self, number: int, trip_id: str, *copies: Copy, film: RecordVideo | None = None
    ) -> bytes:
        """Add a recording: offered, uploaded, committed, with a final receipt, and indexed."""
        recording_id = recording(number)
        self.upload(recording_id, *copies)
        self.offer(recording_id, trip_id)
        self.commit(recording_id, trip_id, film)
        self.receipt(trip_id, recording_id)
        return recording_id


@contextmanager
def real_desk(root: Path, settings: RetentionSettings) -> Iterator[Desk]:
    """Open a desk over a real store on files, new or left by another process."""
    places = {VOLUME.name: VolumePlace(root / "v")}
    with open_store(root, places=places) as store, closing(Desk(root, settings)) as desk:
        desk.deletions.close()
        desk.ages.close()
        desk.kept = store
        desk.shown = partial(_manifest, store)
        desk.open()
        yield desk


def _manifest(store: RecordingStore, recording_id: bytes) -> StoredRecording:
    manifest = store.manifest(recording_id)
    assert manifest is not None
    return manifest
