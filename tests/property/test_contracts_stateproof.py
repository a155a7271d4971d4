"""A pruned tree proves what is at each wanted address, and is the same however it was made."""

from typing import NoReturn

from hypothesis import given
from hypothesis import strategies as st

from contracts.ledger.state.merkle import Edge, Tree, root_edge, walk_way
from contracts.sawtooth.nodes import EMPTY_ROOT, StateTreeNode
from contracts.sawtooth.pruned import Pruning, Wanted

heads = st.sampled_from(["", "00", "0001", "ab", "abab"])
addresses = st.builds(
    lambda head, tail: (head + "ab" * 35)[: 70 - len(tail)] + tail,
    heads,
    st.sampled_from(["", "00", "01", "ab00", "ff"]),
)
leaves = st.dictionaries(addresses, st.binary(max_size=3), max_size=12)


def pruned(
    values: dict[str, bytes], wanted: list[str], prefixes: list[str]
) -> tuple[str, list[StateTreeNode]]:
    pruning = Pruning(Wanted(map(bytes.fromhex, wanted), map(bytes.fromhex, prefixes)))
    for address in sorted(values):
        pruning.add(bytes.fromhex(address), values[address])
    nodes = list(pruning.finish())
    return pruning.root_hash, nodes


def _unread(edge: Edge) -> NoReturn:
    raise AssertionError(edge)  # a tree that begins empty


def walked(values: dict[str, bytes], target: str) -> tuple[str, list[StateTreeNode]]:
    update = Tree(_unread, _unread, 1).update(root_edge(0, EMPTY_ROOT), dict(values))
    way = walk_way(
        lambda edge: update.branches[edge.node],
        lambda edge: update.leaves[edge.node],
        root_edge(update.root, update.root_hash),
        bytes.fromhex(target),
    )
    return update.root_hash, list(way)


@given(leaves, addresses)
def test_all_leaves_and_the_stored_tree_give_the_same_way(
    values: dict[str, bytes], target: str
) -> None:
    root, nodes = pruned(values, [target], [])
    stored_root, way = walked(values, target)
    assert root == stored_root
    assert [node for node in nodes if node.value is None] == way
    assert [node.value for node in nodes if node.path.hex() == target and not node.end] == (
        [values[target]] if target in values else []
    )
