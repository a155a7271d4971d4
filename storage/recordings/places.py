"""The places where the recordings of a gateway rest: catalogue, blob store and volumes."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from contracts.copies import Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import BlobStore
from storage.recordings.catalogue import Catalogue
from storage.recordings.manifest import Progress, StoredRecording
from storage.stages import NOT_RECORDED, Stages
from storage.volumes.volume import Volume
from storage.volumes.volumes import Volumes

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Places:
    """Catalogue, blob store and volumes of one gateway.

    Attributes:
        stages: Records how long hashing and writing took.
    """

    catalogue: Catalogue
    blobs: BlobStore
    volumes: Volumes
    stages: Stages = NOT_RECORDED

    def blobs_copy(self) -> Copy:
        """Return the copy that a recording has once all its blobs are stored."""
        return Copy(Place.BLOBS, self.blobs.name, self.blobs.durability)

    def ours(self, manifest: StoredRecording) -> StoredRecording:
        """Return the manifest without the copies in places that the settings no longer name."""
        copies = tuple(filter(self._names, manifest.copies))
        return manifest if copies == manifest.copies else replace(manifest, copies=copies)

    def lacks(self, copies: Iterable[Copy]) -> tuple[Place, ...]:
        """Return the kinds of place without a copy, whether it is wanted there or not."""
        there = {copy.place for copy in copies if self._names(copy)}
        return tuple(place for place in Place if place not in there)

    def volumes_of(self, manifest: StoredRecording) -> Iterator[Volume]:
        """Yield the volumes that hold the whole file, in use or not."""
        for copy in manifest.copies:
            volume = self.volumes.get(copy.name) if copy.place is Place.VOLUME else None
            if volume is not None:
                yield volume

    def out(self) -> dict[str, str]:
        """Return the copies on volumes that are out, with the reasons."""
        return {
            f"{Place.VOLUME}:{volume.name}": f"volume {volume.name} is out: {volume.reason}"
            for volume in self.volumes
            if not volume.usable
        }

    def not_put(self, manifest: StoredRecording) -> list[int]:
        """Return which blobs the blob store does not list with the leaf hash of the manifest.

        Raises:
            UnavailableError: The blob store did not answer.
        """
        there = self.blobs.leaves(manifest.sha256)
        return [at for at, leaf in enumerate(manifest.leaves) if there.get(at) != leaf]

    def require_put(self, manifest: StoredRecording) -> None:
        """Check that the blob store lists every blob with its leaf hash.

        Raises:
            UnavailableError: A blob is missing or has another hash, or the store failed.
        """
        wrong = self.not_put(manifest)
        if wrong:
            raise self._not_all_put(manifest, wrong)

    def seal_blobs(self, manifest: StoredRecording) -> Copy:
        """Check that the blob store lists every blob, then mark the recording as whole there.

        The caller must have put or read every blob, since the list alone proves nothing.

        The list is read again after the mark is written: before that, a deletion may have removed
        blobs, or another site that failed to upload the same recording may have taken them for its
        own leftovers. Then the mark is deleted again. If another site owns the mark by now, its
        scrub will write it again; a mark without blobs would never be repaired.

        Raises:
            UnavailableError: A blob is missing or has another hash, or the store failed.
        """
        self.require_put(manifest)
        copy = self.blobs_copy()
        self.blobs.put_manifest(manifest.sha256, replace(manifest, copies=(copy,)).encode())
        wrong = self.not_put(manifest)
        if wrong:
            self.blobs.delete_manifest(manifest.sha256)
            raise self._not_all_put(manifest, wrong)
        return copy

    def truthful(self, progress: Progress) -> Progress:
        """Return the progress, cut to what its volume still has: it may have lost some."""
        volume = self.volumes.get(progress.volume)
        if volume is None or not volume.usable:
            return progress  # `begin` finds out what else there is
        try:
            length = volume.call(lambda directory: directory.length(progress.recording_id))
        except UnavailableError:
            return progress
        return replace(progress, offset=min(progress.offset, length))

    def shared(self, recording_id: bytes) -> StoredRecording | None:
        """Return the blob store's manifest of a recording, put by any site, or None.

        Raises:
            RejectedError: The manifest is damaged, or belongs to another recording.
            UnavailableError: The blob store did not answer.
        """
        wire = self.blobs.manifest(recording_id)
        if wire is None:
            return None
        manifest = StoredRecording.decode(wire)
        if manifest.sha256 != recording_id:
            raise RejectedError(
                f"{self.blobs.name} has the manifest of {manifest.sha256.hex()} "
                f"under {recording_id.hex()}"
            )
        return replace(manifest, copies=(self.blobs_copy(),))

    def remove(
        self, recording_id: bytes, kinds: Iterable[Place], volumes: Iterable[str] = ()
    ) -> None:
        """Delete the copies and parts in some kinds of place; the catalogue's records stay.

        Args:
            recording_id: 32 bytes.
            kinds: Which kinds of place.
            volumes: Names of volumes that must delete their copy; others may be out.

        Raises:
            UnavailableError: A place did not delete its copy; all others did.
        """
        problems: list[WaysealError] = []
        wanted, must = set(kinds), set(volumes)
        for volume in self.volumes if Place.VOLUME in wanted else ():
            if not volume.usable and volume.name not in must:
                continue
            try:
                volume.call(lambda directory: directory.delete(recording_id))
            except UnavailableError as error:
                problems.append(error)
        if Place.BLOBS in wanted:
            try:
                self._delete_blobs(recording_id)
            except WaysealError as error:
                problems.append(error)
        if problems:
            raise UnavailableError(
                f"recording {recording_id.hex()} is not deleted everywhere: "
                f"{'; '.join(map(str, problems))}"
            )

    def remove_unfinished(self, recording_id: bytes) -> None:
        """Delete everything of a recording that is not whole here.

        Its blobs stay if the recording is whole in the blob store: then another site has put it
        there, and a failed upload at this site must not delete that copy.

        Raises:
            UnavailableError: A place did not delete its copy; all others did.
        """
        try:
            elsewhere = self.blobs.manifest(recording_id) is not None
        except WaysealError as error:
            self.remove(recording_id, [Place.VOLUME])
            raise UnavailableError(
                f"recording {recording_id.hex()} is not deleted everywhere: {error}"
            ) from error
        self.remove(recording_id, [Place.VOLUME] if elsewhere else Place)

    def _delete_blobs(self, recording_id: bytes) -> None:
        """Delete the blobs, and the mark if a site sealed the recording during the deletion."""
        self.blobs.delete(recording_id)
        sealed = self.shared(recording_id)
        if sealed is not None and self.not_put(sealed):
            self.blobs.delete_manifest(recording_id)

    def _not_all_put(self, manifest: StoredRecording, wrong: Sequence[int]) -> UnavailableError:
        return UnavailableError(
            f"recording {manifest.sha256.hex()}: {len(wrong)} of {len(manifest.leaves)} blobs, "
            f"the first of them {wrong[0]}, are not in {self.blobs.name}"
        )

    def _names(self, copy: Copy) -> bool:
        if copy.place is Place.BLOBS:
            return copy.name == self.blobs.name
        return self.volumes.get(copy.name) is not None
