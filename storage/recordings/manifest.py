"""The records of a recording: a manifest once it is whole, a progress record until then.

Both end with the SHA-256 of everything before it, 32 bytes. Integers are
big-endian.

    manifest   "WSM1"  u64 size  32 sha256  32 tree root
               u8 copies, each u8 length and ASCII text (contracts/copies.py)
               32 leaf hash per blob, in order
    progress   "WSP2"  32 recording id  u64 size  u64 offset
               u8 length and ASCII name of the volume to which the offset refers,
               empty for the blob store; "WSP1" lacks both and refers to the
               volume `volume`
"""

import hashlib
import re
import struct
from dataclasses import dataclass
from typing import Final, Self

from contracts.chunktree import HASH_BYTES, blob_count, root_hash
from contracts.copies import COPY_TEXT_MAX, FSYNC, Copy, Place
from contracts.errors import RejectedError

RECORDING_BYTES_MAX: Final = 64 << 30
COPIES_MAX: Final = 8
_BEFORE_POLICIES: Final = {
    "volume": Copy(Place.VOLUME, "volume", FSYNC),
    "blobs": Copy(Place.BLOBS, "files", FSYNC),
}
"""The first manifests named copies by these words alone."""
_MANIFEST: Final = struct.Struct(">4sQ32s32sB")
_MANIFEST_MAGIC: Final = b"WSM1"
MANIFEST_HEAD_BYTES: Final = _MANIFEST.size + COPIES_MAX * (1 + COPY_TEXT_MAX)
"""Enough of a manifest for `peek`."""
_PROGRESS: Final = struct.Struct(">4s32sQQ")
_PROGRESS_MAGIC: Final = b"WSP2"
_PROGRESS_MAGIC_BEFORE: Final = b"WSP1"
_VOLUME_BEFORE: Final = "volume"
_VOLUME: Final = re.compile(r"([a-z0-9][a-z0-9-]{0,31})?")


def check_recording(recording_id: bytes, size: int = 0) -> None:
    """Check the form of a recording id and a size in bytes.

    Raises:
        RejectedError: The id has not 32 bytes, or the size is outside 0..RECORDING_BYTES_MAX.
    """
    if len(recording_id) != HASH_BYTES:
        raise RejectedError(f"recording id must have {HASH_BYTES} bytes, got {len(recording_id)}")
    if not 0 <= size <= RECORDING_BYTES_MAX:
        raise RejectedError(f"recording must have 0..{RECORDING_BYTES_MAX} bytes, got {size}")


