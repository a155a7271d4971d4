"""Sawtooth's Merkle-radix tree over the state, with single-child chains collapsed.

In Sawtooth an address of 35 bytes is a path of 35 nodes, one per byte, and
nearly all of them have a single child. Here only two kinds of node are kept:
leaves, which hold a value, and branches, from which at least two ways lead
on (the root may have fewer). The chain between them is the label of an edge.
Hashes are those of the uncollapsed tree, so roots are Sawtooth's.

A node of the published tree is the CBOR map {"c": {token: child hash}, "v":
value or null}, a token being two hexadecimal digits; its hash is the first 32
bytes of the SHA-512 of that CBOR. A value is itself wrapped in CBOR.

Nodes are numbered, not named by their hash: a number is used once, so what a
block superseded can be deleted later without asking whether the same bytes
came back meanwhile.

Source: Sawtooth 1.2 architecture guide, "Global State"; recorded state roots.
"""

import hashlib
import struct
from binascii import hexlify, unhexlify
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from contracts.errors import RejectedError

HASH_BYTES: Final = 32

_TOKENS: Final = [f"{token:02x}".encode() for token in range(256)]
_CHAIN: Final = [b"\xa2\x61c\xa1\x62" + token + b"\x78\x40" for token in _TOKENS]
_CHILD: Final = [b"\x62" + token + b"\x78\x40" for token in _TOKENS]
_NO_VALUE: Final = b"\x61v\xf6"
_EDGE: Final = struct.Struct(">BBQ32s")
_LEAF: Final = 1
_CBOR_SHORT: Final = 24

Change = tuple[bytes, bytes | None]
"""An address, 35 bytes, and its new value; None deletes."""


@dataclass(frozen=True, slots=True)
class Edge:
    """The way from a branch to the next node that is kept.

    Attributes:
        label: The bytes of the address that lead there, at least one.
        hash: Of the first node on that way in the uncollapsed tree, 64 hexadecimal digits.
        node: Number of the node at its end.
        is_leaf: Whether that node holds a value.
    """

    label: bytes
    hash: bytes
    node: int
    is_leaf: bool = False


Branch = Mapping[int, Edge]
"""Edges by the first byte of their label."""


@dataclass(slots=True)
class Update:
    """What one update of the tree makes of it.

    Attributes:
        root: Number of the new root node.
        root_hash: 64 hexadecimal digits.
        branches: New branches by number.
        leaves: New values by number.
        superseded: Numbers of nodes that the new tree has no more.
        changes: New values by address, as asked for; None deletes.
    """

    root: int
    root_hash: str
    branches: dict[int, Branch] = field(default_factory=dict)
    leaves: dict[int, bytes] = field(default_factory=dict)
    superseded: list[int] = field(default_factory=list)
    changes: Mapping[str, bytes | None] = field(default_factory=dict)


def _cbor_head(kind: int, size: int) -> bytes:
    """Return the head of a CBOR item in its shortest form (RFC 8949, 3)."""
    if size < _CBOR_SHORT:
        return bytes((kind | size,))
    if size < 1 << 8:
        return bytes((kind | 24, size))
    if size < 1 << 16:
        return bytes((kind | 25,)) + size.to_bytes(2, "big")
    return bytes((kind | 26,)) + size.to_bytes(4, "big")


def _digest(node: bytes) -> bytes:
    return hexlify(hashlib.sha512(node).digest()[:HASH_BYTES])


def leaf_hash(value: bytes) -> bytes:
    """Return the hash of the node that holds `value`, 64 hexadecimal digits."""
    wrapped = _cbor_head(0x40, len(value)) + value
    return _digest(b"\xa2\x61c\xa0\x61v" + _cbor_head(0x40, len(wrapped)) + wrapped)


def branch_hash(branch: Branch) -> bytes:
    """Return the hash of a node without value, 64 hexadecimal digits."""
    children = [_CHILD[token] + edge.hash for token, edge in sorted(branch.items())]
    return _digest(b"\xa2\x61c" + _cbor_head(0xA0, len(branch)) + b"".join(children) + _NO_VALUE)


def chain_hash(label: bytes, end: bytes) -> bytes:
    """Return the hash of the first node along `label`, whose last byte leads to hash `end`."""
    for token in label[:0:-1]:
        end = hexlify(hashlib.sha512(_CHAIN[token] + end + _NO_VALUE).digest()[:HASH_BYTES])
    return end


EMPTY_ROOT: Final = branch_hash({}).decode()


def encode_branch(branch: Branch) -> bytes:
    """Return the record of a branch: per edge its kind, label length, node, hash and label."""
    return b"".join(
        [
            _EDGE.pack(edge.is_leaf, len(edge.label), edge.node, unhexlify(edge.hash)) + edge.label
            for _, edge in sorted(branch.items())
        ]
    )


