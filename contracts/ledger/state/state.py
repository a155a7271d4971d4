"""Global state: the tree of the newest block, and of the blocks shortly before it."""

import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError, WaysealError
from contracts.ledger.state.cache import Cache
from contracts.ledger.state.merkle import (
    Branch,
    Edge,
    Tree,
    Update,
    decode_branch,
    encode_branch,
    find_leaf,
    has_branch,
    has_leaf,
    root_edge,
    walk_leaves,
    walk_way,
)
from contracts.ledger.state.reader import NotKeptError
from contracts.ledger.state.run import DamagedIndexError
from contracts.ledger.state.store import Entries, Store
from contracts.sawtooth.nodes import StateTreeNode

NODE: Final = "node"
ROOT: Final = "root"
KEPT_ROOTS: Final = 1000
"""Newest blocks whose state can be read; Sawtooth has the same default."""
CACHED_BRANCHES: Final = 20_000
CACHED_LEAVES: Final = 20_000
CACHED_VALUES: Final = 20_000
"""Newest values by address: successive readings need the same key and trip."""
_NUMBER: Final = struct.Struct(">Q")


class State:
    """Reads state after any kept block and prepares the state after the next.

    Every node that is read from the index is checked against its hash, which the nodes above it
    have, up to the state root in the header of the block.

    Args:
        index: Holds nodes and roots.
        root: Leads to the newest root node.
        next_node: First unused node number.
        block_num: Number of the newest block; -1 before the first one.
    """

    def __init__(self, index: Store, root: Edge, next_node: int, block_num: int) -> None:
        self._index = index
        self._branches: Cache[int, Branch] = Cache(CACHED_BRANCHES)
        self._leaves: Cache[int, bytes] = Cache(CACHED_LEAVES)
        self._newest: Cache[str, bytes] = Cache(CACHED_VALUES)
        self._lock = threading.Lock()  # holds root and newest values together
        self.root = root
        self._next_node = next_node
        self._entered = block_num

    def get(self, address: str) -> bytes | None:
        """Return the newest value at `address`, 70 hexadecimal digits; safe in any thread."""
        with self._lock:
            root, value, block_num = self.root, self._newest.get(address), self._entered
        if value is None:
            value = StateAt(self, root, block_num).get(address)
            with self._lock:
                # Another thread may have advanced the state: then this value is not the newest.
                if value is not None and self.root == root:
                    self._newest.put(address, value)
        return value

    def after(self, block_num: int, root_hash: str) -> "StateAt":
        """Return the state after a block.

        Args:
            block_num: Of the block.
            root_hash: The state root in its header.

        Raises:
            NotKeptError: It is no longer kept.
            DamagedIndexError: The index does not have it, although it should.
        """
        record = self._index.get(ROOT, _NUMBER.pack(block_num))
        if record is None:
            raise self.missing(block_num, f"the state after block {block_num}")
        root = root_edge(_NUMBER.unpack_from(record)[0], root_hash)
        with self.reading(block_num):
            # The root node may be in memory, from the state after another block.
            if root.node and not has_branch(root, self.branch(root)):
                raise self._changed(root)
        return StateAt(self, root, block_num)

    def update(self, changes: Mapping[str, bytes | None]) -> Update:
        """Return the newest tree after `changes`, without keeping it."""
        tree = Tree(self.branch, self.leaf, self._next_node)
        with self.reading(self._entered):
            return tree.update(self.root, changes)

    def entries(self, block_num: int, update: Update) -> dict[str, Entries]:
        """Return the store's entries for `update` as the state after a block."""
        self._entered = block_num
        nodes: dict[bytes, bytes | None] = {
            _NUMBER.pack(number): value for number, value in update.leaves.items()
        }
        for number, branch in update.branches.items():
            nodes[_NUMBER.pack(number)] = encode_branch(branch)
        roots: dict[bytes, bytes | None] = {
            _NUMBER.pack(block_num): _pack([update.root, *update.superseded])
        }
        self._forget(block_num - KEPT_ROOTS, nodes, roots)
        return {NODE: nodes, ROOT: roots}

    def advance(self, update: Update) -> None:
        """Make `update` the newest state; its entries must be in the store."""
        for number, branch in update.branches.items():
            self._branches.put(number, branch)
        for number, value in update.leaves.items():
            self._leaves.put(number, value)
        self._next_node = update.next_node
        with self._lock:
            for address, latest in update.changes.items():
                if latest is None:
                    self._newest.discard(address)
                else:
                    self._newest.put(address, latest)
            self.root = root_edge(update.root, update.root_hash)

    def _forget(
        self, block_num: int, nodes: dict[bytes, bytes | None], roots: dict[bytes, bytes | None]
    ) -> None:
        """Delete the nodes that only the state after an old block needs."""
        if block_num < 0:
            return
        record = self._index.get(ROOT, _NUMBER.pack(block_num + 1))
        for (number,) in _NUMBER.iter_unpack((record or b"")[_NUMBER.size :]):
            nodes[_NUMBER.pack(number)] = None
        roots[_NUMBER.pack(block_num)] = None

    def branch(self, edge: Edge) -> Branch:
        """Return the branch at the end of an edge.

        Raises:
            NotKeptError: The index has no such node.
            DamagedIndexError: It has another one.
        """
        branch = self._branches.get(edge.node)
        if branch is None:
            try:
                branch = decode_branch(self._record(edge))
            except RejectedError as error:
                if isinstance(error, NotKeptError):
                    raise
                raise self._changed(edge) from error
            if not has_branch(edge, branch):
                raise self._changed(edge)
            self._branches.put(edge.node, branch)
        return branch

    def leaf(self, edge: Edge) -> bytes:
        """Return the value at the end of an edge.

        Raises:
            NotKeptError: The index has no such node.
            DamagedIndexError: It has another one.
        """
        value = self._leaves.get(edge.node)
        if value is None:
            value = self._record(edge)
            if not has_leaf(edge, value):
                raise self._changed(edge)
            self._leaves.put(edge.node, value)
        return value

    @contextmanager
    def reading(self, block_num: int) -> Iterator[None]:
        """Tell a node that is no longer kept from one that is lost, in the state after a block."""
        try:
            yield
        except NotKeptError as error:
            raise self.missing(block_num, str(error)) from error

    def missing(self, block_num: int, what: str) -> WaysealError:
        """Return the error that something of the state after a block is not in the index."""
        if self._entered - KEPT_ROOTS < block_num <= self._entered:
            return self._index.damaged(f"{what} is missing")
        return NotKeptError(f"{what} is not kept; the last {KEPT_ROOTS} blocks are")

    def _record(self, edge: Edge) -> bytes:
        record = self._index.get(NODE, _NUMBER.pack(edge.node))
        if record is None:
            raise NotKeptError(f"state node {edge.node}")
        return record

    def _changed(self, edge: Edge) -> DamagedIndexError:
        return self._index.damaged(f"state node {edge.node} does not match its hash")


@dataclass(frozen=True, slots=True)
class StateAt:
    """The state in one tree; implements `StateReader`."""

    _state: State
    _root: Edge
    _block_num: int

    def get(self, address: str) -> bytes | None:
        """See `StateReader.get`."""
        state = self._state
        with state.reading(self._block_num):
            edge = find_leaf(state.branch, self._root, bytes.fromhex(address))
            return None if edge is None else state.leaf(edge)

    def leaves(
        self, prefix: str = "", start: str = "", *, reverse: bool = False
    ) -> Iterator[tuple[str, bytes]]:
        """See `StateReader.leaves`."""
        state = self._state
        below, first = bytes.fromhex(prefix), bytes.fromhex(start)
        with state.reading(self._block_num):
            for address, edge in walk_leaves(
                state.branch, self._root, below, first, reverse=reverse
            ):
                yield address.hex(), state.leaf(edge)

    def way(self, target: str) -> Iterator[StateTreeNode]:
        """See `StateReader.way`."""
        state = self._state
        with state.reading(self._block_num):
            yield from walk_way(state.branch, state.leaf, self._root, bytes.fromhex(target))


def _pack(numbers: Sequence[int]) -> bytes:
    return struct.pack(f">{len(numbers)}Q", *numbers)
