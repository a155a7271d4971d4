"""What recordings take up on a volume: listed now and then, followed in between.

A listing looks at every file, and a run of deletions asks after each of them.
"""

import time
from collections.abc import Callable
from typing import Final

from storage.volumes.directory import VolumeDirectory
from storage.volumes.volume import Volume

LISTED_S: Final = 30.0
"""Older listings are made anew: an upload that began and ended between two looks is in none."""


class Holdings:
    """Follows one volume; used from one thread.

    Args:
        volume: The volume.
        monotonic_s: Seconds since any moment.
    """

    def __init__(self, volume: Volume, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._volume = volume
        self._monotonic_s = monotonic_s
        self._listed_at_s: float | None = None
        self._held: dict[bytes, int] = {}
        self._parts: set[bytes] = set()
        self._changed: set[bytes] = set()

    def look_again(self, recording_id: bytes) -> None:
        """Look at this recording's file the next time: it may be gone."""
        self._changed.add(recording_id)

    def by_recording(self) -> dict[bytes, int]:
        """Return the bytes of each recording there, whole or part, reservations included.

        Raises:
            UnavailableError: The volume did not answer.
        """
        now_s = self._monotonic_s()
        if self._listed_at_s is None or now_s - self._listed_at_s >= LISTED_S:
            self._parts, self._held = self._volume.call(_list)
            self._listed_at_s = now_s
        else:
            self._parts, changed = self._volume.call(self._look)
            for recording_id, length in changed.items():
                self._held.pop(recording_id, None)
                if length is not None:
                    self._held[recording_id] = length
        self._changed.clear()
        return dict(self._held)

    def _look(self, directory: VolumeDirectory) -> tuple[set[bytes], dict[bytes, int | None]]:
        """Return the parts, and the bytes of what may have changed; None for what is gone.

        Every upload is a part first; a whole file goes only when retention deletes it.
        """
        parts = set(directory.parts())
        changed = self._changed | (parts ^ self._parts)
        return parts, {each: _length(directory, each, parts) for each in changed}


def _list(directory: VolumeDirectory) -> tuple[set[bytes], dict[bytes, int]]:
    parts = set(directory.parts())  # first: what becomes whole meanwhile is looked at again
    return parts, dict(directory.holdings())


def _length(directory: VolumeDirectory, recording_id: bytes, parts: set[bytes]) -> int | None:
    if recording_id in parts:
        return directory.length(recording_id)
    return directory.whole_length(recording_id)
