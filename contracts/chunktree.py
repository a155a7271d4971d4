"""The chunk tree of a recording: a Merkle tree hash over its 1 MiB blobs.

Source: RFC 6962, 2.1 (tree hash); leaf prefix 0x00, node prefix 0x01, SHA-256.
The empty file has no leaves; its root is the SHA-256 of the empty string. A
root needs the file's size beside it, since the last blob may be shorter.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from contracts.errors import RejectedError

BLOB_BYTES: Final = 1 << 20
HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256().digest()
_LEAF: Final = b"\x00"
_NODE: Final = b"\x01"


def leaf_hash(blob: bytes | memoryview) -> bytes:
    """Return the 32 byte leaf hash of one blob (RFC 6962, 2.1)."""
    digest = hashlib.sha256(_LEAF)
    digest.update(blob)
    return digest.digest()


def blob_count(size: int) -> int:
    """Return how many blobs a file of `size` bytes has; the empty file has none."""
    return -(-size // BLOB_BYTES)


def blob_size(size: int, index: int) -> int:
    """Return the length in bytes of blob `index` of a file of `size` bytes."""
    if not 0 <= index < blob_count(size):
        raise RejectedError(f"blob {index} of a file with {blob_count(size)} blobs")
    return min(BLOB_BYTES, size - index * BLOB_BYTES)


def root_hash(leaves: Sequence[bytes]) -> bytes:
    """Return the 32 byte tree root over the leaf hashes, in order."""
    tree = TreeHasher()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root()


class TreeHasher:
    """Computes the root while leaves arrive; keeps one hash for each tree level."""

    def __init__(self) -> None:
        self._peaks: list[tuple[int, bytes]] = []

    def add(self, leaf: bytes) -> None:
        """Take the next leaf hash."""
        level, node = 0, leaf
        while self._peaks and self._peaks[-1][0] == level:
            node = _parent(self._peaks.pop()[1], node)
            level += 1
        self._peaks.append((level, node))

    def root(self) -> bytes:
        """Return the root over all leaves so far."""
        if not self._peaks:
            return EMPTY_ROOT
        node = self._peaks[-1][1]
        for _, left in reversed(self._peaks[:-1]):
            node = _parent(left, node)
        return node


def _parent(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(_NODE + left + right).digest()
