"""Memory that is used again: it comes back once nobody reads it, and no byte changes."""

import hashlib
import mmap
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import storage.blobs.files
from contracts.chunktree import BLOB_BYTES
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob
from storage.recordings.buffers import KEPT_MAX, PIECE_BYTES, Buffers
from storage.recordings.splitter import GROUP_BLOBS
from support.storage.stores import open_store

GARBAGE = b"\xff" * 4096
SIZE = 2 * GROUP_BLOBS * BLOB_BYTES + 12_345


def test_memory_that_came_back_is_lent_again_up_to_a_bound() -> None:
    buffers = Buffers()
    lent = [buffers.take() for _ in range(KEPT_MAX + 1)]
    assert {len(each) for each in lent} == {PIECE_BYTES}
    for each in lent:
        buffers.give_back(each)
    again = [buffers.take() for _ in range(KEPT_MAX + 1)]
    assert len({id(each) for each in again} & {id(each) for each in lent}) == KEPT_MAX


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    cuts=st.lists(
        st.sampled_from([1, 4096, BLOB_BYTES - 1, BLOB_BYTES, 3 * BLOB_BYTES]), max_size=4
    ),
    aligned=st.booleans(),
)
def test_lent_memory_may_change_once_it_came_back(
    tmp_path_factory: pytest.TempPathFactory, *, cuts: list[int], aligned: bool
) -> None:
    tmp_path = tmp_path_factory.mktemp("lent")
    data = os.urandom(SIZE)
    recording_id = hashlib.sha256(data).digest()
    lent = given_back = 0

    with open_store(tmp_path) as store:
        with store.begin(recording_id, SIZE) as writer:
            start = 0
            while start < SIZE:
                size = min(cuts.pop() if cuts else PIECE_BYTES, SIZE - start)
                memory = memoryview(mmap.mmap(-1, PIECE_BYTES + 1))[0 if aligned else 1 :]
                view = memory[:size]
                view[:] = data[start : start + size]

                def done(view: memoryview = view) -> None:
                    nonlocal given_back
                    given_back += 1
                    view[:] = (GARBAGE * (len(view) // len(GARBAGE) + 1))[: len(view)]

                writer.write(view, done)
                lent += 1
                start += size
            writer.finish()
        assert given_back == lent
        assert b"".join(store.read(recording_id)) == data
        assert store.verify(recording_id).holds


def test_the_end_of_an_upload_opens_no_blob_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs, one = FileBlobs(tmp_path), bytes(32)
    for number in range(3):
        blobs.put(one, Blob(number, b"data", bytes([number]) * 32))
    expected = dict(blobs.leaves(one))
    with monkeypatch.context() as patched:
        patched.setattr(storage.blobs.files, "_head", lambda _: pytest.fail("it was opened"))
        assert dict(blobs.leaves(one)) == expected
    (gone,) = tmp_path.glob("*/*/*/00000001")
    gone.unlink()
    assert set(blobs.leaves(one)) == {0, 2}
    assert dict(FileBlobs(tmp_path).leaves(one)) == dict(blobs.leaves(one))  # from the medium
