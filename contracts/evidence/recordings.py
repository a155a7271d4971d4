"""The recordings that an evidence file tells of: digests, leaf hashes, and video itself."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from contracts.chunktree import HASH_BYTES, blob_count, blob_size, leaf_hash, root_hash
from contracts.errors import RejectedError
from contracts.evidence.container import parse_part
from contracts.proto.evidence_pb2 import Blob, LeafHashes
from contracts.proto.payload_pb2 import RecordVideo
from contracts.records.recording import RecordingDigest


@dataclass(slots=True)
class Video:
    """One recording: the digest its device signed, and how much of it could be checked.

    Attributes:
        digest: As committed.
        leaves: Leaf hashes, once they were shown to lead to the signed root.
        blobs: How many blobs are in the file and hold.
        next_index: Index that the next blob must at least have.
        whole: SHA-256 over the blobs while they follow each other from the first.
    """

    digest: RecordVideo
    leaves: list[bytes] | None = None
    blobs: int = 0
    next_index: int = 0
    whole: "hashlib._Hash" = field(default_factory=hashlib.sha256)


class Recordings:
    """The recordings of the evidence, by SHA-256."""

    def __init__(self) -> None:
        self._videos: dict[bytes, Video] = {}

    def announce(self, digest: RecordVideo) -> None:
        """Take a committed digest.

        Raises:
            RejectedError: Another one gives the same file another size or tree, so one of the two
                lies, and no part of the video proves which.
        """
        known = self._videos.setdefault(digest.sha256, Video(digest)).digest
        if (known.size, known.tree_root) != (digest.size, digest.tree_root):
            raise RejectedError(
                f"recording {digest.sha256.hex()[:16]}…: {known.device_id} and {digest.device_id} "
                f"signed different sizes or trees"
            )

    def videos(self) -> list[Video]:
        """Return what is known of every recording."""
        return list(self._videos.values())

    def add_leaves(self, payload: bytes) -> None:
        """Take the leaf hashes of one recording.

        Raises:
            RejectedError: They do not lead to the root that the device signed.
        """
        part = parse_part(LeafHashes, payload)
        video = self._video(part.recording_sha256)
        name = part.recording_sha256.hex()[:16]
        count = blob_count(video.digest.size)
        if video.leaves is not None:
            raise RejectedError(f"recording {name}…: its leaf hashes are here twice")
        if len(part.hashes) != count * HASH_BYTES:
            raise RejectedError(
                f"recording {name}…: {len(part.hashes)} bytes of leaf hashes for {count} blobs"
            )
        leaves = [
            part.hashes[at : at + HASH_BYTES] for at in range(0, len(part.hashes), HASH_BYTES)
        ]
        if root_hash(leaves) != video.digest.tree_root:
            raise RejectedError(f"recording {name}…: leaf hashes do not lead to the signed root")
        video.leaves = leaves

    def add_blob(self, payload: bytes) -> None:
        """Take one blob of video.

        Raises:
            RejectedError: It is not the blob that the device signed.
        """
        part = parse_part(Blob, payload)
        video = self._video(part.recording_sha256)
        name = f"recording {part.recording_sha256.hex()[:16]}…, blob {part.index}"
        if video.leaves is None:
            raise RejectedError(f"{name}: no leaf hashes came before it")
        if part.index < video.next_index:
            raise RejectedError(f"{name}: out of order, {video.next_index} or later is due")
        expected = blob_size(video.digest.size, part.index)
        if len(part.data) != expected:
            raise RejectedError(f"{name}: {len(part.data)} bytes, expected {expected}")
        if leaf_hash(part.data) != video.leaves[part.index]:
            raise RejectedError(f"{name}: not the video that the device signed")
        video.whole.update(part.data)
        video.blobs += 1
        video.next_index = part.index + 1

    def check_whole(self) -> None:
        """Check the SHA-256 of every recording whose blobs are all there.

        Raises:
            RejectedError: The blobs hold, the file's hash does not.
        """
        for video in self._videos.values():
            complete = video.blobs == blob_count(video.digest.size)
            if complete and video.whole.digest() != video.digest.sha256:
                raise RejectedError(
                    f"recording {video.digest.sha256.hex()[:16]}…: whole file hashes to "
                    f"{video.whole.hexdigest()[:16]}…"
                )

    def check_file(self, path: Path) -> RecordVideo:
        """Return the digest of the recording that the file at `path` is.

        Raises:
            RejectedError: It is none of those in the evidence.
        """
        found = RecordingDigest.of_file(path)
        video = self._videos.get(found.sha256)
        if video is None or (found.size, found.tree_root) != (
            video.digest.size,
            video.digest.tree_root,
        ):
            raise RejectedError(
                f"video {path}: SHA-256 {found.sha256.hex()[:16]}… with {found.size} bytes "
                f"is none of the {len(self._videos)} recordings in the evidence"
            )
        return video.digest

    def _video(self, sha256: bytes) -> Video:
        try:
            return self._videos[sha256]
        except KeyError as error:
            raise RejectedError(
                f"recording {sha256.hex()[:16]}…: no committed digest names it"
            ) from error
