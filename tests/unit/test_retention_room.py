"""How much room retention makes: for what was announced or waits, and never for the impossible."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import FSYNC, Copy, Place
from gateway.intake.held import HeldBatch, Offer
from gateway.intake.inbox import Inbox
from gateway.retention.room import LISTED_S, Room
from storage.recordings.store import RecordingStore
from storage.volumes.directory import VolumeDirectory
from storage.volumes.volume import VolumePlace
from support.gateways.retention import DEVICE, recording, trip
from support.storage.stores import open_store, put, volume_file

QUOTA = 8 * BLOB_BYTES
DATA = bytes(2 * BLOB_BYTES)
MAIN = Copy(Place.VOLUME, "main", FSYNC)


class Hall:
    """A store with one volume of 8 MiB, and an inbox."""

    def __init__(self, store: RecordingStore, inbox: Inbox) -> None:
        self.store, self.inbox = store, inbox
        self.now_s = 0.0
        self.room = Room(store.places.volumes, store, inbox, QUOTA, lambda: self.now_s)

    def announce(self, number: int, size: int, device_id: str = DEVICE) -> bytes:
        name = recording(number)
        held = HeldBatch(name.hex(), device_id, trip(1), b"wire", 0, "", name.hex(), name)
        self.inbox.add([held], [Offer(trip(1), device_id, name, size, bytes(32), name.hex())])
        return name

    def needed(self) -> int:
        self.now_s += LISTED_S
        (fill,) = self.room.fills()
        return fill.needed_bytes

    def held(self) -> dict[bytes, int]:
        (fill,) = self.room.fills()
        return dict(fill.holdings)


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
    (volume,) = hall.store.places.volumes
    volume.take_out("a test")
    hall.announce(1, 1)
    assert hall.room.fills() == []


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what the volume's directory is asked for; it answers as ever."""
    counts: Counter[str] = Counter()

    def counted(name: str, ask: Callable[..., object]) -> Callable[..., object]:
        def answer(*args: object) -> object:
            counts[name] += 1
            return ask(*args)

        return answer

    for name in ("holdings", "whole_length"):
        monkeypatch.setattr(VolumeDirectory, name, counted(name, getattr(VolumeDirectory, name)))
    return counts


def test_many_deletions_take_one_listing_and_one_look_each(hall: Hall, asked: Counter[str]) -> None:
    names = [put(hall.store, bytes([number])) for number in range(40)]
    there = hall.held()
    assert there == dict.fromkeys(names, 1)
    asked.clear()
    for name in names[:30]:
        hall.store.drop(name, MAIN)
        hall.room.look_again(name)
        del there[name]
        assert hall.held() == there
    assert asked == {"whole_length": 30}
    hall.now_s += LISTED_S
    assert hall.held() == there
    assert asked["holdings"] == 1


def test_uploads_are_followed_between_two_listings(hall: Hall, asked: Counter[str]) -> None:
    one = put(hall.store, DATA)
    assert hall.held() == {one: len(DATA)}
    data = bytes([1]) * BLOB_BYTES
    name, lost = hashlib.sha256(data).digest(), recording(2)
    with (
        hall.store.begin(name, len(data)) as writer,
        hall.store.begin(lost, BLOB_BYTES) as other,
    ):
        other.write(b"begun")
        writer.write(data)
        asked.clear()
        assert hall.held() == {one: len(DATA), name: len(data), lost: BLOB_BYTES}
        writer.finish()
    hall.store.delete(lost)
    assert hall.held() == {one: len(DATA), name: len(data)}
    assert asked["holdings"] == 0


def test_a_volume_that_was_out_is_listed_anew(hall: Hall, tmp_path: Path) -> None:
    one, two = put(hall.store, DATA), put(hall.store, b"two")
    assert hall.held() == {one: len(DATA), two: 3}
    (volume,) = hall.store.places.volumes
    volume.take_out("a test")
    assert hall.room.fills() == []
    volume_file(tmp_path, one).unlink()
    volume.probe()
    assert hall.held() == {two: 3}


def test_what_one_device_announces_frees_no_more_than_its_share(hall: Hall) -> None:
    share = 3 * BLOB_BYTES
    hall.room = Room(hall.store.places.volumes, hall.store, hall.inbox, share)
    put(hall.store, bytes(6 * BLOB_BYTES))
    hall.announce(1, share, "truck-2")
    hall.announce(2, 7 * BLOB_BYTES, "truck-2")  # fits on the volume, not in the device's share
    assert hall.needed() == share
    hall.announce(3, share)
    assert hall.needed() == share
