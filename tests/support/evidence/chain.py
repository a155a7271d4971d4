"""A ledger's blocks and their evidence: honest first, then changed as a test likes."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256

from contracts import address
from contracts.address import ADMIN_KEYS_SETTING
from contracts.chunktree import BLOB_BYTES, leaf_hash
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.container import FORMAT_1, MAGIC, VERSION, Part
from contracts.evidence.ledgerparts import REPLAYED, Taken
from contracts.evidence.memory import MemoryHost
from contracts.evidence.recordings import Recordings
from contracts.evidence.replay import Replay
from contracts.evidence.statenodes import message_of
from contracts.evidence.times import BlockTimesTold
from contracts.evidence.trust import Trust
from contracts.keys import Signer
from contracts.proto.evidence_pb2 import Blob, BlockHead, Header, LeafHashes, StateNode
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader, Transaction
from contracts.records.recording import RecordingDigest
from contracts.sawtooth import block_info
from contracts.sawtooth.batches import Family, build_batch, build_transaction, parse_header
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_block
from contracts.sawtooth.pruned import Pruning, Wanted
from support.network.world import Trip, admin_setting, handovers, key, reading, registrations

EXPORTED_AT_MS = 1_760_000_000_000
WARM = [5000, 5000, 9000, 9500, 9000, 9100, 9200, 9000, 4000, 4000]
"""Temperatures, mCel, one every five seconds: above 8 Cel for longer than the terms tolerate."""


def digest_of(content: bytes) -> RecordingDigest:
    """Return the digest of a recording held in memory."""
    leaves = leaves_of(content)
    return RecordingDigest(sha256(content).digest(), len(content), _root(leaves))


def leaves_of(content: bytes) -> list[bytes]:
    """Return the leaf hashes of a recording held in memory."""
    return [leaf_hash(blob) for blob in blobs_of(content)]


def blobs_of(content: bytes) -> list[bytes]:
    """Return the blobs of a recording held in memory."""
    return [content[at : at + BLOB_BYTES] for at in range(0, len(content), BLOB_BYTES)]


def _root(leaves: Sequence[bytes]) -> bytes:
    """Return the tree root as RFC 6962, 2.1 defines it, word by word."""
    if not leaves:
        return sha256().digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + _root(leaves[:split]) + _root(leaves[split:])).digest()


def genesis_batch(signer: Signer) -> Batch:
    """Return what a genesis block holds: a setting, no transaction of ours."""
    setting = build_transaction(
        signer,
        Family("sawtooth_settings", "1.0"),
        b"genesis",
        batcher_public_key=signer.public_key,
        inputs=["000000"],
        outputs=["000000"],
    )
    return build_batch(signer, [setting])


def chain_blocks(
    groups: Sequence[Sequence[Batch]], signer: Signer | None = None
) -> list[BlockHead]:
    """Return headers of a chain with one block for each group of batches."""
    return _heads(groups, signer or key("node"), LedgerState())


def _heads(
    groups: Sequence[Sequence[Batch]], signer: Signer, state: "LedgerState"
) -> list[BlockHead]:
    heads: list[BlockHead] = []
    previous = NULL_BLOCK_ID
    for number, group in enumerate(groups):
        block = build_block(
            signer,
            group,
            block_num=number,
            previous_block_id=previous,
            consensus=b"Devmode",
            state_root_hash=state.after(group),
        )
        previous = block.header_signature
        heads.append(BlockHead(header=block.header, header_signature=previous))
    return heads


class LedgerState:
    """The state of a ledger that commits whatever its rules allow, and the rest without effect.

    Attributes:
        values: All of it, by address.
    """

    def __init__(self, admin: Signer | None = None) -> None:
        self._host = MemoryHost()
        self._host.state[address.setting(ADMIN_KEYS_SETTING)] = admin_setting(admin)
        self._times = BlockTimesTold()
        self._blocks = 0

    @property
    def values(self) -> dict[str, bytes]:
        return self._host.state

    def after(self, group: Sequence[Batch]) -> str:
        """Commit a block; return its state root."""
        for batch in group:
            before = dict(self._host.state)
            try:
                for each in batch.transactions:
                    self._apply(each)
            except RejectedError:
                self._host.state = before
        self._blocks += 1
        return _pruned(self.values, Wanted([]), {})[0]

    def _apply(self, transaction: Transaction) -> None:
        header = parse_header(transaction)
        if Family.of(header) == block_info.FAMILY:
            self._times.tell(transaction.payload, self._blocks, self._host.state)
        elif Family.of(header) in REPLAYED:
            self._times.enter(self._blocks, self._host.state)
            self._host.apply(header, transaction.payload, transaction.header_signature)


def _pruned(
    values: Mapping[str, bytes], wanted: Wanted, known: Mapping[str, bytes]
) -> tuple[str, list[StateNode]]:
    """Return the root of a state, and the nodes that prove what is wanted of it."""
    pruning = Pruning(wanted, known)
    for place in sorted(values):
        pruning.add(bytes.fromhex(place), values[place])
    nodes = [message_of(node) for node in pruning.finish()]
    return pruning.root_hash, nodes


def proof(
    batches: Sequence[Batch],
    trip_ids: Sequence[str],
    values: Mapping[str, bytes],
    heads: Sequence[BlockHead],
    also: Sequence[str] = (),
) -> list[StateNode]:
    """Return the nodes that prove as much of a state as the replay of batches can ask for.

    `also` are more addresses to prove.

    Like an honest exporter, or the cleverest dishonest one.
    """
    headers = [BlockHeader.FromString(head.header) for head in heads]
    places = {
        name: (header.block_num, at)
        for header in headers
        for at, name in enumerate(header.batch_ids)
    }
    replay = Replay(Recordings(), None)
    replay.named = frozenset(trip_ids)
    with suppress(RejectedError):
        for batch in batches:
            for each in batch.transactions:
                header = parse_header(each)
                if Family.of(header) in REPLAYED:
                    place = places.get(batch.header_signature, (0, 0))
                    replay.apply(Taken(header, each, None, place))
    return _pruned(values, replay.scope().wanted(also), replay.known())[1]


def trust_in(
    heads: Sequence[BlockHead], node: Signer | None = None, admin: Signer | None = None
) -> Trust:
    """Return a trust file's content with these keys."""
    return Trust(
        heads[0].header_signature,
        frozenset({(node or key("node")).public_key}),
        frozenset({(admin or key("admin")).public_key}),
    )


