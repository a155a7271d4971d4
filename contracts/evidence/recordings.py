"""The recordings of an evidence file: digests, leaf hashes, and the video itself."""

import hashlib
from collections.abc import Callable
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
    """One recording: the digest that its device signed, and how much of it was checked.

    Attributes:
        digest: As committed.
        leaves: Leaf hashes, once checked against the signed root.
        blobs: How many blobs of the evidence file were checked.
        next_index: Least index of the next blob.
        whole: SHA-256 over the blobs so far.
        files: Files beside the evidence that are this recording, as they were named.
    """

    digest: RecordVideo
    leaves: list[bytes] | None = None
    blobs: int = 0
    next_index: int = 0
    whole: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    files: list[str] = field(default_factory=list)


TakeBlob = Callable[[RecordVideo, int, bytes], None]
"""Takes a blob that was checked: the recording's digest, the blob's number, its bytes."""


def not_taken(_digest: RecordVideo, _index: int, _data: bytes) -> None:
    """Forget a blob: see `TakeBlob`."""


class Recordings:
    """The recordings of the evidence, by SHA-256.

    Args:
        take: Given each blob, once it is checked.

    Attributes:
        claims: The trips that claim each recording, in the ledger's order.
    """

    def __init__(self, take: TakeBlob = not_taken) -> None:
        self._take = take
        self._videos: dict[bytes, Video] = {}
        self.claims: dict[bytes, list[str]] = {}

    def claim(self, digest: RecordVideo) -> None:
        """Keep that a trip, named or not, has a recording; two trips may claim the same one."""
        trips = self.claims.setdefault(digest.sha256, [])
        if digest.trip_id not in trips:
            trips.append(digest.trip_id)

    def announce(self, digest: RecordVideo) -> None:
        """Add a committed digest.

        Raises:
            RejectedError: Another digest has the same SHA-256 and another size or tree. One of
                the two is false, and no part of the video proves which.
        """
        known = self._videos.setdefault(digest.sha256, Video(digest)).digest
        if (known.size, known.tree_root) != (digest.size, digest.tree_root):
            raise RejectedError(
                f"{_name(digest.sha256)}: {known.device_id} and {digest.device_id} "
                f"signed different sizes or trees"
            )

    def videos(self) -> list[Video]:
        """Return the recordings."""
        return list(self._videos.values())

    def add_leaves(self, payload: bytes) -> None:
        """Check the leaf hashes of one recording.

        Raises:
            RejectedError: Their root is not the root that the device signed.
        """
        part = parse_part(LeafHashes, payload)
        video = self._video(part.recording_sha256)
        name = _name(part.recording_sha256)
        count = blob_count(video.digest.size)
        if video.leaves is not None:
            raise RejectedError(f"{name}: its leaf hashes come twice")
        if len(part.hashes) != count * HASH_BYTES:
            raise RejectedError(
                f"{name}: {len(part.hashes)} bytes of leaf hashes for {count} blobs"
            )
        leaves = [
            part.hashes[at : at + HASH_BYTES] for at in range(0, len(part.hashes), HASH_BYTES)
        ]
        if root_hash(leaves) != video.digest.tree_root:
            raise RejectedError(f"{name}: leaf hashes do not lead to the signed root")
        video.leaves = leaves

    def add_blob(self, payload: bytes) -> None:
        """Check one blob of video.

        Raises:
            RejectedError: It is not the blob that the device signed.
        """
        part = parse_part(Blob, payload)
        video = self._video(part.recording_sha256)
        name = f"{_name(part.recording_sha256)}, blob {part.index}"
        if video.leaves is None:
            raise RejectedError(f"{name}: no leaf hashes came before it")
        if part.index < video.next_index:
            raise RejectedError(f"{name}: out of order, {video.next_index} or later is expected")
        expected = blob_size(video.digest.size, part.index)
        if len(part.data) != expected:
            raise RejectedError(f"{name}: {len(part.data)} bytes, expected {expected}")
        if leaf_hash(part.data) != video.leaves[part.index]:
            raise RejectedError(f"{name}: not the video that the device signed")
        video.whole.update(part.data)
        video.blobs += 1
        video.next_index = part.index + 1
        self._take(video.digest, part.index, part.data)

    def check_whole(self) -> None:
        """Check the SHA-256 of every recording whose blobs are all in the file.

        Raises:
            RejectedError: The blobs are right, the hash of the whole recording is wrong.
        """
        for video in self._videos.values():
            complete = video.blobs == blob_count(video.digest.size)
            if complete and video.whole.digest() != video.digest.sha256:
                raise RejectedError(
                    f"{_name(video.digest.sha256)}: whole file hashes to "
                    f"{video.whole.hexdigest()[:16]}…"
                )

    def check_file(self, path: Path, found: RecordingDigest) -> None:
        """Check that the video file at `path`, with the digest `found`, is one of the recordings.

        Raises:
            RejectedError: It is another file.
        """
        video = self._videos.get(found.sha256)
        if video is None or (found.size, found.tree_root) != (
            video.digest.size,
            video.digest.tree_root,
        ):
            raise RejectedError(
                f"video {path}: SHA-256 {found.sha256.hex()[:16]}… with {found.size} bytes "
                f"is no recording of the evidence, which has {len(self._videos)}"
            )
        video.files.append(str(path))

    def _video(self, sha256: bytes) -> Video:
        try:
            return self._videos[sha256]
        except KeyError as error:
            raise RejectedError(f"{_name(sha256)}: no committed digest names it") from error


def _name(sha256: bytes) -> str:
    return f"recording {sha256.hex()[:16]}…"
