"""Global state: the tree of the newest block, and of the blocks shortly before it."""

import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from contracts.errors import RejectedError
from contracts.node.store.cache import Cache
from contracts.node.store.index import Entries, Index, Table
from contracts.node.store.merkle import (
    EMPTY_ROOT,
    Branch,
    Tree,
    Update,
    decode_branch,
    encode_branch,
)
from contracts.node.store.merkle import find as find_leaf
from contracts.node.store.merkle import walk as walk_leaves

KEPT_ROOTS: Final = 1000
"""So many newest blocks have their state readable; Sawtooth's default is the same."""
CACHED_BRANCHES: Final = 20_000
CACHED_LEAVES: Final = 20_000
CACHED_VALUES: Final = 20_000
"""Newest values by address: a reading asks for its key and its trip, as did the one before."""
_NUMBER: Final = struct.Struct(">Q")


class NotKeptError(RejectedError):
    """The state after that block is not kept any more."""


class State:
    """Reads state after any kept block and prepares the state after the next.

    Args:
        index: Holds nodes and roots.
        root: Number of the newest root node; 0 is the empty tree.
        root_hash: Its hash, 64 hexadecimal digits.
        next_node: First node number not used yet.
    """

    def __init__(self, index: Index, root: int, root_hash: str, next_node: int) -> None:
        self._index = index
        self._branches: Cache[int, Branch] = Cache(CACHED_BRANCHES)
        self._leaves: Cache[int, bytes] = Cache(CACHED_LEAVES)
        self._newest: Cache[str, bytes] = Cache(CACHED_VALUES)
        self._lock = threading.Lock()  # holds root and newest values together
        self.root = root
        self.root_hash = root_hash
        self.next_node = next_node

    def get(self, address: str) -> bytes | None:
        """Return the newest value at `address`, 70 hexadecimal digits."""
        with self._lock:
            root, value = self.root, self._newest.get(address)
        if value is None:
            value = self.get_at(root, address)
            with self._lock:
                # Another thread may have advanced meanwhile: then this is no newest value.
                if value is not None and self.root == root:
                    self._newest.put(address, value)
        return value

    def newest(self, address: str) -> bytes | None:
        """Return the newest value at `address`, as `get` does; for any thread."""
        return self.get_at(self.root, address)

    def get_at(self, root: int, address: str) -> bytes | None:
        """Return the value at `address` in the tree under `root`.

        Raises:
            NotKeptError: The tree is no longer kept.
        """
        node = find_leaf(self._branch, root, bytes.fromhex(address))
        return None if node is None else self._leaf(node)

    def leaves_at(
        self, root: int, prefix: str = "", start: str = "", *, reverse: bool = False
    ) -> Iterator[tuple[str, bytes]]:
        """Yield addresses under `prefix` and their values, from `start` on, in order.

        Raises:
            NotKeptError: The tree is no longer kept.
        """
        below, first = bytes.fromhex(prefix), bytes.fromhex(start)
        for address, node in walk_leaves(self._branch, root, below, first, reverse=reverse):
            yield address.hex(), self._leaf(node)

    def root_after(self, block_num: int) -> int:
        """Return the number of the root node after a block.

        Raises:
            NotKeptError: That root is no longer kept.
        """
        record = self._index.get(Table.ROOT, _NUMBER.pack(block_num))
        if record is None:
            raise NotKeptError(
                f"state after block {block_num} is not kept; the last {KEPT_ROOTS} blocks are"
            )
        (root,) = _NUMBER.unpack_from(record)
        return int(root)

    def update(self, changes: Mapping[str, bytes | None]) -> Update:
        """Return the tree that `changes` make of the newest one; nothing is kept of it yet."""
        return Tree(self._branch, self._leaf, self.next_node).update(self.root, changes)

    def entries(self, block_num: int, update: Update) -> dict[Table, Entries]:
        """Return what the index must hold once `update` is the state after a block."""
        nodes: dict[bytes, bytes | None] = {
            _NUMBER.pack(number): value for number, value in update.leaves.items()
        }
        for number, branch in update.branches.items():
            nodes[_NUMBER.pack(number)] = encode_branch(branch)
        roots: dict[bytes, bytes | None] = {
            _NUMBER.pack(block_num): _pack([update.root, *update.superseded])
        }
        self._forget(block_num - KEPT_ROOTS, nodes, roots)
        return {Table.NODE: nodes, Table.ROOT: roots}

    def advance(self, update: Update) -> None:
        """Take `update` as the newest state; its entries are in the index."""
        for number, branch in update.branches.items():
            self._branches.put(number, branch)
        for number, value in update.leaves.items():
            self._leaves.put(number, value)
        self.next_node += len(update.branches) + len(update.leaves)
        with self._lock:
            for address, latest in update.changes.items():
                if latest is None:
                    self._newest.discard(address)
                else:
                    self._newest.put(address, latest)
            self.root_hash = update.root_hash
            self.root = update.root

    def _forget(
        self, block_num: int, nodes: dict[bytes, bytes | None], roots: dict[bytes, bytes | None]
    ) -> None:
        """Delete what only the state after an old block needs: what its successor superseded."""
        if block_num < 0:
            return
        record = self._index.get(Table.ROOT, _NUMBER.pack(block_num + 1))
        for (number,) in _NUMBER.iter_unpack((record or b"")[_NUMBER.size :]):
            nodes[_NUMBER.pack(number)] = None
        roots[_NUMBER.pack(block_num)] = None

    def _branch(self, number: int) -> Branch:
        branch = self._branches.get(number)
        if branch is None:
            branch = decode_branch(self._record(number))
            self._branches.put(number, branch)
        return branch

    def _leaf(self, number: int) -> bytes:
        value = self._leaves.get(number)
        if value is None:
            value = self._record(number)
            self._leaves.put(number, value)
        return value

    def _record(self, number: int) -> bytes:
        record = self._index.get(Table.NODE, _NUMBER.pack(number))
        if record is None:
            raise NotKeptError(f"tree node {number} is not kept any more")
        return record


def empty_state(index: Index) -> State:
    """Return the state before the first block."""
    return State(index, 0, EMPTY_ROOT, 1)


def _pack(numbers: Sequence[int]) -> bytes:
    return struct.pack(f">{len(numbers)}Q", *numbers)
