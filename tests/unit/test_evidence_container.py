"""The writer of evidence files writes what the verifier reads."""

import io

from contracts.encoding import canonical
from contracts.evidence.container import MAGIC, EvidenceWriter, Part, read_frames
from contracts.evidence.verify import verify_evidence
from contracts.proto.sawtooth_pb2 import Batch
from support.chain import Evidence, story, trust_in

VIDEO = b"a short clip" * 60
STORY = story([VIDEO])


def written(evidence: Evidence) -> bytes:
    """Return the file as an exporter writes it."""
    writer = EvidenceWriter()
    parts = [*evidence.heads, *evidence.batches, *evidence.leaves, *evidence.blobs]
    frames = [writer.start(evidence.header), *map(writer.frame, parts)]
    return b"".join(frames) + writer.end()


def test_the_writer_writes_what_the_page_describes() -> None:
    assert written(STORY.evidence) == STORY.evidence.wire()


def test_what_is_written_is_read() -> None:
    wire = written(STORY.evidence)
    assert wire.startswith(MAGIC)
    frames = [(kind, payload) for kind, payload in read_frames(io.BytesIO(wire))]
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
