"""How full the volumes are, and how much room what is on its way will need."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError
from gateway.inbox import Inbox, State
from gateway.retention.holdings import Holdings
from storage.recordings.store import RecordingStore
from storage.retention.rules import Fill
from storage.volumes.volume import Volume
from storage.volumes.volumes import Volumes

NEEDED_PART: Final = 4
"""At most this part of a volume, a quarter, is made free at a time for what was announced; but as
much as the largest of it that fits at all."""


class Room:
    """Looks at the volumes that answer; used from one thread.

    Args:
        volumes: Where whole copies are.
        store: What came, and what lacks a whole copy.
        inbox: What was announced.
        monotonic_s: Seconds since any moment.
    """

    def __init__(
        self,
        volumes: Volumes,
        store: RecordingStore,
        inbox: Inbox,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._volumes = volumes
        self._monotonic_s = monotonic_s
        self._holdings: dict[str, Holdings] = {}
        self._store = store
        self._inbox = inbox

    def fills(self) -> list[Fill]:
        """Return how full each volume is; the first must make room if none has it."""
        usable = {volume.name: volume for volume in self._volumes.usable()}
        self._holdings = {  # what was out is listed anew: it may be another one
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
