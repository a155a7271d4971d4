"""Removes recordings, copies that are given up, and parts that nobody goes on with.

Each removal is noted durably before the first byte goes, so one that is held up by a
place that does not answer, or by a kill, goes on later.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.recordings.backlog import Backlogs
from storage.recordings.shelves import Shelves
from storage.recordings.writers import Writers

_log: Final = logging.getLogger(__name__)


class Removals:
    """Ends removals; the caller sees to it that nobody else is at the recording.

    Args:
        shelves: Where recordings are.
        backlogs: What is wanted of them.
    """

    def __init__(self, shelves: Shelves, backlogs: Backlogs) -> None:
        self._shelves = shelves
        self._backlogs = backlogs

    def finish_leaving(self, recording_id: bytes) -> None:
        """Remove all of a recording that is whole no more, or never was, and all known of it.

        Raises:
            UnavailableError: A place did not let go of its copy; all others did.
        """
        self._backlogs.forget(recording_id)
        if self._shelves.catalogue.is_leaving(recording_id):
            self._shelves.remove(recording_id, Place, self._volumes(recording_id))
        else:
            self._shelves.remove_unfinished(recording_id)
        self._shelves.catalogue.drop_progress(recording_id)
        self._shelves.catalogue.end_leaving(recording_id)

    def finish_dropping(self, recording_id: bytes, place: Place) -> None:
        """Take a place that is given up out of the manifest, then remove the copies in it.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: A place did not let go of its copy; all others did.
        """
        manifest = self._shelves.catalogue.manifest(recording_id)
        if manifest is not None:
            left = tuple(copy for copy in manifest.copies if copy.place is not place)
            if left != manifest.copies:
                manifest = replace(manifest, copies=left)
                self._shelves.catalogue.replace(manifest)
                self._backlogs.note(manifest)
        every = [volume.name for volume in self._shelves.volumes]
        self._shelves.remove(recording_id, [place], every)
        self._shelves.catalogue.end_dropping(recording_id, place)

    def give_up_adopted(self, recording_id: bytes) -> None:
        """Call a recording damaged, not whole, if nobody here ever read a copy that held."""
        manifest = self._shelves.catalogue.manifest(recording_id)
        if manifest is not None and not manifest.copies:
            self._shelves.catalogue.note_damaged(recording_id)
            self._backlogs.forget(recording_id)

    def tidy(self, writers: Writers) -> None:
        """Go on with removals that a place held up, and remove parts that nobody goes on with.

        Args:
            writers: Who is at which recording; those are left alone.
        """
        catalogue = self._shelves.catalogue
        for recording_id in catalogue.leaving():
            _attempt(writers, recording_id, self.finish_leaving)
        for recording_id, place in catalogue.dropping():
            _attempt(writers, recording_id, partial(self.finish_dropping, place=place))
        for volume, recording_id in self.parts():
            _attempt(writers, recording_id, partial(self.remove_stale, volume=volume))

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Yield volume and recording of every part, stale or not; what is out says nothing."""
        for volume in self._shelves.volumes.usable():
            try:
                found = volume.call(lambda directory: list(directory.parts()))
            except UnavailableError:
                continue
            yield from ((volume.name, recording_id) for recording_id in found)

    def remove_stale(self, recording_id: bytes, volume: str) -> None:
        """Remove a part unless an upload goes on with it, or a copy is being made of it.

        Raises:
            RejectedError: The recording's manifest is damaged.
            UnavailableError: A disk failed.
        """
        manifest = self._shelves.catalogue.manifest(recording_id)
        if manifest is not None:
            wanted = Place.VOLUME in self._backlogs.lacks(recording_id, manifest.copies)
        else:
            progress = self._shelves.catalogue.progress(recording_id)
            wanted = progress is not None and progress.volume == volume
        place = self._shelves.volumes.get(volume)
        if place is not None and not wanted:
            place.call(lambda directory: directory.delete_part(recording_id))

    def _volumes(self, recording_id: bytes) -> list[str]:
        """Return which volumes the manifest names that was put aside; all if it is damaged."""
        try:
            manifest = self._shelves.catalogue.left(recording_id)
        except RejectedError:
            return [volume.name for volume in self._shelves.volumes]
        return [copy.name for copy in manifest.copies] if manifest else []


def _attempt(writers: Writers, recording_id: bytes, work: Callable[[bytes], None]) -> None:
    try:
        with writers.alone(recording_id):
            work(recording_id)
    except WaysealError as error:
        _log.info("left for later: %s", error)
    except Exception:  # noqa: BLE001 - one recording must not hold up all others
        _log.exception("recording %s is left for later", recording_id.hex())