@dataclass
class Evidence:
    """The parts of an evidence file; change any, then take the bytes."""

    header: Header
    heads: list[BlockHead]
    batches: list[Batch]
    leaves: list[LeafHashes] = field(default_factory=list)
    blobs: list[Blob] = field(default_factory=list)
    nodes: list[StateNode] = field(default_factory=list)
    state: dict[str, bytes] = field(default_factory=dict)
    """All state after the last block, from which a forger picks what to show."""
    seals: list[bytes] = field(default_factory=list)
    """Sealed headers as they stand in the file."""

    def prove(self, also: Sequence[str] = ()) -> None:
        """Show what proves the end of these batches, or comes nearest to it; `also` addresses."""
        self.nodes = proof(self.batches, self.header.trip_ids, self.state, self.heads, also)

    def enter(self, place: str, value: bytes) -> None:
        """Have the last block commit to one more entry, and prove it; its id changes."""
        self.state[place] = value
        header = BlockHeader.FromString(self.heads[-1].header)
        header.state_root_hash = _pruned(self.state, Wanted([]), {})[0]
        wire = canonical(header)
        self.heads[-1] = BlockHead(header=wire, header_signature=key("node").sign(wire))
        self.prove([place])

    def frames(self) -> list[tuple[int, bytes]]:
        return [
            (Part.HEADER, canonical(self.header)),
            *((Part.BLOCK_HEAD, canonical(head)) for head in self.heads),
            *((Part.BATCH, canonical(batch)) for batch in self.batches),
            *((Part.LEAF_HASHES, canonical(leaves)) for leaves in self.leaves),
            *((Part.BLOB, canonical(blob)) for blob in self.blobs),
            *((Part.STATE_NODE, canonical(node)) for node in self.nodes),
            *((Part.SEALED_HEADER, sealed) for sealed in self.seals),
        ]

    def wire(self) -> bytes:
        return pack(self.frames())

    def wire_of_format_1(self) -> bytes:
        """Return the file in the format without state nodes."""
        header = Header.FromString(canonical(self.header))
        header.version = FORMAT_1
        told = replace(self, header=header, nodes=[], seals=[])
        return pack(told.frames(), MAGIC.replace(b"2", b"1"))

    def add_video(self, content: bytes, *, blobs: Sequence[int] | None = None) -> None:
        """Add a recording's leaf hashes and its blobs, or some of them."""
        name = sha256(content).digest()
        self.leaves.append(LeafHashes(recording_sha256=name, hashes=b"".join(leaves_of(content))))
        cut = blobs_of(content)
        for index in range(len(cut)) if blobs is None else blobs:
            self.blobs.append(Blob(recording_sha256=name, index=index, data=cut[index]))


