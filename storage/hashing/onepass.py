"""SHA-256 of a recording, and the leaf hashes of its blobs as they go by.

With the extension `_native` both are computed in one pass, which takes half the CPU of two. It is
built where a C compiler is (`scripts/hatch_build.py`) and works on x86-64 processors that have
instructions for SHA-256. Without it, hashlib does the same work; nothing else changes.
"""

import hashlib
from collections.abc import Sequence
from typing import Final, Protocol

from contracts.chunktree import BLOB_BYTES

Bytes = bytes | bytearray | memoryview

try:
    from storage.hashing._native import Sha256
except ImportError:
    IN_ONE_PASS = False
else:
    IN_ONE_PASS = True


class RecordingHash(Protocol):
    """SHA-256 of the bytes of a recording, in order; for one thread at a time."""

    def update(self, data: Bytes) -> None:
        """Take the next bytes."""
        ...

    def update_blobs(self, data: Bytes) -> Sequence[bytes]:
        """Take the next bytes, which begin with a blob.

        Returns:
            The leaf hashes of all blobs of full size among them, 32 bytes each (RFC 6962, 2.1), if
            they cost nothing more; else none of these.
        """
        ...

    def digest(self) -> bytes:
        """Return the SHA-256 of all bytes so far, 32 bytes."""
        ...


class HashlibHash:
    """Hashes the whole alone, with hashlib."""

    def __init__(self) -> None:
        self._whole: Final = hashlib.sha256()

    def update(self, data: Bytes) -> None:
        """See `RecordingHash.update`."""
        self._whole.update(data)

    def update_blobs(self, data: Bytes) -> Sequence[bytes]:
        """See `RecordingHash.update_blobs`: other threads may hash the leaves at the same time."""
        self._whole.update(data)
        return ()

    def digest(self) -> bytes:
        """See `RecordingHash.digest`."""
        return self._whole.digest()


class OnePassHash:
    """Hashes the whole and the leaves side by side."""

    def __init__(self) -> None:
        self._whole: Final = Sha256()

    def update(self, data: Bytes) -> None:
        """See `RecordingHash.update`."""
        self._whole.update(data)

    def update_blobs(self, data: Bytes) -> Sequence[bytes]:
        """See `RecordingHash.update_blobs`."""
        view, whole = memoryview(data), len(data) // BLOB_BYTES * BLOB_BYTES
        leaves = [
            self._whole.update_blob(view[start : start + BLOB_BYTES])
            for start in range(0, whole, BLOB_BYTES)
        ]
        self._whole.update(view[whole:])
        return leaves

    def digest(self) -> bytes:
        """See `RecordingHash.digest`."""
        return self._whole.digest()


def recording_hash() -> RecordingHash:
    """Return a hash of no bytes yet: the one that needs the least CPU here."""
    return OnePassHash() if IN_ONE_PASS else HashlibHash()
