"""The places that together hold recordings, and what a recording may want of them."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from contracts.copies import Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import BlobStore
from storage.recordings.catalogue import Catalogue
from storage.recordings.manifest import Progress, StoredRecording
from storage.stages import Stages, Untold
from storage.volumes.volume import Volume
from storage.volumes.volumes import Volumes

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shelves:
    """Catalogue, blob store and volumes of one gateway.

    Attributes:
        stages: Told how long hashing and writing took.
    """

    catalogue: Catalogue
    blobs: BlobStore
    volumes: Volumes
    stages: Stages = field(default_factory=Untold)

    def blobs_copy(self) -> Copy:
        """Return the copy that a recording has once all its blobs are put."""
        return Copy(Place.BLOBS, self.blobs.name, self.blobs.durability)

    def ours(self, manifest: StoredRecording) -> StoredRecording:
        """Return the manifest without copies in places that the settings no longer name."""
        copies = tuple(filter(self._names, manifest.copies))
        return manifest if copies == manifest.copies else replace(manifest, copies=copies)

    def lacks(self, copies: Iterable[Copy]) -> tuple[Place, ...]:
        """Return the kinds of place in which no copy is, dropped ones included."""
        there = {copy.place for copy in copies if self._names(copy)}
        return tuple(place for place in Place if place not in there)

    def volumes_of(self, manifest: StoredRecording) -> Iterator[Volume]:
        """Yield the volumes that hold the whole file, in use or not."""
        for copy in manifest.copies:
            volume = self.volumes.get(copy.name) if copy.place is Place.VOLUME else None
            if volume is not None:
                yield volume

    def not_put(self, manifest: StoredRecording) -> list[int]:
        """Return which blobs the blob store does not have, by the leaf hashes that they carry.

        Raises:
            UnavailableError: The blob store did not answer.
        """
        there = self.blobs.leaves(manifest.sha256)
        return [at for at, leaf in enumerate(manifest.leaves) if there.get(at) != leaf]

    def require_put(self, manifest: StoredRecording) -> None:
        """Check that the blob store lists every blob.

        Raises:
            UnavailableError: One is missing or another one, or the store failed.
        """
        wrong = self.not_put(manifest)
        if wrong:
            raise self._not_all_put(manifest, wrong)

    def seal_blobs(self, manifest: StoredRecording) -> Copy:
        """Read back which blobs are there, then mark the recording as whole in the blob store.

        For whoever has put every blob, or read those that were there: their list is a claim.

        The list is read once more behind the mark: until that was there, another site that ended
        its upload of the same recording took the blobs for its own leftovers, or a deletion may
        have come before it. Then the mark goes too; should it be another site's by now, that one's
        scrub puts it again, while nobody mends a mark without blobs.

        Raises:
            UnavailableError: One is missing or another one, or the store failed.
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
        """Never promise more than the volume has: it may have lost what the record names."""
        volume = self.volumes.get(progress.volume)
        if volume is None or not volume.usable:
            return progress  # what else there is, `begin` finds out
        try:
            length = volume.call(lambda directory: directory.length(progress.recording_id))
        except UnavailableError:
            return progress
        return replace(progress, offset=min(progress.offset, length))

    def shared(self, recording_id: bytes) -> StoredRecording | None:
        """Return what the blob store says of a whole recording, which another site may have put.

        Raises:
            RejectedError: Its manifest is damaged, or that of another recording.
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
        self, recording_id: bytes, places: Iterable[Place], volumes: Iterable[str] = ()
    ) -> None:
        """Remove the copies and parts in some kinds of place; the catalogue's records stay.

        Args:
            recording_id: 32 bytes.
            places: Which kinds.
            volumes: Names of volumes that must let go; others that are out are left alone.

        Raises:
            UnavailableError: A place did not let go; all others did.
        """
        problems: list[WaysealError] = []
        wanted, must = set(places), set(volumes)
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
                f"recording {recording_id.hex()} is not gone everywhere: "
                f"{'; '.join(map(str, problems))}"
            )

    def remove_unfinished(self, recording_id: bytes) -> None:
        """Remove what there is of a recording that is not whole here.

        Its blobs stay if the recording is whole in the blob store: another site has put it there,
        and what was begun here, by whomever, takes nothing from it.

        Raises:
            UnavailableError: A place did not let go; all others did.
        """
        try:
            elsewhere = self.blobs.manifest(recording_id) is not None
        except WaysealError as error:
            self.remove(recording_id, [Place.VOLUME])
            raise UnavailableError(
                f"recording {recording_id.hex()} is not gone everywhere: {error}"
            ) from error
        self.remove(recording_id, [Place.VOLUME] if elsewhere else Place)

    def _delete_blobs(self, recording_id: bytes) -> None:
        """Delete from the blob store, and the mark of whoever sealed what was being deleted."""
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