@dataclass(frozen=True, slots=True)
class StoredRecording:
    """A whole recording, as its manifest describes it.

    Attributes:
        sha256: 32 bytes, of the whole file: the recording id.
        size: Bytes.
        tree_root: 32 bytes, RFC 6962 over the leaf hashes; unambiguous only with the size.
        leaves: Leaf hash of every blob, in order.
        copies: The complete copies that were durable when the manifest was written.

    Raises:
        RejectedError: A field is outside its range, or two fields contradict each other.
    """

    sha256: bytes
    size: int
    tree_root: bytes
    leaves: tuple[bytes, ...]
    copies: tuple[Copy, ...]

    def __post_init__(self) -> None:
        """Check that size, leaves and root belong together."""
        check_recording(self.sha256, self.size)
        if len(self.leaves) != blob_count(self.size):
            raise RejectedError(
                f"recording of {self.size} bytes has {blob_count(self.size)} leaves, "
                f"got {len(self.leaves)}"
            )
        if any(len(leaf) != HASH_BYTES for leaf in self.leaves):
            raise RejectedError(f"leaf hashes must have {HASH_BYTES} bytes")
        if root_hash(self.leaves) != self.tree_root:
            raise RejectedError(
                f"leaves lead to tree root {root_hash(self.leaves).hex()}, "
                f"expected {self.tree_root.hex()}"
            )
        if len(self.copies) > COPIES_MAX:
            raise RejectedError(f"at most {COPIES_MAX} copies, got {len(self.copies)}")

    @property
    def is_in_blobs(self) -> bool:
        """Return whether the blob store has a complete copy."""
        return any(copy.place is Place.BLOBS for copy in self.copies)

    def fits(self, size: int, tree_root: bytes) -> bool:
        """Return whether a digest with that size and tree root describes these bytes.

        The ledger does not check that hash, size and root belong together: anyone may sign a hash
        with another size or root.
        """
        return (self.size, self.tree_root) == (size, tree_root)

    def encode(self) -> bytes:
        """Return the manifest; equal recordings give equal bytes."""
        head = _MANIFEST.pack(
            _MANIFEST_MAGIC, self.size, self.sha256, self.tree_root, len(self.copies)
        )
        texts = [str(copy).encode("ascii") for copy in self.copies]
        copies = b"".join(bytes((len(text),)) + text for text in texts)
        return _sealed(head + copies + b"".join(self.leaves))

    @classmethod
    def decode(cls, wire: bytes) -> Self:
        """Parse a manifest.

        Raises:
            RejectedError: Its checksum or a field is invalid.
        """
        body = _unsealed(wire, _MANIFEST.size, _MANIFEST_MAGIC)
        _, size, sha256, tree_root, count = _MANIFEST.unpack_from(body)
        copies, at = _copies(body, _MANIFEST.size, count)
        if (len(body) - at) % HASH_BYTES:
            raise RejectedError(f"manifest ends inside a leaf hash, {len(wire)} bytes long")
        leaves = tuple(
            body[place : place + HASH_BYTES] for place in range(at, len(body), HASH_BYTES)
        )
        return cls(sha256, size, tree_root, leaves, copies)


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a partial recording is durable.

    Attributes:
        recording_id: 32 bytes.
        size: Bytes of the whole recording.
        offset: Bytes that are durable.
        volume: Name of the volume that has them; empty if they are in the blob store.
    """

    recording_id: bytes
    size: int
    offset: int
    volume: str = ""

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_recording(self.recording_id, self.size)
        if not 0 <= self.offset <= self.size:
            raise RejectedError(f"offset must be 0..{self.size}, got {self.offset}")
        if not _VOLUME.fullmatch(self.volume):
            raise RejectedError(f"invalid volume name: {self.volume[:40]!r}")

    def encode(self) -> bytes:
        """Return the progress record; equal progress gives equal bytes."""
        head = _PROGRESS.pack(_PROGRESS_MAGIC, self.recording_id, self.size, self.offset)
        name = self.volume.encode("ascii")
        return _sealed(head + bytes((len(name),)) + name)

    @classmethod
    def decode(cls, wire: bytes) -> Self:
        """Parse a progress record.

        Raises:
            RejectedError: Its checksum or a field is invalid.
        """
        before = wire.startswith(_PROGRESS_MAGIC_BEFORE)
        magic = _PROGRESS_MAGIC_BEFORE if before else _PROGRESS_MAGIC
        body = _unsealed(wire, _PROGRESS.size, magic)
        _, recording_id, size, offset = _PROGRESS.unpack_from(body)
        rest = body[_PROGRESS.size :]
        if len(rest) != (0 if before else 1 + sum(rest[:1])) or (not before and not rest):
            raise RejectedError(f"progress record of {len(wire)} bytes has an invalid length")
        volume = _VOLUME_BEFORE if before else rest[1:].decode("ascii", "replace")
        return cls(recording_id, size, offset, volume)


def peek(wire: bytes) -> tuple[int, tuple[Copy, ...]]:
    """Return size and copies from the first bytes of a manifest, without checking its checksum.

    Good enough to list many recordings; before acting on one, read its whole manifest.

    Raises:
        RejectedError: The bytes do not begin like a manifest.
    """
    if len(wire) < _MANIFEST.size or not wire.startswith(_MANIFEST_MAGIC):
        raise RejectedError(f"expected a manifest, got {len(wire)} bytes beginning {wire[:4]!r}")
    _, size, _, _, count = _MANIFEST.unpack_from(wire)
    return size, _copies(wire, _MANIFEST.size, count)[0]


def _copies(body: bytes, at: int, count: int) -> tuple[tuple[Copy, ...], int]:
    copies = []
    for _ in range(count):
        end = at + 1 + body[at] if at < len(body) else len(body) + 1
        if end > len(body):
            raise RejectedError("manifest ends inside a copy")
        copies.append(_copy(body[at + 1 : end].decode("ascii", "replace")))
        at = end
    return tuple(copies), at


def _copy(text: str) -> Copy:
    return _BEFORE_POLICIES.get(text) or Copy.parse(text)


def _sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def _unsealed(wire: bytes, least: int, magic: bytes) -> bytes:
    body, checksum = wire[:-HASH_BYTES], wire[-HASH_BYTES:]
    if len(body) < least or not body.startswith(magic):
        raise RejectedError(
            f"expected at least {least + HASH_BYTES} bytes beginning {magic!r}, "
            f"got {len(wire)} beginning {wire[: len(magic)]!r}"
        )
    actual = hashlib.sha256(body).digest()
    if actual != checksum:
        raise RejectedError(f"expected checksum {actual.hex()}, got {checksum.hex()}")
    return body
