"""Deletes recordings, copies that were given up, and parts that no upload continues.

Each deletion is noted durably before its first byte is deleted. If a place does not answer, or the
process is killed, the deletion continues later.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from contracts.copies import Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.recordings.backlog import Backlogs
from storage.recordings.locks import RecordingLocks
from storage.recordings.manifest import Progress, StoredRecording
from storage.recordings.places import Places

_log: Final = logging.getLogger(__name__)


class Removals:
    """Carries out deletions; the caller holds the lock of the recording.

    Args:
        places: Where recordings are.
        backlogs: Which copies are wanted.
    """

    def __init__(self, places: Places, backlogs: Backlogs) -> None:
        self._places = places
        self._backlogs = backlogs

    def finish_leaving(self, recording_id: bytes) -> None:
        """Delete everything of a recording that is not whole: its copies and its records.

        Raises:
            UnavailableError: A place did not delete its copy; all others did.
        """
        self._backlogs.forget(recording_id)
        if self._places.catalogue.is_leaving(recording_id):
            self._places.remove(recording_id, Place, self._volumes(recording_id))
        else:
            self._places.remove_unfinished(recording_id)
        self._places.catalogue.drop_progress(recording_id)
        self._places.catalogue.end_leaving(recording_id)

    def finish_dropping(self, recording_id: bytes, place: Place) -> None:
        """Take a kind of place out of the manifest, then delete the copies in it.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: A place did not delete its copy; all others did.
        """
        manifest = self._places.catalogue.manifest(recording_id)
        if manifest is not None:
            left = tuple(copy for copy in manifest.copies if copy.place is not place)
            if left != manifest.copies:
                manifest = replace(manifest, copies=left)
                self._places.catalogue.replace(manifest)
                self._backlogs.note(manifest)
        every = [volume.name for volume in self._places.volumes]
        self._places.remove(recording_id, [place], every)
        self._places.catalogue.end_dropping(recording_id, place)

    def drop(self, manifest: StoredRecording, copy: Copy) -> None:
        """Give up a copy for good; dropping it again continues an interrupted removal.

        Raises:
            RejectedError: The recording has no copy in another kind of place.
            UnavailableError: A place did not delete its copy; the removal continues later.
        """
        recording_id, place = manifest.sha256, copy.place
        if all(each.place is place for each in manifest.copies):
            raise RejectedError(
                f"recording {recording_id.hex()} has copies only in {place}: delete it instead"
            )
        if copy in manifest.copies:
            self._backlogs.give_up(recording_id, place)
        if (recording_id, place) in self._places.catalogue.dropping():
            self.finish_dropping(recording_id, place)

    def upload_progress(self, recording_id: bytes, size: int) -> Progress:
        """Return where an upload continues, once an interrupted deletion is finished.

        Raises:
            RejectedError: The recording is whole, or its upload began with another size.
            UnavailableError: A place did not delete its copy.
        """
        catalogue = self._places.catalogue
        if catalogue.is_whole(recording_id):
            raise RejectedError(f"recording {recording_id.hex()} is whole and written once")
        if catalogue.is_leaving(recording_id):
            self.finish_leaving(recording_id)
        progress = catalogue.progress(recording_id) or Progress(recording_id, size, 0)
        if progress.size != size:
            raise RejectedError(
                f"recording {recording_id.hex()} was begun with {progress.size} bytes, got {size}"
            )
        return progress

    def give_up_adopted(self, recording_id: bytes) -> None:
        """Note an adopted recording as damaged if no intact copy of it was ever read here."""
        manifest = self._places.catalogue.manifest(recording_id)
        if manifest is not None and not manifest.copies:
            self._places.catalogue.note_damaged(recording_id)
            self._backlogs.forget(recording_id)

    def tidy(self, writers: RecordingLocks) -> None:
        """Continue interrupted deletions, and delete parts that no upload continues.

        Args:
            writers: Recordings that are locked are left alone.
        """
        catalogue = self._places.catalogue
        for recording_id in catalogue.leaving():
            _attempt(writers, recording_id, self.finish_leaving)
        for recording_id, place in catalogue.dropping():
            _attempt(writers, recording_id, partial(self.finish_dropping, place=place))
        for volume, recording_id in self.parts():
            _attempt(writers, recording_id, partial(self.remove_stale, volume=volume))

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Yield volume and recording of every part on the volumes in use, stale or not."""
        for volume in self._places.volumes.usable():
            try:
                found = volume.call(lambda directory: list(directory.parts()))
            except UnavailableError:
                continue
            yield from ((volume.name, recording_id) for recording_id in found)

    def remove_stale(self, recording_id: bytes, volume: str) -> None:
        """Delete a part unless an upload or a backfill continues it.

        Raises:
            RejectedError: The recording's manifest is damaged.
            UnavailableError: A disk failed.
        """
        manifest = self._places.catalogue.manifest(recording_id)
        if manifest is not None:
            wanted = Place.VOLUME in self._backlogs.lacks(recording_id, manifest.copies)
        else:
            progress = self._places.catalogue.progress(recording_id)
            wanted = progress is not None and progress.volume == volume
        place = self._places.volumes.get(volume)
        if place is not None and not wanted:
            place.call(lambda directory: directory.delete_part(recording_id))

    def _volumes(self, recording_id: bytes) -> list[str]:
        """Return the volumes that a leaving recording's manifest names; all if it is damaged."""
        try:
            manifest = self._places.catalogue.left(recording_id)
        except RejectedError:
            return [volume.name for volume in self._places.volumes]
        return [copy.name for copy in manifest.copies] if manifest else []


def _attempt(writers: RecordingLocks, recording_id: bytes, work: Callable[[bytes], None]) -> None:
    try:
        with writers.alone(recording_id):
            work(recording_id)
    except WaysealError as error:
        _log.info("left for later: %s", error)
    except Exception:  # noqa: BLE001 - one recording must not hold up all others
        _log.exception(
            "recording %s is left for later",
            recording_id.hex(),
            extra={"recording_id": recording_id.hex()},
        )
