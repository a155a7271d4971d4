"""Different leaves have different roots."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.chunktree import leaf_hash, root_hash

trees = st.integers(1, 40).map(lambda count: [leaf_hash(bytes([each])) for each in range(count)])


@given(trees, trees)
def test_trees_of_other_leaves_have_other_roots(first: list[bytes], second: list[bytes]) -> None:
    assert (root_hash(first) == root_hash(second)) == (first == second)
