"""The one suite of the BlobStore port: each case takes an empty store, whichever it is.

Cases use recordings of their own, made from the seed, so that a store on a peer
that is dear to start can be shared by all of them.
"""

import hashlib
from collections.abc import Callable
from typing import Final

import pytest

from contracts.chunktree import BLOB_BYTES, leaf_hash
from contracts.copies import Copy, Place
from contracts.errors import RejectedError
from storage.blobs.port import MANIFEST_BYTES_MAX, Blob, BlobStore

Case = Callable[[BlobStore, str], None]


def blob(index: int, data: bytes) -> Blob:
    return Blob(index, data, leaf_hash(data))


def recording(seed: str, number: int = 0) -> bytes:
    return hashlib.sha256(f"{seed} {number}".encode()).digest()


def what_was_put_comes_back(blobs: BlobStore, seed: str) -> None:
    one, two = recording(seed), recording(seed, 1)
    whole = blob(3, bytes(BLOB_BYTES))
    blobs.put(one, whole)
    assert blobs.get(one, 3) == whole
    assert blobs.get(one, 3, fresh=True) == whole
    assert blobs.get(one, 2) is None
    assert blobs.get(two, 3) is None


def many_are_put_in_any_order(blobs: BlobStore, seed: str) -> None:
    one = recording(seed)
    several = [blob(index, b"%d" % index) for index in (5, 0, 65_535, 2)]
    blobs.put_many(one, several)
    blobs.put_many(one, [])
    assert dict(blobs.leaves(one)) == {each.index: each.leaf_hash for each in several}
    assert [blobs.get(one, each.index) for each in several] == several


def writing_twice_replaces(blobs: BlobStore, seed: str) -> None:
    one = recording(seed)
    for data in (b"first", b"first", b"second"):
        blobs.put(one, blob(0, data))
    assert blobs.get(one, 0) == blob(0, b"second")
    assert dict(blobs.leaves(one)) == {0: leaf_hash(b"second")}


def a_blob_that_lies_about_its_hash_is_kept_as_it_came(blobs: BlobStore, seed: str) -> None:
    one, lie = recording(seed), Blob(0, b"data", bytes(32))
    blobs.put(one, lie)
    assert blobs.get(one, 0) == lie


def deleting_takes_one_recording_and_may_be_repeated(blobs: BlobStore, seed: str) -> None:
    one, two = recording(seed), recording(seed, 1)
    for each in (one, two):
        blobs.put(each, blob(0, each))
        blobs.put_manifest(each, b"manifest")
    assert {one, two} <= set(blobs.recordings())
    blobs.delete(one)
    blobs.delete(one)
    assert (blobs.get(one, 0), dict(blobs.leaves(one)), blobs.manifest(one)) == (None, {}, None)
    assert one not in set(blobs.recordings())
    assert two in set(blobs.recordings())
    assert (blobs.get(two, 0), blobs.manifest(two)) == (blob(0, two), b"manifest")


def what_was_deleted_can_be_put_again(blobs: BlobStore, seed: str) -> None:
    one = recording(seed)
    for _ in range(2):
        blobs.put(one, blob(0, b"again"))
        blobs.put_manifest(one, b"whole")
        assert (blobs.get(one, 0), blobs.manifest(one)) == (blob(0, b"again"), b"whole")
        blobs.delete(one)
        assert (blobs.get(one, 0), blobs.manifest(one)) == (None, None)


def a_partial_recording_has_no_manifest(blobs: BlobStore, seed: str) -> None:
    one = recording(seed)
    assert blobs.manifest(one) is None
    blobs.put(one, blob(0, b"half"))
    assert blobs.manifest(one) is None
    assert one in set(blobs.recordings())


def a_manifest_is_kept_as_it_came_and_replaced(blobs: BlobStore, seed: str) -> None:
    one = recording(seed)
    for manifest in (b"1", bytes(MANIFEST_BYTES_MAX), b"2"):
        blobs.put_manifest(one, manifest)
        assert blobs.manifest(one) == manifest
    assert dict(blobs.leaves(one)) == {}


def a_manifest_goes_alone_and_can_come_back(blobs: BlobStore, seed: str) -> None:
    one = recording(seed)
    blobs.delete_manifest(one)
    blobs.put(one, blob(0, b"data"))
    for _ in range(2):
        blobs.put_manifest(one, b"whole")
        blobs.delete_manifest(one)
        blobs.delete_manifest(one)
        assert (blobs.get(one, 0), blobs.manifest(one)) == (blob(0, b"data"), None)
    blobs.put_manifest(one, b"whole")
    assert blobs.manifest(one) == b"whole"


def every_replica_shows_what_it_has(blobs: BlobStore, seed: str) -> None:
    one = recording(seed)
    assert {(each.blob, each.error) for each in blobs.replicas(one, 0)} == {(None, None)}
    blobs.put(one, blob(0, b"data"))
    found = list(blobs.replicas(one, 0))
    assert {(each.blob, each.error) for each in found} == {(blob(0, b"data"), None)}
    assert len({each.name for each in found}) == len(found)


def a_store_that_works_says_so_and_what_its_word_is_worth(blobs: BlobStore, seed: str) -> None:
    assert seed
    blobs.check()
    assert Copy.parse(str(Copy(Place.BLOBS, blobs.name, blobs.durability))).name == blobs.name


def no_blob_is_built_invalid(blobs: BlobStore, seed: str) -> None:
    for index, size, hash_bytes in [(-1, 1, 32), (0, 0, 32), (0, BLOB_BYTES + 1, 32), (0, 1, 31)]:
        with pytest.raises(RejectedError, match=r"got -?\d+"):
            blobs.put(recording(seed), Blob(index, bytes(size), bytes(hash_bytes)))
    assert dict(blobs.leaves(recording(seed))) == {}


SUITE: Final[tuple[Case, ...]] = (
    what_was_put_comes_back,
    many_are_put_in_any_order,
    writing_twice_replaces,
    a_blob_that_lies_about_its_hash_is_kept_as_it_came,
    deleting_takes_one_recording_and_may_be_repeated,
    what_was_deleted_can_be_put_again,
    a_partial_recording_has_no_manifest,
    a_manifest_is_kept_as_it_came_and_replaced,
    a_manifest_goes_alone_and_can_come_back,
    every_replica_shows_what_it_has,
    a_store_that_works_says_so_and_what_its_word_is_worth,
    no_blob_is_built_invalid,
)
