"""Sawtooth's Merkle-radix tree over the state, with single-child chains collapsed.

In Sawtooth an address of 35 bytes is a path of 35 nodes, one per byte, and
nearly all of them have a single child. Here only two kinds of node are kept:
leaves, which hold a value, and branches with at least two children (the root
may have fewer). The chain between them is the label of an edge. Hashes are
those of the uncollapsed tree (contracts/sawtooth/nodes.py), so roots are
Sawtooth's.

Nodes are numbered, not named by their hash. A number is used once, so nodes
that a block superseded can be deleted later, even if a node with the same
bytes was added since then.

Source: Sawtooth 1.2 architecture guide, "Global State"; recorded state roots.
"""

import struct
from binascii import hexlify, unhexlify
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from contracts.errors import RejectedError
from contracts.sawtooth import nodes
from contracts.sawtooth.nodes import (
    EMPTY_ROOT,
    HASH_BYTES,
    StateTreeNode,
    chain_hash,
    leaf_hash,
)

_EDGE: Final = struct.Struct(">BBQ32s")
_LEAF: Final = 1
_HASH_DIGITS: Final = 2 * HASH_BYTES

Change = tuple[bytes, bytes | None]
"""An address, 35 bytes, and its new value; None deletes."""


class Edge(NamedTuple):
    """The path from a branch to the next kept node.

    A block hashes and writes a branch again for each edge that changes, up to 256 edges at a time.
    So an edge has its parts of both ready. Made by `edge_to`.

    Attributes:
        label: The bytes of the address that lead there, at least one.
        child: Its part of the node of its branch in the uncollapsed tree; the root's is its hash.
        node: Number of the node at its end.
        is_leaf: Whether that node holds a value.
        record: Its part of the record of its branch.
    """

    label: bytes
    child: bytes
    node: int
    is_leaf: bool
    record: bytes

    @property
    def hash(self) -> bytes:
        """Return the hash of the first node on that path in the uncollapsed tree.

        64 hexadecimal digits.
        """
        return self.child[-_HASH_DIGITS:]


def edge_to(node: int, label: bytes, digest: bytes, *, is_leaf: bool = False) -> Edge:
    """Return the edge with `label` to a node; see `Edge`."""
    record = _EDGE.pack(is_leaf, len(label), node, unhexlify(digest)) + label
    child = nodes.child(label[0], digest) if label else digest
    return Edge(label, child, node, is_leaf, record)


_CHILD_OF: Final = attrgetter("child")
_RECORD_OF: Final = attrgetter("record")

Branch = Mapping[int, Edge]
"""Edges by the first byte of their label, in ascending order.

A block hashes and packs a branch of 256 edges again for each change in it, and does not sort it."""
ReadBranch = Callable[[Edge], Branch]
"""Returns the branch at the end of an edge."""
ReadLeaf = Callable[[Edge], bytes]
"""Returns the value at the end of an edge."""


@dataclass(slots=True)
class Update:
    """The result of one update of the tree.

    Attributes:
        root: Number of the new root node.
        root_hash: 64 hexadecimal digits.
        branches: New branches by number.
        leaves: New values by number.
        next_node: First number that is still unused.
        superseded: Numbers of nodes that the new tree no longer has.
        changes: The requested values by address; None deletes.
    """

    root: int
    root_hash: str
    next_node: int = 1
    branches: dict[int, Branch] = field(default_factory=dict)
    leaves: dict[int, bytes] = field(default_factory=dict)
    superseded: list[int] = field(default_factory=list)
    changes: Mapping[str, bytes | None] = field(default_factory=dict)


def branch_hash(branch: Branch) -> bytes:
    """Return the hash of a branch, 64 hexadecimal digits."""
    return nodes.joined_hash(list(map(_CHILD_OF, branch.values())))


def encode_branch(branch: Branch) -> bytes:
    """Return the record of a branch: per edge its kind, label length, node, hash and label."""
    return b"".join(map(_RECORD_OF, branch.values()))


