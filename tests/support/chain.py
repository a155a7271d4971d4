"""A ledger's blocks and the evidence about them, for tests: honest first, then as one likes."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from contracts.chunktree import BLOB_BYTES, leaf_hash
from contracts.encoding import canonical
from contracts.evidence.container import MAGIC, Part
from contracts.evidence.trust import Trust
from contracts.keys import Signer
from contracts.proto.evidence_pb2 import Blob, BlockHead, Header, LeafHashes
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.recording import RecordingDigest
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_block
from contracts.sawtooth.transactions import Family, build_transaction
from support.world import Trip, handovers, key, reading, registrations

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
    """Return the heads of one block per group of batches, each on top of the one before."""
    signer = signer or key("node")
    heads: list[BlockHead] = []
    previous = NULL_BLOCK_ID
    for number, group in enumerate(groups):
        block = build_block(
            signer,
            group,
            block_num=number,
            previous_block_id=previous,
            consensus=b"Devmode",
            state_root_hash=f"{number:064x}",
        )
        previous = block.header_signature
        heads.append(BlockHead(header=block.header, header_signature=previous))
    return heads


def trust_in(
    heads: Sequence[BlockHead], node: Signer | None = None, admin: Signer | None = None
) -> Trust:
    """Return the trust of one who got these keys by another way."""
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

    def frames(self) -> list[tuple[int, bytes]]:
        return [
            (Part.HEADER, canonical(self.header)),
            *((Part.BLOCK_HEAD, canonical(head)) for head in self.heads),
            *((Part.BATCH, canonical(batch)) for batch in self.batches),
            *((Part.LEAF_HASHES, canonical(leaves)) for leaves in self.leaves),
            *((Part.BLOB, canonical(blob)) for blob in self.blobs),
        ]

    def wire(self) -> bytes:
        return pack(self.frames())

    def add_video(self, content: bytes, *, blobs: Sequence[int] | None = None) -> None:
        """Add a recording's leaf hashes and its blobs, or some of them."""
        name = sha256(content).digest()
        self.leaves.append(LeafHashes(recording_sha256=name, hashes=b"".join(leaves_of(content))))
        cut = blobs_of(content)
        for index in range(len(cut)) if blobs is None else blobs:
            self.blobs.append(Blob(recording_sha256=name, index=index, data=cut[index]))


def pack(frames: Sequence[tuple[int, bytes]]) -> bytes:
    """Return an evidence file of these frames, with the digest that ends it."""
    wire = MAGIC + b"".join(struct.pack(">BI", kind, len(data)) + data for kind, data in frames)
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
    groups: Sequence[Sequence[Batch]], trip_ids: Sequence[str], signer: Signer | None = None
) -> Evidence:
    """Return evidence with all batches of a ledger that took these groups after its genesis."""
    genesis = [genesis_batch(signer or key("node"))]
    heads = chain_blocks([genesis, *groups], signer)
    header = Header(
        version=1,
        genesis_id=heads[0].header_signature,
        trip_ids=list(trip_ids),
        exported_at_ms=EXPORTED_AT_MS,
    )
    return Evidence(header, heads, [batch for group in groups for batch in group])


@dataclass
class Story:
    """An honest trip with two videos, on the ledger and told in evidence."""

    trip: Trip
    batches: list[Batch]
    """The trip's: start and readings, the seal last, then one per video."""
    videos: list[bytes]
    evidence: Evidence


def story(videos: Sequence[bytes]) -> Story:
    """Tell an honest trip, from the registrations to the handover."""
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
