"""How much room retention makes: for what was announced or waits, and never for the impossible."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import FSYNC, Copy, Place
from gateway.inbox import HeldBatch, Inbox, Offer
from gateway.retention.room import Room
from storage.recordings.store import RecordingStore
from storage.volumes.volume import VolumePlace
from support.retention import DEVICE, recording, trip
from support.stores import open_store, put

QUOTA = 8 * BLOB_BYTES
DATA = bytes(2 * BLOB_BYTES)
MAIN = Copy(Place.VOLUME, "main", FSYNC)


class Hall:
    """A store with one volume of 8 MiB, and an inbox."""

    def __init__(self, store: RecordingStore, inbox: Inbox) -> None:
        self.store, self.inbox = store, inbox
        self.room = Room(store.shelves.volumes, store, inbox)

    def announce(self, number: int, size: int) -> bytes:
        name = recording(number)
        held = HeldBatch(name.hex(), DEVICE, trip(1), b"wire", 0, "", name.hex(), name)
        self.inbox.add([held], [Offer(trip(1), DEVICE, name, size, bytes(32), name.hex())])
        return name

    def needed(self) -> int:
        (fill,) = self.room.fills()
        return fill.needed_bytes


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    places = {"main": VolumePlace(tmp_path / "v", quota_bytes=QUOTA)}
    with (
        open_store(tmp_path, places=places) as store,
        closing(Inbox(tmp_path / "i.db", bytes_max=1 << 30, quarantine_bytes_max=1 << 20)) as inbox,
    ):
        yield Hall(store, inbox)


def test_what_a_volume_holds_is_told(hall: Hall) -> None:
    one = put(hall.store, DATA)
    (fill,) = hall.room.fills()
    assert (fill.name, dict(fill.holdings), fill.quota_bytes) == ("main", {one: len(DATA)}, QUOTA)
    assert fill.needed_bytes == 0


def test_nothing_is_needed_while_what_was_announced_fits(hall: Hall) -> None:
    put(hall.store, DATA)
    hall.announce(1, QUOTA - len(DATA))
    assert hall.needed() == 0


def test_what_does_not_fit_is_needed_a_quarter_at_a_time_or_the_largest(hall: Hall) -> None:
    put(hall.store, bytes(7 * BLOB_BYTES))
    for number in range(8):
        hall.announce(number, BLOB_BYTES)
    assert hall.needed() == QUOTA // 4
    hall.announce(8, 5 * BLOB_BYTES)
    assert hall.needed() == 5 * BLOB_BYTES
    hall.announce(9, QUOTA + 1)  # never fits
    assert hall.needed() == 5 * BLOB_BYTES


def test_an_upload_that_has_begun_has_its_room(hall: Hall) -> None:
    put(hall.store, bytes(6 * BLOB_BYTES))
    name = hall.announce(1, 2 * BLOB_BYTES)
    with hall.store.begin(name, 2 * BLOB_BYTES) as writer:
        writer.write(b"begun")
        writer.sync()
    assert hall.needed() == 0
    (fill,) = hall.room.fills()
    assert fill.holdings[name] == 2 * BLOB_BYTES


def test_a_copy_in_the_backlog_needs_room_and_one_that_was_dropped_does_not(hall: Hall) -> None:
    one = put(hall.store, bytes(5 * BLOB_BYTES))
    put(hall.store, bytes(3 * BLOB_BYTES))
    hall.store.drop(one, MAIN)
    assert hall.needed() == 0
    hall.announce(1, 6 * BLOB_BYTES)
    assert hall.needed() == 6 * BLOB_BYTES
    hall.store.want(one, Place.VOLUME)
    assert [each.recording_id for each in hall.store.backlog()] == [one]
    assert hall.needed() == 6 * BLOB_BYTES
    assert hall.store.fill(one)
    assert list(hall.store.backlog()) == []


def test_a_volume_that_is_out_is_left_out(hall: Hall) -> None:
    (volume,) = hall.store.shelves.volumes
    volume.take_out("a test")
    hall.announce(1, 1)
    assert hall.room.fills() == []
