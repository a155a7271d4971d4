"""Missing copies are made when a place is back, and recordings of other sites are not uploaded."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from contracts.chunktree import leaf_hash
from contracts.copies import Place
from contracts.errors import UnavailableError
from gateway.access import Caller, Role
from gateway.upkeep.filling import FAILURES_MAX, Filling
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob
from storage.recordings.store import RecordingStore
from support.gateways.uploads import uploads_to
from support.storage.stores import open_store, put

CALLER = Caller("truck-1", Role.DEVICE)


class Blobs(FileBlobs):
    """Blobs in files, of a medium that fails when a test says so.

    Attributes:
        down: Whether nothing works.
        refused: Recordings whose blobs it refuses.
        poisoned: Recordings at which it fails in a way that nobody foresaw.
    """

    down = False
    refused: frozenset[bytes] = frozenset()
    poisoned: frozenset[bytes] = frozenset()

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        self._check(recording_id)
        super().put_many(recording_id, blobs)

    def manifest(self, recording_id: bytes) -> bytes | None:
        self._check(recording_id)
        return super().manifest(recording_id)

    def _check(self, recording_id: bytes) -> None:
        if self.down or recording_id in self.refused:
            raise UnavailableError("the blob store is down")

    def delete(self, recording_id: bytes) -> None:
        self._check_poison(recording_id)
        super().delete(recording_id)

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        self._check_poison(recording_id)
        return super().leaves(recording_id)

    def _check_poison(self, recording_id: bytes) -> None:
        if recording_id in self.poisoned:
            raise OverflowError("no bigint")


@dataclass
class Site:
    """A store over a blob store that fails, and what fills it."""

    blobs: Blobs
    store: RecordingStore
    told: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.filling = Filling(self.store, lambda: self.told.append(1))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        blobs = Blobs(tmp_path / "blobs")
        yield Site(blobs, stack.enter_context(open_store(tmp_path / "a", blobs)))


def places(store: RecordingStore, recording_id: bytes) -> set[Place]:
    manifest = store.manifest(recording_id)
    return {copy.place for copy in manifest.copies} if manifest else set()


def test_blobs_follow_when_the_store_is_back(site: Site) -> None:
    site.blobs.down = True
    recording_id = put(site.store, b"video")
    assert places(site.store, recording_id) == {Place.VOLUME}
    assert not site.filling.step()
    (waiting,) = site.filling.waiting()
    assert waiting.item.lacks == (Place.BLOBS,)
    assert "is down" in waiting.problem
    site.blobs.down = False
    assert site.filling.step()
    assert places(site.store, recording_id) == {Place.VOLUME, Place.BLOBS}
    assert list(site.filling.waiting()) == []
    assert site.told == [1, 1]
    assert not site.filling.step()


def test_what_cannot_be_filled_holds_up_nothing_else(site: Site) -> None:
    site.blobs.down = True
    ids = [put(site.store, f"video {number}".encode()) for number in range(FAILURES_MAX + 1)]
    site.blobs.down = False
    site.blobs.refused = frozenset(ids[:FAILURES_MAX])
    assert not site.filling.step()
    assert site.filling.step()
    assert places(site.store, ids[-1]) == {Place.VOLUME, Place.BLOBS}
    assert {each.item.recording_id for each in site.filling.waiting()} == site.blobs.refused


def test_what_fails_in_an_unforeseen_way_holds_up_nothing_else(site: Site) -> None:
    site.blobs.down = True
    ids = [put(site.store, f"video {number}".encode()) for number in range(3)]
    site.store.places.catalogue.start_leaving(ids[0])
    site.blobs.down = False
    site.blobs.poisoned = frozenset(ids[:2])
    assert site.filling.step()
    assert places(site.store, ids[2]) == {Place.VOLUME, Place.BLOBS}
    (waiting,) = site.filling.waiting()
    assert (waiting.item.recording_id, waiting.problem) == (ids[1], "no bigint")


def create(store: RecordingStore, recording_id: bytes, size: int) -> tuple[int, bool, list[bytes]]:
    """Announce an upload; return its offset, whether it is whole, and what was told to be whole."""
    finished: list[bytes] = []

    async def announce() -> tuple[int, bool]:
        with uploads_to(store, finished) as uploads:
            try:
                status = await uploads.create(recording_id, size, CALLER)
                return status.offset, status.whole
            finally:
                await uploads.close()

    return *asyncio.run(announce()), finished


def test_what_another_site_stored_is_adopted_and_gets_its_volume_copy(
    site: Site, tmp_path: Path
) -> None:
    recording_id = put(site.store, b"video")
    with open_store(tmp_path / "b", site.blobs) as next_site:
        assert create(next_site, recording_id, 5) == (5, True, [recording_id])
        assert places(next_site, recording_id) == set()
        filling = Filling(next_site, lambda: None)
        assert filling.step()
        assert places(next_site, recording_id) == {Place.BLOBS, Place.VOLUME}
        assert b"".join(next_site.read(recording_id)) == b"video"


def test_what_another_site_stored_and_rotted_is_taken_from_the_truck(
    site: Site, tmp_path: Path
) -> None:
    recording_id = put(site.store, b"video")
    site.blobs.put(recording_id, Blob(0, b"ideov", leaf_hash(b"video")))
    with open_store(tmp_path / "b", site.blobs) as next_site:
        assert create(next_site, recording_id, 5) == (5, True, [recording_id])
        assert not Filling(next_site, lambda: None).step()
        assert create(next_site, recording_id, 5) == (0, False, [])
        put(next_site, b"video")
        assert places(next_site, recording_id) == {Place.BLOBS, Place.VOLUME}
    assert site.store.verify(recording_id).holds


def test_a_blob_store_that_is_down_stops_no_upload(site: Site, tmp_path: Path) -> None:
    recording_id = put(site.store, b"video")
    site.blobs.down = True
    with open_store(tmp_path / "b", site.blobs) as next_site:
        assert create(next_site, recording_id, 5) == (0, False, [])


def test_a_recording_of_another_size_is_not_adopted(site: Site, tmp_path: Path) -> None:
    recording_id = put(site.store, b"video")
    with open_store(tmp_path / "b", site.blobs) as next_site:
        assert create(next_site, recording_id, 6) == (0, False, [])
