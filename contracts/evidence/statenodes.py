"""The state nodes of an evidence file: their form in the file, and the tree that they prove."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from contracts.errors import RejectedError
from contracts.evidence.container import parse_part
from contracts.proto.evidence_pb2 import StateNode
from contracts.sawtooth.nodes import (
    HASH_BYTES,
    PATH_BYTES,
    StateTreeNode,
    chain_hash,
    leaf_hash,
)


def message_of(node: StateTreeNode) -> StateNode:
    """Return a node in the form of the file."""
    tokens = sorted(node.children)
    hashes = [node.children[token] for token in tokens] or ([node.end] if node.end else [])
    return StateNode(
        path=node.path,
        tokens=bytes(tokens),
        hashes=b"".join(bytes.fromhex(each.decode()) for each in hashes),
        value=node.value,
    )


def node_of(message: StateNode) -> StateTreeNode:
    """Return the node that a message carries.

    Raises:
        RejectedError: It carries no node.
    """
    if len(message.path) > PATH_BYTES:
        raise RejectedError(
            f"a state node has a path of {len(message.path)} bytes, expected at most {PATH_BYTES}"
        )
    size = len(message.hashes)
    hashes = [
        message.hashes[at : at + HASH_BYTES].hex().encode() for at in range(0, size, HASH_BYTES)
    ]
    tokens, name = message.tokens, message.path.hex()
    if size % HASH_BYTES or sorted(set(tokens)) != list(tokens):
        raise RejectedError(
            f"state node {name!r}: expected ascending tokens and hashes of {HASH_BYTES} bytes"
        )
    if tokens and len(tokens) != len(hashes):
        raise RejectedError(f"state node {name!r}: {len(tokens)} tokens and {len(hashes)} hashes")
    if not tokens and len(hashes) > 1:
        raise RejectedError(f"state node {name!r}: {len(hashes)} hashes without tokens")
    return StateTreeNode(
        message.path,
        dict(zip(tokens, hashes, strict=True)) if tokens else {},
        message.value if message.HasField("value") else None,
        b"" if tokens or not hashes else hashes[0],
    )


_NOTHING: Final = StateTreeNode(b"")


class Comparison(Enum):
    """What the nodes say of a value at an address."""

    SAME = auto()
    DIFFERS = auto()
    NOT_PROVEN = auto()


@dataclass(frozen=True, slots=True)
class WayEnd:
    """Where the nodes end on the way to an address.

    Attributes:
        depth: Bytes of the address that lead to the last branch on the way.
        child: Hash of the first node after that branch; empty if nothing is there.
        node: The leaf or hash at the address itself.
        cut: The nodes are cut off on the way, so they say nothing of the address.
    """

    depth: int = 0
    child: bytes = b""
    node: StateTreeNode | None = None
    cut: bool = False


class ProvenState:
    """A part of the tree under one state root, checked node by node.

    Args:
        root_hash: The state root, 64 hexadecimal digits, from the header of a block.
    """

    def __init__(self, root_hash: str) -> None:
        self._root_hash = root_hash
        self._branches: list[StateTreeNode] = []
        """The branches from the root to the node that came last."""
        self._below: dict[bytes, StateTreeNode] = {}
        """Nodes by the path of the child of the branch above them; the root by the empty path."""
        self._last = b""

    def add(self, payload: bytes) -> None:
        """Check the next node of the file.

        Raises:
            RejectedError: It is out of order, comes twice, or the tree has no such node.
        """
        node = node_of(parse_part(StateNode, payload))
        name = f"state node {node.path.hex()!r}"
        if not self._below:
            self._check_root(node)
        else:
            if node.path <= self._last:
                raise RejectedError(f"{name} is out of order")
            self._check_below(node, name)
        self._last = node.path
        if node.children:
            self._branches.append(node)

    def compare(self, place: str, value: bytes | None) -> Comparison:
        """Compare a value at an address, 70 hexadecimal digits, or its absence, to the tree."""
        path = bytes.fromhex(place)
        found = self._find(path)
        if found.cut:
            return Comparison.NOT_PROVEN
        if found.node is None and not found.child:
            return Comparison.SAME if value is None else Comparison.DIFFERS
        if value is None:
            return Comparison.DIFFERS if found.node else Comparison.NOT_PROVEN
        digest = leaf_hash(value)
        if found.node is not None:
            return Comparison.SAME if found.node.digest() == digest else Comparison.DIFFERS
        same = chain_hash(path[found.depth :], digest) == found.child
        return Comparison.SAME if same else Comparison.DIFFERS

    def value(self, place: str) -> bytes | None:
        """Return the value at an address if the file has it."""
        node = self._find(bytes.fromhex(place)).node
        return None if node is None else node.value

    def others(self, prefix: str, values: Mapping[str, bytes]) -> Iterator[str]:
        """Yield where the tree has something below `prefix` that `values` has not, in order.

        An address, or the shorter path below which only a hash is shown.

        Args:
            prefix: Beginning of addresses, as hexadecimal digits.
            values: Values by address. Addresses where both have something are not compared.
        """
        known = sorted(bytes.fromhex(each) for each in values if each.startswith(prefix))
        whole = bytes.fromhex(prefix)
        for way in sorted(self._ways(b"", whole)):
            node = self._below.get(way)
            if node is None:
                if not self._is_single(way, known, values):
                    yield max(way, whole, key=len).hex()
            elif len(node.path) == PATH_BYTES:
                if node.path.startswith(whole) and node.path.hex() not in values:
                    yield node.path.hex()
            elif node.end and (node.path.startswith(whole) or whole.startswith(node.path)):
                yield node.path.hex()

    def _ways(self, start: bytes, whole: bytes) -> Iterator[bytes]:
        """Yield the ends of the shown nodes below, or on the way to, the path `whole`."""
        waiting = [start]
        while waiting:
            node = self._below.get(waiting.pop(), _NOTHING)
            for token in node.children:
                way = node.path + bytes([token])
                if way.startswith(whole) or whole.startswith(way):
                    below = self._below.get(way)
                    if below is not None and below.children:
                        waiting.append(way)
                    else:
                        yield way

    def _is_single(self, way: bytes, known: Sequence[bytes], values: Mapping[str, bytes]) -> bool:
        """Say whether a child that is not shown holds exactly one known value."""
        at = bisect_left(known, way)
        inside = [each for each in known[at : at + 2] if each.startswith(way)]
        return len(inside) == 1 and all(
            self.compare(each.hex(), values[each.hex()]) is Comparison.SAME for each in inside
        )

    def _check_root(self, node: StateTreeNode) -> None:
        if node.path or node.end or node.digest().decode() != self._root_hash:
            raise RejectedError(
                f"the first state node must be the root {self._root_hash[:16]!r}, "
                f"got a node at {node.path.hex()!r}"
            )
        self._below[b""] = node

    def _check_below(self, node: StateTreeNode, name: str) -> None:
        while self._branches and not node.path.startswith(self._branches[-1].path):
            self._branches.pop()
        above = self._branches[-1] if self._branches else self._below[b""]
        depth = len(above.path)
        way = node.path[: depth + 1]
        expected = above.children.get(node.path[depth])
        if expected is None or way in self._below:
            raise RejectedError(f"{name} has no place in the tree")
        if chain_hash(node.path[depth:], node.digest()) != expected:
            raise RejectedError(f"{name} is not in the state that the last block commits to")
        self._below[way] = node

    def _find(self, path: bytes) -> WayEnd:
        node = self._below.get(b"")
        while node is not None and node.children:
            depth = len(node.path)
            child = node.children.get(path[depth])
            if child is None:
                return WayEnd(depth)
            below = self._below.get(path[: depth + 1])
            if below is None:
                return WayEnd(depth, child)
            if not path.startswith(below.path):
                return WayEnd(depth)
            if below.path == path:
                return WayEnd(depth, child, below)
            node = below
        return WayEnd(cut=node is None or bool(node.end))