def decode_branch(record: bytes) -> Branch:
    """Parse the record of a branch.

    Raises:
        RejectedError: The record is truncated.
    """
    branch: dict[int, Edge] = {}
    place = 0
    while place < len(record):
        try:
            kind, size, node, digest = _EDGE.unpack_from(record, place)
        except struct.error as error:
            raise RejectedError(f"tree record of {len(record)} bytes is cut short") from error
        begin, place = place, place + _EDGE.size + size
        label = record[place - size : place]
        if len(label) != size or not size:
            raise RejectedError(f"tree record of {len(record)} bytes is cut short")
        child = nodes.child(label[0], hexlify(digest))
        branch[label[0]] = Edge(label, child, node, kind == _LEAF, record[begin:place])
    return branch


def root_edge(node: int, root_hash: str) -> Edge:
    """Return an edge to a root, which no label leads to.

    Args:
        node: Number of the root node; 0 is the empty tree.
        root_hash: 64 hexadecimal digits.
    """
    return edge_to(node, b"", root_hash.encode())


def has_branch(edge: Edge, branch: Branch) -> bool:
    """Say whether the hash of `edge` is that of a path to `branch`."""
    return chain_hash(edge.label, branch_hash(branch)) == edge.hash


def has_leaf(edge: Edge, value: bytes) -> bool:
    """Say whether the hash of `edge` is that of a path to `value`."""
    return chain_hash(edge.label, leaf_hash(value)) == edge.hash


class Tree:
    """Computes the next tree from the last one.

    Args:
        branch: Reads branches of the last tree.
        leaf: Reads its values.
        next_node: First unused number.
    """

    def __init__(self, branch: ReadBranch, leaf: ReadLeaf, next_node: int) -> None:
        self._branch = branch
        self._leaf = leaf
        self._next_node = next_node
        self._update = Update(0, EMPTY_ROOT)

    def update(self, root: Edge, changes: Mapping[str, bytes | None]) -> Update:
        """Return the tree under `root` after `changes`, by address of 70 hexadecimal digits.

        Args:
            root: Leads to the root node.
            changes: New values; None deletes the value, if there is one.
        """
        items = sorted((bytes.fromhex(address), value) for address, value in changes.items())
        old = self._branch(root) if root.node else {}
        self._update = update = Update(root.node, EMPTY_ROOT, changes=changes)
        new = self._merge_children(old, items, 0)
        update.root_hash = branch_hash(new).decode()
        if new != old:
            if root.node:
                update.superseded.append(root.node)
            update.root = self._add_branch(new) if new else 0
        update.next_node = self._next_node
        return update

    def _merge_children(self, branch: Branch, items: Sequence[Change], depth: int) -> Branch:
        children = dict(branch)
        last, is_ascending = next(reversed(children), -1), True
        for token, group in groupby(items, key=lambda item: item[0][depth]):
            edge = self._merge(children.get(token), list(group), depth)
            if edge is None:
                children.pop(token, None)
                continue
            if token not in children:
                is_ascending, last = is_ascending and token > last, token
            children[token] = edge
        return children if is_ascending else dict(sorted(children.items()))

    def _merge(self, edge: Edge | None, items: list[Change], depth: int) -> Edge | None:
        """Return the edge at `depth` after `items`, which are sorted, are applied below it."""
        if edge is None:
            return self._grow([item for item in items if item[1] is not None], depth)
        common = _common(edge.label, items, depth)
        if common < len(edge.label):
            items = [
                item
                for item in items
                if item[1] is not None or item[0].startswith(edge.label, depth)
            ]
            if not items:
                return edge
            common = _common(edge.label, items, depth)
        if common < len(edge.label):
            rest = self._relabel(edge, edge.label[common:])
            split = {rest.label[0]: rest}
            return self._close(
                edge.label[:common], self._merge_children(split, items, depth + common)
            )
        if edge.is_leaf:
            return self._replace(edge, items[0][1])
        old = self._branch(edge)
        new = self._merge_children(old, items, depth + common)
        if new == old:
            return edge
        self._update.superseded.append(edge.node)
        return self._close(edge.label, new)

    def _grow(self, items: Sequence[Change], depth: int) -> Edge | None:
        """Return an edge to a new subtree of `items`, all of which have a value."""
        if not items:
            return None
        first, value = items[0]
        if len(items) == 1 and value is not None:
            return self._add_leaf(first[depth:], value)
        common = _common(first[depth:], items, depth)
        return self._close(
            first[depth : depth + common], self._merge_children({}, items, depth + common)
        )

    def _close(self, label: bytes, branch: Branch) -> Edge | None:
        """Return the edge with `label` to `branch`, collapsed if the branch has one child."""
        if not branch:
            return None
        if len(branch) == 1:
            (only,) = branch.values()
            return self._relabel(only, label + only.label)
        return edge_to(self._add_branch(branch), label, chain_hash(label, branch_hash(branch)))

    def _relabel(self, edge: Edge, label: bytes) -> Edge:
        """Return an edge to the same node with another label, and so another hash."""
        if edge.is_leaf:
            value = self._update.leaves.get(edge.node)
            end = leaf_hash(self._leaf(edge) if value is None else value)
        else:
            branch = self._update.branches.get(edge.node)
            end = branch_hash(self._branch(edge) if branch is None else branch)
        return edge_to(edge.node, label, chain_hash(label, end), is_leaf=edge.is_leaf)

    def _replace(self, edge: Edge, value: bytes | None) -> Edge | None:
        if value is not None and value == self._leaf(edge):
            return edge
        self._update.superseded.append(edge.node)
        return None if value is None else self._add_leaf(edge.label, value)

    def _add_leaf(self, label: bytes, value: bytes) -> Edge:
        number = self._number()
        self._update.leaves[number] = value
        return edge_to(number, label, chain_hash(label, leaf_hash(value)), is_leaf=True)

    def _add_branch(self, branch: Branch) -> int:
        number = self._number()
        self._update.branches[number] = branch
        return number

    def _number(self) -> int:
        self._next_node += 1
        return self._next_node - 1


