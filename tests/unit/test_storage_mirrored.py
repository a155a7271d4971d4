"""Two blob stores behind one port: what another site shares, and what rots in the far one."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES, leaf_hash
from storage.blobs.both import MirroredBlobs
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob
from storage.recordings.store import RecordingStore
from storage.recordings.writer import DigestError
from support.storage.shared_stores import (
    DATA,
    ID,
    WRONG,
    forget_blobs,
    rot,
)
from support.storage.stores import open_store, put


def test_a_mirror_takes_nothing_from_another_site_either(tmp_path: Path) -> None:
    shared = FileBlobs(tmp_path / "shared")
    near, other = FileBlobs(tmp_path / "near"), FileBlobs(tmp_path / "other")
    with ExitStack() as stack:
        mirror = stack.enter_context(closing(MirroredBlobs(near, shared)))
        mirror_there = stack.enter_context(closing(MirroredBlobs(other, shared)))
        here = stack.enter_context(open_store(tmp_path / "here", mirror))
        there = stack.enter_context(open_store(tmp_path / "there", mirror_there))
        with here.begin(ID, len(DATA)) as writer:
            writer.write(DATA[:BLOB_BYTES])
            writer.sync()
        put(there, DATA)
        here.delete(ID)
        assert there.verify(ID).holds
        assert there.blobs_hold(ID)
        with here.begin(ID, len(DATA)) as writer:
            writer.write(WRONG)
            with pytest.raises(DigestError):
                writer.finish()
        assert there.verify(ID).holds
        put(here, DATA)
        assert here.fill(ID)
        assert here.blobs_hold(ID)
        assert here.verify(ID).holds


@dataclass
class Mirrored:
    """A store over a mirror.

    Attributes:
        store: The store.
        far: What the mirror reads last.
    """

    store: RecordingStore
    far: FileBlobs

    def whole_in_far(self) -> bool:
        pieces = [self.far.get(ID, index) for index in range(3)]
        return b"".join(piece.data for piece in pieces if piece) == DATA


@pytest.fixture
def mirrored(tmp_path: Path) -> Iterator[Mirrored]:
    near, far = FileBlobs(tmp_path / "near"), FileBlobs(tmp_path / "far")
    with (
        closing(MirroredBlobs(near, far)) as both,
        open_store(tmp_path / "here", both) as store,
    ):
        yield Mirrored(store, far)


def test_what_rotted_in_the_far_one_is_put_again_by_an_upload(mirrored: Mirrored) -> None:
    piece = DATA[:BLOB_BYTES]
    mirrored.store.places.blobs.put(ID, Blob(0, piece, leaf_hash(piece)))
    rot(mirrored.far, 0)
    put(mirrored.store, DATA)
    assert mirrored.whole_in_far()


def test_what_rotted_in_the_far_one_is_put_again_by_a_fill(mirrored: Mirrored) -> None:
    put(mirrored.store, DATA)
    forget_blobs(mirrored.store)
    rot(mirrored.far, 1)
    assert mirrored.store.fill(ID)
    assert mirrored.whole_in_far()


def test_what_rotted_in_the_far_one_is_found_before_a_whole_file_goes(mirrored: Mirrored) -> None:
    put(mirrored.store, DATA)
    rot(mirrored.far, 1)
    assert not mirrored.store.verify(ID).holds
    assert mirrored.store.prove_blobs(ID)
    assert mirrored.whole_in_far()
    assert mirrored.store.verify(ID).holds
