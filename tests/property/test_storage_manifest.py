"""Manifests and progress records are bijections, and no damage to them goes unseen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.chunktree import BLOB_BYTES, blob_count, root_hash
from contracts.copies import CONSISTENCY_LEVELS, FSYNC, Copy, Place
from contracts.errors import RejectedError
from storage.recordings.manifest import RECORDING_BYTES_MAX, Progress, StoredRecording

hashes = st.binary(min_size=32, max_size=32)
copies = st.builds(
    Copy,
    st.sampled_from(Place),
    st.from_regex(r"[a-z0-9][a-z0-9+-]{0,31}", fullmatch=True),
    st.sampled_from([FSYNC, *CONSISTENCY_LEVELS, f"{FSYNC}+QUORUM"]),
)


@st.composite
def manifests(draw: st.DrawFn) -> StoredRecording:
    size = draw(st.integers(0, 5 * BLOB_BYTES))
    count = blob_count(size)
    leaves = tuple(draw(st.lists(hashes, min_size=count, max_size=count)))
    made = tuple(draw(st.lists(copies, max_size=8)))
    return StoredRecording(draw(hashes), size, root_hash(leaves), leaves, made)


@st.composite
def progresses(draw: st.DrawFn) -> Progress:
    size = draw(st.integers(0, RECORDING_BYTES_MAX))
    return Progress(draw(hashes), size, draw(st.integers(0, size)))


@given(manifests())
def test_manifest_round_trip(manifest: StoredRecording) -> None:
    assert StoredRecording.decode(manifest.encode()) == manifest


@given(progresses())
def test_progress_round_trip(progress: Progress) -> None:
    assert Progress.decode(progress.encode()) == progress


@given(
    st.one_of(manifests(), progresses()), st.integers(1, 255), st.binary(min_size=1, max_size=40)
)
def test_damage_at_every_byte_is_seen(
    record: StoredRecording | Progress, flip: int, extra: bytes
) -> None:
    wire = record.encode()
    for place in range(len(wire)):
        damaged = bytearray(wire)
        damaged[place] ^= flip
        with pytest.raises(RejectedError):
            record.decode(bytes(damaged))
        with pytest.raises(RejectedError):
            record.decode(wire[:place])
    with pytest.raises(RejectedError):
        record.decode(wire + extra)


@pytest.mark.parametrize("size", [-1, RECORDING_BYTES_MAX + 1])
def test_sizes_have_a_limit(size: int) -> None:
    with pytest.raises(RejectedError, match=f"got {size}"):
        Progress(bytes(32), size, 0)


def test_a_manifest_must_agree_with_itself() -> None:
    leaf = bytes(32)
    with pytest.raises(RejectedError, match="has 2 leaves, got 1"):
        StoredRecording(bytes(32), BLOB_BYTES + 1, root_hash([leaf]), (leaf,), ())
    with pytest.raises(RejectedError, match="lead to tree root"):
        StoredRecording(bytes(32), 1, root_hash([]), (leaf,), ())
    with pytest.raises(RejectedError, match="must have 32 bytes, got 31"):
        StoredRecording(bytes(31), 0, root_hash([]), (), ())
