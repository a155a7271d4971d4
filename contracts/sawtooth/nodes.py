"""Nodes of Sawtooth's Merkle-radix tree over the state, and their hashes.

An address of 35 bytes is a path of 35 nodes, one for each byte. A node is the CBOR map
{"c": {token: child hash}, "v": value or null}; a token is two hexadecimal digits. The hash of a
node is the first 32 bytes of the SHA-512 of that CBOR. A value is itself wrapped in CBOR. The hash
of the first node is the state root that a block header names.

Hashes are 64 hexadecimal digits as bytes, the form in which a node holds them.

Source: Sawtooth 1.2 architecture guide, "Global State"; recorded state roots.
"""

import hashlib
from binascii import hexlify
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from contracts.errors import RejectedError

HASH_BYTES: Final = 32
PATH_BYTES: Final = 35
"""Bytes of a whole address."""

_TOKENS: Final = [f"{token:02x}".encode() for token in range(256)]
_CHAIN: Final = [hashlib.sha512(b"\xa2\x61c\xa1\x62" + token + b"\x78\x40") for token in _TOKENS]
"""The hash of a node with one child, begun: to copy one takes less time than to begin one."""
_CHILD: Final = [b"\x62" + token + b"\x78\x40" for token in _TOKENS]
_NO_VALUE: Final = b"\x61v\xf6"
_CBOR_SHORT: Final = 24


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
    """Return the hash of the node that holds `value`."""
    wrapped = _cbor_head(0x40, len(value)) + value
    return _digest(b"\xa2\x61c\xa0\x61v" + _cbor_head(0x40, len(wrapped)) + wrapped)


def branch_hash(children: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the hash of a node without a value; `children` are tokens, ascending, and hashes."""
    return joined_hash([child(token, digest) for token, digest in children])


def child(token: int, digest: bytes) -> bytes:
    """Return the part of a node's CBOR that names the child below a token by its hash."""
    return _CHILD[token] + digest


def joined_hash(parts: Sequence[bytes]) -> bytes:
    """Return the hash of a node without a value from what `child` returns, tokens ascending."""
    return _digest(b"\xa2\x61c" + _cbor_head(0xA0, len(parts)) + b"".join(parts) + _NO_VALUE)


def chain_hash(label: bytes, end: bytes) -> bytes:
    """Return the hash of the first node along `label`, whose last byte leads to hash `end`."""
    begun = _CHAIN  # some 30 rounds for each new value
    for token in label[:0:-1]:
        node = begun[token].copy()
        node.update(end + _NO_VALUE)
        end = hexlify(node.digest()[:HASH_BYTES])
    return end


EMPTY_ROOT: Final = branch_hash(()).decode()


@dataclass(frozen=True, slots=True)
class StateTreeNode:
    """One node of a tree. Nodes with a single child are implied by the path of the next one.

    Attributes:
        path: The first bytes of all addresses below it; a whole address for a leaf.
        children: Hash of the first node below each token, for a branch and for the root.
        value: The value, for a leaf.
        end: Its hash, when neither children nor value are given.
    """

    path: bytes
    children: Mapping[int, bytes] = field(default_factory=dict)
    value: bytes | None = None
    end: bytes = b""

    def __post_init__(self) -> None:
        is_leaf = len(self.path) == PATH_BYTES
        told = bool(self.children) + (self.value is not None) + bool(self.end)
        fits = not self.children if is_leaf else self.value is None
        if len(self.path) > PATH_BYTES or not fits or told != bool(self.path or told):
            raise RejectedError(
                f"a node at {self.path.hex()!r} has children, a leaf's value, or its hash, "
                f"got {len(self.children)} children, "
                f"{'a' if self.value is not None else 'no'} value, {len(self.end)} digits of hash"
            )

    def digest(self) -> bytes:
        """Return the node's hash."""
        if self.end:
            return self.end
        if self.value is not None:
            return leaf_hash(self.value)
        return branch_hash(sorted(self.children.items()))
