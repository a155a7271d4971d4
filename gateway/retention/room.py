"""How full the volumes are, and how much room what is on its way will need."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError
from gateway.inbox import Inbox, State
from storage.recordings.store import RecordingStore
from storage.retention.rules import Fill
from storage.volumes.volume import Volume
from storage.volumes.volumes import Volumes

NEEDED_PART: Final = 4
"""At most this part of a volume, a quarter, is made free at a time for what was announced; but as
much as the largest of it that fits at all."""


class Room:
    """Looks at the volumes that answer.

    Args:
        volumes: Where whole copies are.
        store: What came, and what lacks a whole copy.
        inbox: What was announced.
    """

    def __init__(self, volumes: Volumes, store: RecordingStore, inbox: Inbox) -> None:
        self._volumes = volumes
        self._store = store
        self._inbox = inbox

    def fills(self) -> list[Fill]:
        """Return how full each volume is; the first must make room if none has it."""
        found = [fill for volume in self._volumes.usable() for fill in _fill(volume)]
        wanted = sorted(self._announced().values())
        if not found or not wanted or any(_left(fill) >= sum(wanted) for fill in found):
            return found
        return [replace(found[0], needed_bytes=_needed(found[0], wanted)), *found[1:]]

    def _announced(self) -> dict[bytes, int]:
        """Return the bytes of each recording that has no room on a volume yet."""
        announced = {
            each.recording_id: each.size
            for each in self._store.backlog()
            if Place.VOLUME in each.lacks
        }
        for offer in self._inbox.offers_in(State.HELD):
            if not self._has_come(offer.recording):
                announced[offer.recording] = offer.size
        return announced

    def _has_come(self, recording_id: bytes) -> bool:
        try:
            whole = self._store.manifest(recording_id) is not None
        except RejectedError:
            return True  # a damaged manifest is for the scrub to mend
        return whole or self._store.progress(recording_id) is not None


def _fill(volume: Volume) -> Iterator[Fill]:
    try:
        holdings = volume.call(lambda directory: dict(directory.holdings()))
        free = volume.call(lambda directory: directory.free_bytes())
    except UnavailableError:
        return
    yield Fill(volume.name, holdings, volume.place.quota_bytes, free, 0)


def _left(fill: Fill) -> int:
    used = sum(fill.holdings.values())
    return min(fill.free_bytes, fill.quota_bytes - used) if fill.quota_bytes else fill.free_bytes


def _needed(fill: Fill, wanted: list[int]) -> int:
    capacity = fill.quota_bytes or sum(fill.holdings.values()) + fill.free_bytes
    fitting = [size for size in wanted if size <= capacity]
    return max(min(sum(fitting), capacity // NEEDED_PART), max(fitting, default=0))
