"""One recording: its digest, which the ledger keeps in place of the video."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from contracts.chunktree import BLOB_BYTES, HASH_BYTES, TreeHasher, leaf_hash
from contracts.errors import RejectedError

_PSEUDO_ID_SALT: Final = b"wayseal file id\0"
_PSEUDO_ID_HEX: Final = 32


@dataclass(frozen=True, slots=True)
class RecordingDigest:
    """The digest that identifies a recording and proves any part of it.

    Attributes:
        sha256: SHA-256 of the whole file, 32 bytes; also the recording's id.
        size: Length in bytes.
        tree_root: Root of the chunk tree (contracts/chunktree.py), 32 bytes.

    Raises:
        RejectedError: A field is outside its range.
    """

    sha256: bytes
    size: int
    tree_root: bytes

    def __post_init__(self) -> None:
        """Check the ranges, so that no invalid digest exists."""
        if len(self.sha256) != HASH_BYTES or len(self.tree_root) != HASH_BYTES:
            raise RejectedError(
                f"a recording's hashes are {HASH_BYTES} bytes each, "
                f"got {len(self.sha256)} and {len(self.tree_root)}"
            )
        if not 0 <= self.size < 1 << 63:
            raise RejectedError(f"size must be 0..2^63-1 bytes: {self.size}")

    @classmethod
    def of_file(cls, path: Path, read: Callable[[int], None] = lambda _: None) -> Self:
        """Return the digest of the file at `path`; reads it once, in blobs.

        Args:
            path: The file.
            read: Told after each blob how many bytes it had.

        Raises:
            RejectedError: The file cannot be read.
        """
        whole, tree, size = hashlib.sha256(), TreeHasher(), 0
        try:
            with path.open("rb") as file:
                while blob := file.read(BLOB_BYTES):
                    whole.update(blob)
                    tree.add(leaf_hash(blob))
                    size += len(blob)
                    read(len(blob))
        except OSError as error:
            raise RejectedError(f"recording {path}: {error}") from error
        return cls(whole.digest(), size, tree.root())


def pseudo_file_id(device_id: str, file_name: str) -> str:
    """Return 32 hexadecimal digits that stand for a file name without publishing it.

    Source: Lee et al., section III.C.2 (the encoded file identifier).
    """
    digest = hashlib.sha256(_PSEUDO_ID_SALT + device_id.encode() + b"\0" + file_name.encode())
    return digest.hexdigest()[:_PSEUDO_ID_HEX]
