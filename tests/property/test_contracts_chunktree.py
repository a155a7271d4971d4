"""Every leaf of every tree leads to the root, and nothing else does."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.chunktree import audit_path, leaf_hash, root_from_path, root_hash
from contracts.errors import RejectedError

trees = st.integers(1, 40).map(lambda count: [leaf_hash(bytes([each])) for each in range(count)])


@given(trees, st.data())
def test_a_path_leads_from_its_leaf_to_the_root(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    path = audit_path(leaves, index)
    assert root_from_path(leaves[index], index, len(leaves), path) == root_hash(leaves)


@given(trees, st.data())
def test_another_leaf_or_place_or_path_does_not(leaves: list[bytes], data: st.DataObject) -> None:
    index, other = (data.draw(st.integers(0, len(leaves) - 1)) for _ in range(2))
    path = audit_path(leaves, index)
    root = root_hash(leaves)
    assert root_from_path(leaf_hash(b"other"), index, len(leaves), path) != root
    if other != index:
        assert leads(leaves[index], other, len(leaves), path) != root
    if path:
        at = data.draw(st.integers(0, len(path) - 1))
        path[at] = bytes(32)
        assert root_from_path(leaves[index], index, len(leaves), path) != root


def leads(leaf: bytes, index: int, count: int, path: list[bytes]) -> bytes | None:
    """Return where the path leads, or None when it is none for that place."""
    try:
        return root_from_path(leaf, index, count, path)
    except RejectedError:
        return None


@given(trees, trees)
def test_trees_of_other_leaves_have_other_roots(first: list[bytes], second: list[bytes]) -> None:
    assert (root_hash(first) == root_hash(second)) == (first == second)
