"""How full the volumes are, and how much room the announced recordings will need."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError
from gateway.intake.held import State
from gateway.intake.inbox import Inbox
from storage.recordings.store import RecordingStore
from storage.retention.rules import Fill
from storage.volumes.directory import VolumeDirectory
from storage.volumes.volume import Volume
from storage.volumes.volumes import Volumes

NEEDED_PART: Final = 4
"""At most one such part of a volume is made free at one time for announced recordings.
If the largest recording that fits on the volume is larger, its size is made free."""
LISTED_S: Final = 30.0
"""Age at which a listing is replaced: it lacks uploads that began and ended between two looks."""


class Holdings:
    """Follows the room that recordings take up on one volume; used from one thread.

    A listing looks at every file, and a run of deletions asks after each deletion. So the volume
    is listed now and then, and only changes are looked at in between.

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
        """Return the parts, and the bytes of each recording that may have changed; None: gone.

        Every upload is a part first; a whole file goes only when retention deletes it.
        """
        parts = set(directory.parts())
        changed = self._changed | (parts ^ self._parts)
        return parts, {each: _length(directory, each, parts) for each in changed}


class Room:
    """Looks at the volumes that answer; used from one thread.

    Args:
        volumes: Where whole copies are.
        store: Which recordings have come, and which lack a whole copy.
        inbox: Which recordings were announced.
        device_bytes_max: Bytes of one device's announced recordings that count: what it may upload
            at a time.
        monotonic_s: Seconds since any moment.
    """

    def __init__(
        self,
        volumes: Volumes,
        store: RecordingStore,
        inbox: Inbox,
        device_bytes_max: int,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._volumes = volumes
        self._monotonic_s = monotonic_s
        self._holdings: dict[str, Holdings] = {}
        self._store = store
        self._inbox = inbox
        self._device_bytes_max = device_bytes_max

    def fills(self) -> list[Fill]:
        """Return how full each volume is; the first must make room if no volume has enough."""
        usable = {volume.name: volume for volume in self._volumes.usable()}
        # A volume that was unusable until now is listed again: it may be another disk.
        self._holdings = {
            name: self._holdings.get(name) or Holdings(volume, self._monotonic_s)
            for name, volume in usable.items()
        }
        found = [fill for name in usable for fill in _fill(usable[name], self._holdings[name])]
        wanted = sorted(self._announced().values())
        if not found or not wanted or any(_left(fill) >= sum(wanted) for fill in found):
            return found
        return [replace(found[0], needed_bytes=_needed(found[0], wanted)), *found[1:]]

    def look_again(self, recording_id: bytes) -> None:
        """Look at this recording's files the next time: they may be gone."""
        for holdings in self._holdings.values():
            holdings.look_again(recording_id)

    def _announced(self) -> dict[bytes, int]:
        """Return the bytes of each announced recording that has no room on a volume yet."""
        announced = {
            each.recording_id: each.size
            for each in self._store.backlog()
            if Place.VOLUME in each.lacks
        }
        of_device: Counter[str] = Counter()
        for offer in self._inbox.offers_in(State.HELD):
            size = of_device[offer.device_id] + offer.size
            if size <= self._device_bytes_max and not self._has_come(offer.recording):
                announced[offer.recording] = offer.size
                of_device[offer.device_id] = size
        return announced

    def _has_come(self, recording_id: bytes) -> bool:
        try:
            whole = self._store.manifest(recording_id) is not None
        except RejectedError:
            return True  # the scrub repairs a damaged manifest
        return whole or self._store.progress(recording_id) is not None


def _list(directory: VolumeDirectory) -> tuple[set[bytes], dict[bytes, int]]:
    # Parts first: one that becomes whole during the listing is looked at again the next time.
    parts = set(directory.parts())
    return parts, dict(directory.holdings())


def _length(directory: VolumeDirectory, recording_id: bytes, parts: set[bytes]) -> int | None:
    if recording_id in parts:
        return directory.length(recording_id)
    return directory.whole_length(recording_id)


def _fill(volume: Volume, holdings: Holdings) -> Iterator[Fill]:
    try:
        held = holdings.by_recording()
        free = volume.call(lambda directory: directory.free_bytes())
    except UnavailableError:
        return
    yield Fill(volume.name, held, volume.place.quota_bytes, free, 0)


def _left(fill: Fill) -> int:
    used = sum(fill.holdings.values())
    return min(fill.free_bytes, fill.quota_bytes - used) if fill.quota_bytes else fill.free_bytes


def _needed(fill: Fill, wanted: list[int]) -> int:
    capacity = fill.quota_bytes or sum(fill.holdings.values()) + fill.free_bytes
    fitting = [size for size in wanted if size <= capacity]
    return max(min(sum(fitting), capacity // NEEDED_PART), max(fitting, default=0))
