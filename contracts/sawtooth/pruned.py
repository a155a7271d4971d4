"""Prunes a tree to the nodes that prove some addresses.

The leaves come in order of their addresses and are not kept, so that memory grows with what is
wanted and not with the tree.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from contracts.errors import RejectedError
from contracts.sawtooth.nodes import EMPTY_ROOT, StateTreeNode, chain_hash, leaf_hash

NOTHING_KNOWN: Final[Mapping[str, bytes]] = MappingProxyType({})


class Wanted:
    """The addresses and whole subtrees that a pruned tree must prove.

    Args:
        addresses: Whole addresses, 35 bytes each, set or not.
        prefixes: Beginnings of addresses; everything below them is wanted.
    """

    def __init__(self, addresses: Iterable[bytes], prefixes: Iterable[bytes] = ()) -> None:
        self._prefixes = sorted(set(prefixes))
        self._all = sorted({*addresses, *self._prefixes})

    def leads(self, path: bytes) -> bool:
        """Say whether a node at `path` is on the way to something wanted, or below it."""
        return self._first_below(path) is not None or self.is_whole(path)

    def is_whole(self, path: bytes) -> bool:
        """Say whether everything below `path` is wanted."""
        return any(path.startswith(prefix) for prefix in self._prefixes)

    def misses(self, way: bytes, end: bytes) -> bool:
        """Say whether something is wanted below `way` that is not on the chain from there to `end`.

        Such an address is not set, and the end of the chain proves it.
        """
        at = bisect_left(self._all, way)
        while at < len(self._all) and self._all[at].startswith(way):
            if not (end.startswith(self._all[at]) or self._all[at].startswith(end)):
                return True
            at += 1
        return False

    def _first_below(self, path: bytes) -> bytes | None:
        at = bisect_left(self._all, path)
        found = self._all[at] if at < len(self._all) else b""
        return found if found.startswith(path) and at < len(self._all) else None


@dataclass(slots=True)
class _Open:
    """A branch whose last children may still come."""

    path: bytes
    children: dict[int, bytes] = field(default_factory=dict)


class Pruning:
    """Takes all leaves of a tree in order; keeps the wanted nodes.

    Args:
        wanted: What the kept nodes must prove.
        known: Values by address, hexadecimal, that the reader has too: such a leaf is not kept.

    Attributes:
        nodes: The wanted nodes, by path.
        root_hash: Of the whole tree, once `finish` was called.
    """

    def __init__(self, wanted: Wanted, known: Mapping[str, bytes] = NOTHING_KNOWN) -> None:
        self._wanted = wanted
        self._known = known
        self._stack = [_Open(b"")]
        self._leaf: bytes | None = None
        self._last = b"", b""
        """Path and hash of what was closed last, and has no parent yet."""
        self.nodes: dict[bytes, StateTreeNode] = {}
        self.root_hash = EMPTY_ROOT

    def add(self, address: bytes, value: bytes) -> None:
        """Take the next leaf.

        Raises:
            RejectedError: Its address is not above the one before.
        """
        if self._leaf is not None:
            if address <= self._leaf:
                raise RejectedError(f"address {address.hex()} comes after {self._leaf.hex()}")
            self._fold(_common(self._leaf, address))
        self._leaf = address
        self._last = address, leaf_hash(value)
        if self._wanted.leads(address) and self._known.get(address.hex()) != value:
            self.nodes[address] = StateTreeNode(address, value=value)

    def finish(self) -> Iterator[StateTreeNode]:
        """Close the tree; yield the wanted nodes in order of their paths."""
        if self._leaf is not None:
            self._fold(0)
        root = StateTreeNode(b"", self._stack[0].children)
        self.root_hash = root.digest().decode()
        self.nodes[b""] = root
        return (node for _, node in sorted(self.nodes.items()))

    def _fold(self, depth: int) -> None:
        """Close the branches below `depth`, and let a branch stand there."""
        while len(self._stack[-1].path) > depth:
            self._attach()
            closed = self._stack.pop()
            node = StateTreeNode(closed.path, closed.children)
            if self._wanted.leads(closed.path):
                self.nodes[closed.path] = node
            self._last = closed.path, node.digest()
        if len(self._stack[-1].path) < depth:
            self._stack.append(_Open(self._last[0][:depth]))
        self._attach()

    def _attach(self) -> None:
        """Make the last closed node a child of the innermost open branch."""
        branch, (path, digest) = self._stack[-1], self._last
        label = path[len(branch.path) :]
        branch.children[label[0]] = chain_hash(label, digest)
        way = path[: len(branch.path) + 1]
        if path not in self.nodes and self._wanted.misses(way, path):
            self.nodes[path] = StateTreeNode(path, end=digest)


def _common(one: bytes, other: bytes) -> int:
    """Return how many bytes two different addresses share at their beginning."""
    length = 0
    while one[length] == other[length]:
        length += 1
    return length
