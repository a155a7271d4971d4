"""The chunk tree against the vectors that Certificate Transparency publishes."""

import hashlib

import pytest

from contracts.chunktree import (
    BLOB_BYTES,
    EMPTY_ROOT,
    TreeHasher,
    blob_count,
    blob_size,
    leaf_hash,
    root_hash,
)
from contracts.errors import RejectedError

# Inputs and roots of the reference implementation's Merkle tree tests (RFC 6962).
INPUTS = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAVES = [leaf_hash(data) for data in INPUTS]


@pytest.mark.parametrize("count", range(1, 9))
def test_published_roots(count: int) -> None:
    assert root_hash(LEAVES[:count]).hex() == ROOTS[count - 1]


def test_the_empty_file_has_a_defined_root() -> None:
    assert root_hash([]) == EMPTY_ROOT == hashlib.sha256(b"").digest()
    assert blob_count(0) == 0


def test_the_root_can_be_asked_for_while_leaves_arrive() -> None:
    tree = TreeHasher()
    for leaf, root in zip(LEAVES, ROOTS, strict=True):
        tree.add(leaf)
        assert tree.root().hex() == root
        assert tree.root().hex() == root


@pytest.mark.parametrize(
    ("size", "count", "last"),
    [(1, 1, 1), (BLOB_BYTES, 1, BLOB_BYTES), (BLOB_BYTES + 5, 2, 5), (1 << 40, 1 << 20, 1 << 20)],
)
def test_the_last_blob_may_be_shorter(size: int, count: int, last: int) -> None:
    assert blob_count(size) == count
    assert blob_size(size, count - 1) == last


@pytest.mark.parametrize(("size", "index"), [(0, 0), (1, 1), (1, -1), (BLOB_BYTES, 1)])
def test_there_is_no_blob_beyond_the_file(size: int, index: int) -> None:
    with pytest.raises(RejectedError, match=f"blob {index} of a file with"):
        blob_size(size, index)
