"""The collapsed tree has the roots of the plain one, whatever is set and deleted in which order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import RejectedError
from contracts.ledger.state.merkle import (
    Branch,
    Edge,
    Tree,
    Update,
    decode_branch,
    edge_to,
    encode_branch,
    find_leaf,
    has_branch,
    has_leaf,
    root_edge,
    walk_leaves,
)
from contracts.sawtooth.nodes import EMPTY_ROOT
from support.ledgers.nodes import naive_root

FILLING = "ab" * 35
addresses = st.builds(
    lambda head, middle, tail: (
        head + FILLING[: 70 - len(head) - len(middle) - len(tail)] + middle + tail
    ),
    st.sampled_from(["", "00", "0001", "ab"]),
    st.sampled_from(["", "00", "abab", "ff00ff"]),
    st.sampled_from(["", "00", "01", "ab00", "ff"]),
)
"""Few enough to meet again and to share beginnings of every length."""
values = st.one_of(st.none(), st.binary(max_size=3), st.just(bytes(300)))
blocks = st.lists(st.dictionaries(addresses, values, max_size=6), max_size=8)


class Nodes:
    """Keeps exactly the nodes that the newest tree has."""

    def __init__(self) -> None:
        self.branches: dict[int, bytes] = {}
        self.leaves: dict[int, bytes] = {}
        self.root = root_edge(0, EMPTY_ROOT)
        self.tree = Tree(self.branch, self.leaf, 1)

    def branch(self, edge: Edge) -> Branch:
        branch = decode_branch(self.branches[edge.node])
        assert has_branch(edge, branch)
        return branch

    def leaf(self, edge: Edge) -> bytes:
        value = self.leaves[edge.node]
        assert has_leaf(edge, value)
        return value

    def apply(self, changes: dict[str, bytes | None]) -> Update:
        update = self.tree.update(self.root, changes)
        for number in update.superseded:
            if self.branches.pop(number, None) is None:
                del self.leaves[number]
        self.branches.update((n, encode_branch(b)) for n, b in update.branches.items())
        self.leaves.update(update.leaves)
        self.root = root_edge(update.root, update.root_hash)
        return update

    def reachable(self) -> tuple[set[int], set[int]]:
        branches: set[int] = set()
        leaves: set[int] = set()
        todo = [self.root] if self.root.node else []
        while todo:
            above = todo.pop()
            branches.add(above.node)
            for edge in self.branch(above).values():
                if edge.is_leaf:
                    leaves.add(edge.node)
                else:
                    todo.append(edge)
        return branches, leaves


@given(blocks)
def test_roots_are_those_of_the_plain_tree(changes: list[dict[str, bytes | None]]) -> None:
    nodes, state = Nodes(), dict[str, bytes]()
    for block in changes:
        update = nodes.apply(block)
        state = {address: value for address, value in (state | block).items() if value is not None}
        assert update.root_hash == (naive_root(state) if state else EMPTY_ROOT)
        assert nodes.reachable() == (set(nodes.branches), set(nodes.leaves))
        found = {
            address: find_leaf(nodes.branch, nodes.root, bytes.fromhex(address))
            for address in state.keys() | block.keys()
        }
        for address, edge in found.items():
            assert state.get(address) == (None if edge is None else nodes.leaf(edge))


@given(st.dictionaries(addresses, st.binary(max_size=3), max_size=12), addresses, st.booleans())
def test_walk_is_in_order_from_anywhere(
    state: dict[str, bytes],
    start: str,
    reverse: bool,  # noqa: FBT001 - drawn
) -> None:
    nodes = Nodes()
    nodes.apply(dict(state))
    for prefix in ("", "ab", "00", start[:8], start):
        walked = [
            (address.hex(), nodes.leaf(edge))
            for address, edge in walk_leaves(
                nodes.branch,
                nodes.root,
                bytes.fromhex(prefix),
                bytes.fromhex(start),
                reverse=reverse,
            )
        ]
        assert walked == [
            (address, state[address])
            for address in sorted(state, reverse=reverse)
            if address.startswith(prefix) and (address <= start if reverse else address >= start)
        ]


@given(
    st.dictionaries(
        st.integers(0, 255),
        st.tuples(
            st.binary(max_size=34), st.binary(min_size=32, max_size=32), st.integers(0, 2**64 - 1)
        ),
        min_size=1,
        max_size=5,
    ),
    st.data(),
)
def test_branch_record_round_trip_and_cut(
    drawn: dict[int, tuple[bytes, bytes, int]], data: st.DataObject
) -> None:
    branch = {
        token: edge_to(node, bytes((token,)) + rest, digest.hex().encode(), is_leaf=node % 2 == 0)
        for token, (rest, digest, node) in drawn.items()
    }
    record = encode_branch(branch)
    assert decode_branch(record) == branch
    last = max(branch)
    whole = len(encode_branch({token: edge for token, edge in branch.items() if token != last}))
    cut = data.draw(st.integers(whole + 1, len(record) - 1))
    with pytest.raises(RejectedError):
        decode_branch(record[:cut])