def decode_branch(record: bytes) -> Branch:
    """Parse the record of a branch.

    Raises:
        RejectedError: The record is cut short.
    """
    branch: dict[int, Edge] = {}
    place = 0
    while place < len(record):
        try:
            kind, size, node, digest = _EDGE.unpack_from(record, place)
        except struct.error as error:
            raise RejectedError(f"tree record of {len(record)} bytes is cut short") from error
        place += _EDGE.size + size
        label = record[place - size : place]
        if len(label) != size or not size:
            raise RejectedError(f"tree record of {len(record)} bytes is cut short")
        branch[label[0]] = Edge(label, hexlify(digest), node, kind == _LEAF)
    return branch


class Tree:
    """Computes the next tree from the last one.

    Args:
        branch: Returns the branch with a number.
        leaf: Returns the value with a number.
        next_node: First number not used yet.
    """

    def __init__(
        self, branch: Callable[[int], Branch], leaf: Callable[[int], bytes], next_node: int
    ) -> None:
        self._branch = branch
        self._leaf = leaf
        self.next_node = next_node
        self._update = Update(0, EMPTY_ROOT)

    def update(self, root: int, changes: Mapping[str, bytes | None]) -> Update:
        """Return the tree that `changes`, by address of 70 hexadecimal digits, make of `root`.

        Args:
            root: Number of the root node; 0 is the empty tree.
            changes: New values; None deletes, and deleting nothing changes nothing.
        """
        items = sorted((bytes.fromhex(address), value) for address, value in changes.items())
        old = self._branch(root) if root else {}
        self._update = update = Update(root, EMPTY_ROOT, changes=changes)
        new = self._merge_children(old, items, 0)
        update.root_hash = branch_hash(new).decode()
        if new != old:
            if root:
                update.superseded.append(root)
            update.root = self._add_branch(new) if new else 0
        return update

    def _merge_children(self, branch: Branch, items: Sequence[Change], depth: int) -> Branch:
        children = dict(branch)
        for token, group in groupby(items, key=lambda item: item[0][depth]):
            edge = self._merge(children.pop(token, None), list(group), depth)
            if edge is not None:
                children[token] = edge
        return children

    def _merge(self, edge: Edge | None, items: list[Change], depth: int) -> Edge | None:
        """Return the edge that stands at `depth` once `items`, sorted, are applied below it."""
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
        old = self._branch(edge.node)
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
        """Return the edge with `label` to `branch`, collapsed when only one way leads on."""
        if not branch:
            return None
        if len(branch) == 1:
            (only,) = branch.values()
            return self._relabel(only, label + only.label)
        return Edge(label, chain_hash(label, branch_hash(branch)), self._add_branch(branch))

    def _relabel(self, edge: Edge, label: bytes) -> Edge:
        """Return an edge to the same node over another label, with the hash that this gives."""
        if edge.is_leaf:
            value = self._update.leaves.get(edge.node)
            end = leaf_hash(self._leaf(edge.node) if value is None else value)
        else:
            branch = self._update.branches.get(edge.node)
            end = branch_hash(self._branch(edge.node) if branch is None else branch)
        return Edge(label, chain_hash(label, end), edge.node, edge.is_leaf)

    def _replace(self, edge: Edge, value: bytes | None) -> Edge | None:
        if value is not None and value == self._leaf(edge.node):
            return edge
        self._update.superseded.append(edge.node)
        return None if value is None else self._add_leaf(edge.label, value)

    def _add_leaf(self, label: bytes, value: bytes) -> Edge:
        number = self._number()
        self._update.leaves[number] = value
        return Edge(label, chain_hash(label, leaf_hash(value)), number, is_leaf=True)

    def _add_branch(self, branch: Branch) -> int:
        number = self._number()
        self._update.branches[number] = branch
        return number

    def _number(self) -> int:
        self.next_node += 1
        return self.next_node - 1


def find(branch: Callable[[int], Branch], root: int, address: bytes) -> int | None:
    """Return the number of the leaf at `address`, 35 bytes, in the tree under `root`."""
    node, depth = root, 0
    while node:
        edge = branch(node).get(address[depth])
        if edge is None or not address.startswith(edge.label, depth):
            return None
        if edge.is_leaf:
            return edge.node
        node, depth = edge.node, depth + len(edge.label)
    return None


def walk(
    branch: Callable[[int], Branch], root: int, prefix: bytes, start: bytes, *, reverse: bool
) -> Iterator[tuple[bytes, int]]:
    """Yield address and leaf number under `prefix`, in order of addresses.

    Args:
        branch: Returns the branch with a number.
        root: Number of the root node.
        prefix: Addresses must begin with it.
        start: Begin here; all empty means at the first (or, in reverse, at the last).
        reverse: Downwards.
    """
    stack = [(b"", root, False)] if root else []
    while stack:
        path, node, is_leaf = stack.pop()
        if is_leaf:
            yield path, node
            continue
        children = branch(node)
        for token in sorted(children, reverse=not reverse):
            edge = children[token]
            below = path + edge.label
            if _within(below, prefix) and not _before(below, start, reverse=reverse):
                stack.append((below, edge.node, edge.is_leaf))


def _within(path: bytes, prefix: bytes) -> bool:
    return path.startswith(prefix) or prefix.startswith(path)


def _before(path: bytes, start: bytes, *, reverse: bool) -> bool:
    """Say whether all under `path` comes before `start`."""
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
