"""Makes entries of the catalogue again that were lost or are damaged, from the copies themselves.

A lost entry is made in two steps. First from what is known without reading the bytes: the manifest
in the blob store, if the signed digest has its tree root, and whole files of the right size. From
then on every reader finds every copy; each blob is verified on the way out, as always. Then all
bytes of all copies are read in the background; until that is done the entry is noted as unread, and
no receipt names its copies. Without such a manifest the bytes are read first.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from contracts.chunktree import root_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.recordings.backfill import Stop
from storage.recordings.backlog import Backlogs
from storage.recordings.blobcopies import (
    MANIFEST,
    NO_BLOB,
    Finding,
    Flaw,
    MissingError,
    fetch,
    finding_of,
    survey_blob,
)
from storage.recordings.catalogue import Catalogue
from storage.recordings.locks import BusyError, RecordingLocks
from storage.recordings.manifest import StoredRecording
from storage.recordings.places import Places
from storage.recordings.recovery import restore
from storage.recordings.repair import Mend

READ_AGAIN_S: Final = 300.0

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownRecording:
    """A recording that should be in the catalogue if its bytes are here.

    Attributes:
        recording_id: 32 bytes.
        claims: Size in bytes and tree root, as signed; several if the digests contradict each
            other. The bytes decide which is right.
        given_up: The kinds of place whose copy was deleted here on purpose.
    """

    recording_id: bytes
    claims: Collection[tuple[int, bytes]]
    given_up: Collection[Place] = ()


class LostEntries:
    """Finds recordings without an entry in the catalogue, and makes the entries again.

    Args:
        places: Where recordings are.
        backlogs: Learns which copies the new entries lack.
        writers: Recordings that are locked are left alone.
        mend: Mends a blob of a recording.
    """

    def __init__(
        self, places: Places, backlogs: Backlogs, writers: RecordingLocks, mend: Mend
    ) -> None:
        self._places = places
        self._backlogs = backlogs
        self._writers = writers
        self._mend = mend
        self._failed_s: dict[bytes, float] = {}

    def seen(self, recording_id: bytes) -> StoredRecording | None:
        """Return the blob store's manifest, with every copy that seems to be there, or None.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: The blob store did not answer.
        """
        shared = self._places.shared(recording_id)
        if shared is None:
            return None
        return replace(shared, copies=(*self._whole_files(shared), *shared.copies))

    def or_seen(
        self, recording_id: bytes, manifest: Callable[[bytes], StoredRecording | None]
    ) -> StoredRecording | None:
        """Return the catalogue's manifest, or, if it is lost or damaged, what `seen` returns.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: A disk failed, or the blob store was needed and did not answer.
        """
        try:
            here = manifest(recording_id)
        except RejectedError:
            seen = self.seen(recording_id)
            if seen is None:
                raise
            return seen
        return here or self.seen(recording_id)

    def restore(self, recording_id: bytes, stop: Stop) -> bool:
        """Rebuild a damaged manifest by reading a whole copy; return whether that was done.

        Other copies enter the backlog, where `fill` finds them again. If `stop` returns True, the
        manifest stays as it is.

        Raises:
            RejectedError: The blobs are those of another recording, or incomplete.
            UnavailableError: It is being written, or the blob store did not answer.
        """
        with self._writers.alone(recording_id):
            found = restore(self._places, recording_id, stop)
            if found is not None:
                self._places.catalogue.replace(found)
                self._backlogs.note(found)
            return found is not None

    def remake(self, every: Iterable[KnownRecording], stop: Stop) -> Iterator[Finding]:
        """Make the entries again that are lost or damaged, and yield what was wrong.

        Recordings that are being uploaded, deleted or written, or whose bytes are not here, are
        passed over. So is one whose bytes cannot be read now: that is logged.
        """
        for wanted in every:
            if stop():
                return
            try:
                found = self._remade(wanted, stop)
            except BusyError:
                continue
            except WaysealError as error:
                name = wanted.recording_id.hex()
                _log.error(
                    "the entry of recording %s cannot be made again now: %s",
                    name,
                    error,
                    extra={"recording_id": name},
                )
                continue
            if found is not None:
                name = wanted.recording_id.hex()
                _log.warning(
                    "recording %s: its entry was made again: %s",
                    name,
                    found.detail,
                    extra={"recording_id": name},
                )
                yield found

    def is_known(self, recording_id: bytes) -> bool:
        """Return whether a recording has a good entry, or a reason to have none."""
        return _flaw(self._places.catalogue, recording_id) is None

    def is_on_volume(self, recording_id: bytes) -> bool:
        """Return whether a volume in use has a whole file of a recording, of any size."""
        return any(True for _ in self._lengths(recording_id))

    def is_unread(self, recording_id: bytes) -> bool:
        """Return whether the copies of a recording were not read since its entry was lost."""
        return self._places.catalogue.is_unread(recording_id)

    def read_unread(self, stop: Stop) -> None:
        """Read all bytes of the recordings that are noted as unread, and mend them.

        A recording with a blob that no copy has intact, or whose bytes do not have its hash, is
        noted as damaged: only a truck can bring it. One that could not be read is read again after
        `READ_AGAIN_S` at the earliest.
        """
        for recording_id in list(self._places.catalogue.unread()):
            failed_s = self._failed_s.get(recording_id)
            if failed_s is not None and time.monotonic() - failed_s < READ_AGAIN_S:
                continue
            self._failed_s.pop(recording_id, None)
            try:
                self._prove(recording_id, stop)
            except WaysealError as error:
                _log.warning(
                    "recording %s was not read whole: %s",
                    recording_id.hex(),
                    error,
                    extra={"recording_id": recording_id.hex()},
                )
                if not isinstance(error, BusyError):  # a lock does not last
                    self._failed_s[recording_id] = time.monotonic()
            if stop():
                return

    def _remade(self, wanted: KnownRecording, stop: Stop) -> Finding | None:
        if _flaw(self._places.catalogue, wanted.recording_id) is None:
            return None
        with self._writers.alone(wanted.recording_id):
            flaw = _flaw(self._places.catalogue, wanted.recording_id)
            if flaw is None:  # by now
                return None
            made = self._at_sight(wanted)
            if made is not None:
                self._places.catalogue.note_unread(wanted.recording_id)
            else:
                made = self._by_reading(wanted, stop)
            if made is None:
                return None
            for place in wanted.given_up:
                if all(copy.place is not place for copy in made.copies):
                    self._backlogs.gave_up(wanted.recording_id, place)
            self._places.catalogue.replace(made)
            self._backlogs.note(made)
            return replace(finding_of(made, NO_BLOB, MANIFEST, flaw), repaired=True)

    def _at_sight(self, wanted: KnownRecording) -> StoredRecording | None:
        """Return the manifest by the blob store's list and the volumes' sizes; None if in doubt."""
        if len(set(wanted.claims)) != 1:
            return None
        ((size, tree_root),) = set(wanted.claims)
        try:
            listed = self._listed(wanted.recording_id, size)
        except WaysealError:
            return None
        if listed is None or not listed.fits(size, tree_root):
            return None
        copies = (*self._whole_files(listed), *listed.copies)
        return replace(listed, copies=copies) if copies else None

    def _listed(self, recording_id: bytes, size: int) -> StoredRecording | None:
        """Return what the blob store lists, and whether it lists all; None if it lists nothing.

        Raises:
            RejectedError: The blobs that it lists are not those of a recording of this size.
            UnavailableError: The blob store did not answer.
        """
        there = self._places.blobs.leaves(recording_id)
        try:
            shared = self._places.shared(recording_id)
        except RejectedError:
            shared = None
        if shared is None and there:  # the digest's tree root proves these leaf hashes
            leaves = tuple(leaf for _, leaf in sorted(there.items()))
            copies = (self._places.blobs_copy(),)
            return StoredRecording(recording_id, size, root_hash(leaves), leaves, copies)
        if shared is None or all(there.get(at) == leaf for at, leaf in enumerate(shared.leaves)):
            return shared
        return replace(shared, copies=())

    def _by_reading(self, wanted: KnownRecording, stop: Stop) -> StoredRecording | None:
        """Return the manifest by the bytes of a copy; None if there is no copy or it was stopped.

        Raises:
            RejectedError: The bytes are damaged, or no digest fits them.
            UnavailableError: The blob store did not answer.
        """
        made = restore(self._places, wanted.recording_id, stop)
        if made is not None and not any(made.fits(*claim) for claim in wanted.claims):
            raise RejectedError("no digest on the ledger has the size and tree root of its bytes")
        return made

    def _whole_files(self, manifest: StoredRecording) -> Iterator[Copy]:
        """Yield the copy on each volume that has a file of the right size."""
        recording_id = manifest.sha256
        if (recording_id, Place.VOLUME) in set(self._places.catalogue.dropping()):
            return
        for volume, length in self._lengths(recording_id):
            if length == manifest.size:
                yield Copy(Place.VOLUME, volume, FSYNC)

    def _lengths(self, recording_id: bytes) -> Iterator[tuple[str, int]]:
        """Yield name of volume and length of each whole file; volumes that fail are left out."""
        for volume in self._places.volumes.usable():
            with suppress(UnavailableError):
                length = volume.call(lambda directory: directory.whole_length(recording_id))
                if length is not None:
                    yield volume.name, length

    def _prove(self, recording_id: bytes, stop: Callable[[], bool]) -> None:
        """Read every byte of every copy and mend faults; then the recording counts as read.

        Raises:
            RejectedError: A blob is damaged in every copy, or the bytes have another hash.
            UnavailableError: A copy did not answer.
        """
        manifest = self._places.catalogue.manifest(recording_id)
        if manifest is None:  # deleted since then
            self._places.catalogue.forget_unread(recording_id)
            return
        manifest, digest = self._places.ours(manifest), hashlib.sha256()
        for index in range(len(manifest.leaves)):
            if stop():
                return
            try:
                digest.update(fetch(self._places, manifest, index))
            except RejectedError:
                self._give_up(recording_id)
                raise
            self._mend_all(manifest, index)
        if digest.digest() != recording_id:
            self._give_up(recording_id)
            raise RejectedError("its blobs together have another SHA-256")
        self._places.catalogue.forget_unread(recording_id)

    def _give_up(self, recording_id: bytes) -> None:
        """Note a recording as damaged, unless it came again or was deleted since it was read.

        Raises:
            BusyError: It is locked.
        """
        with self._writers.alone(recording_id):
            if self.is_unread(recording_id):
                self._places.catalogue.note_damaged(recording_id)
                self._places.catalogue.forget_unread(recording_id)
                self._backlogs.forget(recording_id)

    def _mend_all(self, manifest: StoredRecording, index: int) -> None:
        """Read one blob of every copy from its medium, and mend the damaged ones.

        Raises:
            UnavailableError: A copy did not answer.
        """
        flaws = {each.kind for each in survey_blob(self._places, manifest, index).findings}
        if Flaw.UNREAD in flaws:
            raise UnavailableError(f"blob {index} of a copy was not read")
        if flaws:
            self._mend(manifest.sha256, index)


def _flaw(catalogue: Catalogue, recording_id: bytes) -> WaysealError | None:
    """Return the fault of an entry; None if it is good, or if the recording needs no entry."""
    if (
        catalogue.progress(recording_id) is not None
        or catalogue.is_leaving(recording_id)
        or catalogue.is_damaged(recording_id)
    ):
        return None
    try:
        if catalogue.manifest(recording_id) is not None:
            return None
    except RejectedError as error:
        return error
    return MissingError("its file in the catalogue is missing")