def pack(frames: Sequence[tuple[int, bytes]], magic: bytes = MAGIC) -> bytes:
    """Return an evidence file of these frames, with the digest that ends it."""
    wire = magic + b"".join(struct.pack(">BI", kind, len(data)) + data for kind, data in frames)
    return seal(wire)


def seal(wire: bytes) -> bytes:
    """Return `wire` with the frame that ends an evidence file."""
    return wire + struct.pack(">BI", Part.END, 32) + sha256(wire).digest()


def unseal(wire: bytes) -> bytes:
    """Return an evidence file without the frame that ends it."""
    return wire[:-37]


def frame_starts(wire: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield kind, offset and end of the payload of every frame."""
    at = len(MAGIC)
    while at < len(wire):
        kind, size = struct.unpack_from(">BI", wire, at)
        yield kind, at + 5, at + 5 + size
        at += 5 + size


def evidence_of(
    groups: Sequence[Sequence[Batch]],
    trip_ids: Sequence[str],
    signer: Signer | None = None,
    admin: Signer | None = None,
) -> Evidence:
    """Return evidence with all batches of a ledger that took these groups after its genesis."""
    signer = signer or key("node")
    state = LedgerState(admin)
    heads = _heads([[genesis_batch(signer)], *groups], signer, state)
    header = Header(
        version=VERSION,
        genesis_id=heads[0].header_signature,
        trip_ids=list(trip_ids),
        exported_at_ms=EXPORTED_AT_MS,
    )
    batches = [batch for group in groups for batch in group]
    told = Evidence(header, heads, batches, state=dict(state.values))
    told.prove()
    return told


@dataclass
class Story:
    """An honest trip with two videos, on the ledger and in evidence."""

    trip: Trip
    batches: list[Batch]
    """The trip's: start and readings, the seal last, then one per video."""
    videos: list[bytes]
    evidence: Evidence


def story(videos: Sequence[bytes]) -> Story:
    """Return an honest trip, from the registrations to the handover."""
    trip = Trip()
    values = [reading(number, value) for number, value in enumerate(WARM)]
    batches = trip.whole(values, [digest_of(video) for video in videos], 4)
    driven = batches[: len(batches) - len(videos)]
    groups = [registrations(), driven[:1], driven[1:], batches[len(driven) :]]
    evidence = evidence_of(
        [group for group in [*groups, handovers(trip.trip_id)] if group], [trip.trip_id]
    )
    for video in videos:
        evidence.add_video(video)
    return Story(trip, batches, list(videos), evidence)