def find_leaf(branch: ReadBranch, root: Edge, address: bytes) -> Edge | None:
    """Return the edge to the leaf at `address`, 35 bytes, in the tree under `root`."""
    edge, depth = root, 0
    while edge.node:
        below = branch(edge).get(address[depth])
        if below is None or not address.startswith(below.label, depth):
            return None
        if below.is_leaf:
            return below
        edge, depth = below, depth + len(below.label)
    return None


def walk_way(
    branch: ReadBranch, leaf: ReadLeaf, root: Edge, target: bytes
) -> Iterator[StateTreeNode]:
    """Yield the nodes on the way to an address or to the beginning of addresses.

    Yields the root and each branch above the target. If the target is not set, the last node
    proves it: a branch without such a child, or the end of a chain that leads elsewhere.
    """
    path, here = b"", branch(root) if root.node else {}
    yield StateTreeNode(path, {token: edge.hash for token, edge in here.items()})
    while len(path) < len(target) and (edge := here.get(target[len(path)])):
        path += edge.label
        if not _within(path, target):
            end = leaf_hash(leaf(edge)) if edge.is_leaf else branch_hash(branch(edge))
            yield StateTreeNode(path, end=end)
            return
        if edge.is_leaf or len(path) >= len(target):
            return
        here = branch(edge)
        yield StateTreeNode(path, {token: each.hash for token, each in here.items()})


def walk_leaves(
    branch: ReadBranch, root: Edge, prefix: bytes, start: bytes, *, reverse: bool
) -> Iterator[tuple[bytes, Edge]]:
    """Yield address and edge of the leaves under `prefix`, in order of addresses.

    Args:
        branch: Reads branches.
        root: Leads to the root node.
        prefix: Addresses must begin with it.
        start: First address; empty means the lowest, or the highest in reverse.
        reverse: From the highest address down.
    """
    stack = [(b"", root)] if root.node else []
    while stack:
        path, edge = stack.pop()
        if edge.is_leaf:
            yield path, edge
            continue
        children = branch(edge)
        for token in sorted(children, reverse=not reverse):
            child = children[token]
            below = path + child.label
            if _within(below, prefix) and not _before(below, start, reverse=reverse):
                stack.append((below, child))


def _within(path: bytes, prefix: bytes) -> bool:
    return path.startswith(prefix) or prefix.startswith(path)


def _before(path: bytes, start: bytes, *, reverse: bool) -> bool:
    """Say whether all addresses under `path` come before `start`."""
    head = start[: len(path)]
    return bool(start) and (path > head if reverse else path < head)


def _common(label: bytes, items: Sequence[Change], depth: int) -> int:
    """Return how many bytes `label` shares with all of `items`, which are sorted, from `depth`."""
    first, last = items[0][0], items[-1][0]
    if first.startswith(label, depth) and last.startswith(label, depth):
        return len(label)
    length = 0
    while label[length] == first[depth + length] == last[depth + length]:
        length += 1
    return length
