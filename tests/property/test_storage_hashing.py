"""Both ways to hash a recording give what hashlib gives, however the bytes come."""

import hashlib
import platform
import random
import shutil
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.chunktree import BLOB_BYTES, leaf_hash
from storage.hashing.onepass import (
    IN_ONE_PASS,
    HashlibHash,
    OnePassHash,
    RecordingHash,
    recording_hash,
)

WAYS: list[Callable[[], RecordingHash]] = [HashlibHash, *([OnePassHash] if IN_ONE_PASS else [])]
BYTES = random.Random(18).randbytes(3 * BLOB_BYTES + 5)
SIZES = st.one_of(
    st.integers(0, 300), st.sampled_from([64 * 9 + 63, 4096, 64 * 200 + 55, 64 * 200 + 56])
)


def test_the_extension_is_there_where_it_can_be() -> None:
    cpu = Path("/proc/cpuinfo").read_text()
    headers = Path(sysconfig.get_paths()["include"], "Python.h").exists()
    built = platform.machine() == "x86_64" and headers and shutil.which("cc") is not None
    assert (built and " sha_ni" in cpu) == IN_ONE_PASS
    assert type(recording_hash()) is WAYS[-1]


@pytest.mark.parametrize("way", WAYS)
@given(pieces=st.lists(SIZES, max_size=8))
def test_the_whole_is_what_hashlib_says(
    way: Callable[[], RecordingHash], pieces: list[int]
) -> None:
    ours, theirs, at = way(), hashlib.sha256(), 0
    for size in pieces:
        piece = memoryview(BYTES)[at : at + size]
        ours.update(piece)
        theirs.update(piece)
        at += size
        assert ours.digest() == theirs.digest()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("size", [0, 1, 63, BLOB_BYTES - 1, BLOB_BYTES, BLOB_BYTES + 1, len(BYTES)])
@pytest.mark.parametrize("before", [0, 1, BLOB_BYTES])
def test_leaves_are_those_of_rfc_6962(
    way: Callable[[], RecordingHash],
    kind: Callable[[bytes], bytes | bytearray | memoryview],
    size: int,
    before: int,
) -> None:
    data = BYTES[:size]
    ours, theirs = way(), hashlib.sha256(BYTES[:before] + data)
    ours.update(BYTES[:before])
    found = ours.update_blobs(kind(data))
    starts = range(0, size // BLOB_BYTES * BLOB_BYTES, BLOB_BYTES)
    leaves = [leaf_hash(data[start : start + BLOB_BYTES]) for start in starts]
    assert list(found) == (leaves if way is not HashlibHash else [])
    assert ours.digest() == theirs.digest()


if IN_ONE_PASS:
    from storage.hashing._native import Sha256

    @given(pieces=st.lists(st.tuples(SIZES, st.booleans()), max_size=8))
    def test_a_leaf_of_any_size_at_any_place(pieces: list[tuple[int, bool]]) -> None:
        ours, theirs, at = Sha256(), hashlib.sha256(), 0
        for size, is_blob in pieces:
            piece = BYTES[at : at + size]
            theirs.update(piece)
            at += size
            if is_blob:
                assert ours.update_blob(piece) == leaf_hash(piece)
            else:
                ours.update(piece)
            assert ours.digest() == theirs.digest()

    @pytest.mark.parametrize("method", ["update", "update_blob"])
    def test_what_has_no_bytes_in_a_row_is_refused(method: str) -> None:
        ours = Sha256()
        for wrong in ("text", None, 5, memoryview(b"abcdef")[::2]):
            with pytest.raises((TypeError, BufferError)):
                getattr(ours, method)(wrong)
        assert ours.digest() == hashlib.sha256().digest()

    def test_two_threads_at_once_are_refused() -> None:
        ours, much = Sha256(), bytes(256 << 20)
        thread = threading.Thread(target=ours.update, args=(much,))
        thread.start()
        refused = 0
        while thread.is_alive():
            try:
                ours.digest()
            except RuntimeError:
                refused += 1
        thread.join()
        assert refused
        assert ours.digest() == hashlib.sha256(much).digest()
