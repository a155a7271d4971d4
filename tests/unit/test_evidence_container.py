"""The writer of evidence files writes what the verifier reads."""

import io

import pytest

from contracts.chunktree import BLOB_BYTES, HASH_BYTES, blob_count
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.container import (
    BATCH_FRAME_BYTES_MAX,
    BLOB_FRAME_BYTES_MAX,
    BLOCK_HEAD_BYTES_MAX,
    HEADER_BYTES_MAX,
    LEAF_HASHES_BYTES_MAX,
    MAGIC,
    STATE_NODE_BYTES_MAX,
    EvidenceReader,
    EvidenceWriter,
    Part,
)
from contracts.evidence.verify import verify_evidence
from contracts.keys import Signer
from contracts.ledger.engine.submissions import QUEUED_BATCHES_MAX
from contracts.ledger.execution.executor import STATE_VALUE_BYTES_MAX
from contracts.ledger.rest.submit import BATCHES_BODY_BYTES_MAX
from contracts.proto.evidence_pb2 import Blob, BlockHead, LeafHashes, StateNode
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader, Transaction
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from storage.recordings.manifest import RECORDING_BYTES_MAX
from support.evidence.chain import Evidence, chain_blocks, pack, story, trust_in
from support.network.world import key

VIDEO = b"a short clip" * 60
STORY = story([VIDEO])


def written(evidence: Evidence) -> bytes:
    """Return the file as an exporter writes it."""
    writer = EvidenceWriter()
    videos = [*evidence.leaves, *evidence.blobs]
    parts = [*evidence.heads, *evidence.batches, *videos, *evidence.nodes]
    frames = [writer.start(evidence.header), *map(writer.frame, parts)]
    return b"".join(frames) + writer.end()


def test_the_writer_writes_what_the_page_describes() -> None:
    assert written(STORY.evidence) == STORY.evidence.wire()


def test_what_is_written_is_read() -> None:
    wire = written(STORY.evidence)
    assert wire.startswith(MAGIC)
    frames = [(kind, payload) for kind, payload in EvidenceReader(io.BytesIO(wire)).frames()]
    assert frames == [(Part(kind), payload) for kind, payload in STORY.evidence.frames()]


def test_what_a_ledger_keeps_beside_the_signed_is_left_out() -> None:
    noisy = STORY.evidence
    kept = noisy.batches[0]
    noisy.batches[0] = Batch.FromString(canonical(kept) + b"\x98\x06\x01")
    noisy.batches[0].trace = True
    wire = written(noisy)
    noisy.batches[0] = kept
    assert wire == noisy.wire()
    assert verify_evidence(io.BytesIO(wire), trust_in(noisy.heads), []).holds


MOST = {
    Part.HEADER: HEADER_BYTES_MAX,
    Part.BLOCK_HEAD: BLOCK_HEAD_BYTES_MAX,
    Part.BATCH: BATCH_FRAME_BYTES_MAX,
    Part.LEAF_HASHES: LEAF_HASHES_BYTES_MAX,
    Part.BLOB: BLOB_FRAME_BYTES_MAX,
    Part.STATE_NODE: STATE_NODE_BYTES_MAX,
    Part.SEALED_HEADER: 64 << 10,
    Part.END: 32,
}


@pytest.mark.parametrize("part", Part)
def test_every_kind_of_frame_has_its_own_limit(part: Part) -> None:
    """What is announced beyond it is refused before it is read."""
    most = MOST[part]
    head = MAGIC + bytes([part])
    with pytest.raises(RejectedError, match=f"of {most + 1} bytes, at most {most} allowed"):
        list(EvidenceReader(io.BytesIO(head + (most + 1).to_bytes(4, "big"))).frames())
    with pytest.raises(RejectedError, match="file ends early"):
        list(EvidenceReader(io.BytesIO(head + most.to_bytes(4, "big"))).frames())


def test_the_limits_leave_room_for_what_is_honest() -> None:
    blob = Blob(recording_sha256=bytes(32), index=1 << 63, data=bytes(BLOB_BYTES))
    assert blob.ByteSize() <= BLOB_FRAME_BYTES_MAX
    hashes = bytes(HASH_BYTES * blob_count(RECORDING_BYTES_MAX))
    leaves = LeafHashes(recording_sha256=bytes(32), hashes=hashes)
    assert leaves.ByteSize() <= LEAF_HASHES_BYTES_MAX
    header = BlockHeader(batch_ids=["a" * 128] * 4 * QUEUED_BATCHES_MAX)
    assert BlockHead(header=canonical(header)).ByteSize() <= BLOCK_HEAD_BYTES_MAX
    assert BATCHES_BODY_BYTES_MAX <= BATCH_FRAME_BYTES_MAX
    node = StateNode(path=bytes(35), value=bytes(STATE_VALUE_BYTES_MAX))
    assert node.ByteSize() <= STATE_NODE_BYTES_MAX


def test_the_writer_writes_no_frame_that_no_reader_takes() -> None:
    blob = Blob(data=bytes(BLOB_FRAME_BYTES_MAX))
    with pytest.raises(RejectedError, match=f"at most {BLOB_FRAME_BYTES_MAX} allowed"):
        EvidenceWriter().frame(blob)


def test_a_batch_of_nothing_is_refused_unparsed() -> None:
    frames = [frame for frame in STORY.evidence.frames() if frame[0] < Part.BATCH]
    wire = pack([*frames, (Part.BATCH, b"\x1a\x00" * (BATCH_FRAME_BYTES_MAX // 2))])
    (problem,) = verify_evidence(io.BytesIO(wire), None, []).problems[:1]
    assert "more than 50000 transactions" in problem


def test_a_batch_id_of_another_form_is_refused() -> None:
    batch = build_batch(key("node"), [setting_of(key("node"))])
    batch.header_signature = "a"
    told = STORY.evidence
    wire = pack([told.frames()[0], *((2, canonical(head)) for head in chain_blocks([[batch]]))])
    (problem, *_) = verify_evidence(io.BytesIO(wire), None, []).problems
    assert problem == "block 0 names a batch 'a', expected 128 lower-case hexadecimal digits"


def setting_of(signer: Signer) -> Transaction:
    return build_transaction(
        signer, Family("any", "1"), b"", batcher_public_key="", inputs=[], outputs=[]
    )
