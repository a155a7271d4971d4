"""The scrub over the real store on files: whatever is wrong on the disk is named and mended."""

import random
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import UnavailableError
from storage.blobs.files import FileBlobs
from storage.recordings.blobcopies import NO_BLOB, SEAL
from storage.recordings.store import RecordingStore
from storage.scrub.pace import Pace
from storage.scrub.report import FindingOutcome, ScrubReport
from storage.scrub.scrub import Scrub
from storage.scrub.silence import SILENT_AFTER
from storage.volumes.volumes import Volumes
from support.storage.blobsuite import blob, recording
from support.storage.faulty_blobs import FaultyBlobs
from support.storage.stores import blob_file, flip, open_store, put, volume_file

DATA = random.Random(7).randbytes(3 * BLOB_BYTES + 5)
VOLUME, BLOBS = "volume:volume", "blobs:files"
ORPHAN = recording("orphan")

Entry = tuple[str, int | None, str, str, str]


class Bench:
    """A store with one recording, and a scrub that never pauses."""

    def __init__(self, root: Path, store: RecordingStore) -> None:
        self.root, self.store = root, store
        self.one = next(store.recordings(), b"") or put(store, DATA)
        self.report = ScrubReport(root / "scrub.db")
        self.scrub = Scrub(
            store,
            self.report,
            Pace(1 << 40, lambda _: None),
            every_days=0,
            stopping=lambda: False,
        )

    @property
    def volumes(self) -> Volumes:
        return self.store.places.volumes

    def round(self) -> list[Entry]:
        """Let it go round once; return what it found."""
        number = self.scrub.begin().number
        assert self.scrub.step()
        rows = self.report.query(
            "SELECT recording, blob, copy, kind, outcome FROM findings WHERE round = ?"
            " ORDER BY finding",
            number,
        )
        return [
            (name.hex()[:8], None if blob == NO_BLOB else blob, copy, kind, outcome)
            for name, blob, copy, kind, outcome in rows
        ]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with open_store(tmp_path) as store:
        made = Bench(tmp_path, store)
        yield made
        made.report.close()


def test_nothing_is_found_where_nothing_is_wrong(bench: Bench) -> None:
    assert bench.round() == []
    (ended,) = bench.report.rounds(1)
    assert (ended.recordings, ended.blobs, ended.bytes_read) == (1, 4, 2 * len(DATA))


def test_rot_in_either_copy_is_mended(bench: Bench) -> None:
    name = bench.one.hex()[:8]
    flip(volume_file(bench.root, bench.one), 2 * BLOB_BYTES)
    flip(blob_file(bench.root, bench.one, 1), 100)
    blob_file(bench.root, bench.one, 3).unlink()
    assert bench.round() == [
        (name, 1, BLOBS, "rotten", FindingOutcome.MENDED),
        (name, 2, VOLUME, "rotten", FindingOutcome.MENDED),
        (name, 3, BLOBS, "missing", FindingOutcome.MENDED),
    ]
    assert bench.round() == []
    assert bench.store.verify(bench.one).holds


def test_what_rotted_in_every_copy_is_told_again_in_each_round(bench: Bench) -> None:
    name = bench.one.hex()[:8]
    flip(volume_file(bench.root, bench.one), 0)
    flip(blob_file(bench.root, bench.one, 0), 100)
    for _ in range(2):
        assert bench.round() == [
            (name, 0, VOLUME, "rotten", FindingOutcome.NOT_MENDED),
            (name, 0, BLOBS, "rotten", FindingOutcome.NOT_MENDED),
        ]


def test_a_whole_file_that_is_gone_is_made_again_by_the_backlog(bench: Bench) -> None:
    volume_file(bench.root, bench.one).unlink()
    found = bench.round()
    assert found == [(bench.one.hex()[:8], 0, VOLUME, "missing", FindingOutcome.TO_BE_FILLED)]
    assert [each.recording_id for each in bench.store.backlog()] == [bench.one]
    assert bench.store.fill(bench.one)
    assert bench.round() == []
    assert volume_file(bench.root, bench.one).read_bytes() == DATA


@pytest.mark.parametrize("whole_copy", [True, False])
def test_a_damaged_manifest_is_made_again(bench: Bench, whole_copy: bool) -> None:  # noqa: FBT001
    path = bench.root / "c" / "whole" / bench.one.hex()[:2] / bench.one.hex()
    flip(path, 60)
    if not whole_copy:
        flip(volume_file(bench.root, bench.one), 1)
    assert bench.round() == [
        (bench.one.hex()[:8], None, "manifest", "rotten", FindingOutcome.MENDED)
    ]
    other = Place.BLOBS if whole_copy else Place.VOLUME  # was not read to rebuild it
    assert [each.lacks for each in bench.store.backlog()] == [(other,)]
    assert bench.store.fill(bench.one)
    assert bench.round() == []
    assert bench.store.verify(bench.one).holds


def test_a_damaged_manifest_without_another_is_told(bench: Bench) -> None:
    path = bench.root / "c" / "whole" / bench.one.hex()[:2] / bench.one.hex()
    flip(path, 60)
    flip(volume_file(bench.root, bench.one), 1)
    blob_file(bench.root, bench.one, 0).with_name("manifest").unlink()
    assert bench.round() == [
        (bench.one.hex()[:8], None, "manifest", "rotten", FindingOutcome.NOT_MENDED)
    ]


@pytest.mark.parametrize("at_once", [True, False])
def test_orphans_that_cannot_be_listed_are_left_to_the_next_round(
    tmp_path: Path,
    at_once: bool,  # noqa: FBT001
) -> None:
    class Unlistable(FileBlobs):
        fails = True

        def recordings(self) -> Iterator[bytes]:
            if self.fails and at_once:
                raise UnavailableError("no list now")
            return super().recordings()

        def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
            if self.fails and recording_id == ORPHAN:
                raise UnavailableError("no list now")
            return super().leaves(recording_id)

    blobs = Unlistable(tmp_path / "b")
    with open_store(tmp_path, blobs) as store:
        bench = Bench(tmp_path, store)
        blobs.put(ORPHAN, blob(0, b"data"))
        assert bench.round() == [("", None, BLOBS, "not-looked-at", FindingOutcome.NAMED)]
        (detail,) = bench.report.query("SELECT detail FROM findings")
        assert detail == ("for orphans: no list now",)
        blobs.fails = False
        assert bench.round() == [(ORPHAN.hex()[:8], None, BLOBS, "orphan", FindingOutcome.NAMED)]
        bench.report.close()


def test_a_manifest_in_the_blob_store_is_written_again(bench: Bench) -> None:
    name = bench.one.hex()[:8]
    path = blob_file(bench.root, bench.one, 0).with_name("manifest")
    flip(path, 60)
    assert bench.round() == [(name, None, SEAL, "rotten", FindingOutcome.MENDED)]
    assert bench.round() == []
    path.unlink()
    assert bench.round() == [(name, None, SEAL, "missing", FindingOutcome.MENDED)]
    (ended,) = bench.report.rounds(1)
    assert (ended.found, ended.mended) == (1, 1)
    assert bench.store.places.shared(bench.one)


def test_after_the_disk_of_blobs_was_replaced_all_is_there_again(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        put(store, DATA)
    shutil.rmtree(tmp_path / "b")
    with open_store(tmp_path) as store:
        bench = Bench(tmp_path, store)
        assert [found[1] for found in bench.round()] == [0, 1, 2, 3, None]
        assert bench.store.places.shared(bench.one)
        assert bench.round() == []
        bench.report.close()


def test_a_manifest_is_not_put_where_blobs_are_missing(tmp_path: Path) -> None:
    blobs = FaultyBlobs(FileBlobs(tmp_path / "b"))
    with open_store(tmp_path, blobs) as store:
        one = put(store, DATA)
        path = blob_file(tmp_path, one, 0).with_name("manifest")
        path.unlink()
        blobs.forgotten = {2}
        found = store.reseal(one)
        assert found is not None
        assert not found.repaired
        assert "1 of 4 blobs" in found.detail
        assert not path.exists()
        blobs.down = True
        assert store.reseal(one) is None


def test_what_belongs_to_nothing_is_named_and_left(bench: Bench) -> None:
    on_volume = bench.root / "v" / "ab" / ("ab" * 32)
    on_volume.parent.mkdir(exist_ok=True)
    on_volume.write_bytes(b"stranger")
    in_blobs = bench.root / "b" / "cd" / "cd" / ("cd" * 32) / "00000000"
    in_blobs.parent.mkdir(parents=True)
    in_blobs.write_bytes(bytes(40))
    upload = bench.store.begin(bytes(32), 10)
    upload.write(b"half")
    upload.close()
    assert bench.round() == [
        ("abababab", None, VOLUME, "orphan", FindingOutcome.NAMED),
        ("cdcdcdcd", None, BLOBS, "orphan", FindingOutcome.NAMED),
    ]
    assert on_volume.exists()
    assert in_blobs.exists()


def test_a_blob_store_that_is_down_holds_up_no_round(tmp_path: Path) -> None:
    """Volumes are looked at; what was not read is counted, and looked at in the next round."""
    blobs = FaultyBlobs(FileBlobs(tmp_path / "b"))
    with open_store(tmp_path, blobs) as store:
        bench = Bench(tmp_path, store)
        name = bench.one.hex()[:8]
        flip(volume_file(tmp_path, bench.one), 3 * BLOB_BYTES)
        blobs.down = True
        for _ in range(2):
            assert bench.round() == [
                *(
                    (name, at, BLOBS, "unread", FindingOutcome.NOT_MENDED)
                    for at in range(SILENT_AFTER)
                ),
                ("", None, BLOBS, "not-looked-at", FindingOutcome.NAMED),
                (name, 3, VOLUME, "rotten", FindingOutcome.NOT_MENDED),
                ("", None, Place.BLOBS, "not-looked-at", FindingOutcome.NAMED),  # for deletions
            ]
            (ended,) = bench.report.rounds(1)
            assert (ended.blobs, ended.bytes_read, ended.not_read) == (4, len(DATA), 4)
        blobs.down = False
        assert bench.round() == [(name, 3, VOLUME, "rotten", FindingOutcome.MENDED)]
        assert bench.report.rounds(1)[0].not_read == 0
        bench.report.close()


@pytest.mark.parametrize("deleted", [False, True])
def test_what_is_being_written_is_come_back_to(bench: Bench, deleted: bool) -> None:  # noqa: FBT001
    bench.store.drop(bench.one, Copy(Place.BLOBS, "files", FSYNC))
    bench.store.want(bench.one, Place.BLOBS)
    ended: list[bool] = []
    unread = [3, 2, 1, 0]

    def scrub_meanwhile() -> bool:
        unread.pop()
        if not unread:  # blobs are read ahead: none of them is to see the flip
            flip(volume_file(bench.root, bench.one), 3 * BLOB_BYTES)
            bench.scrub.begin()
            ended.extend(bench.scrub.step() for _ in range(2))
            flip(volume_file(bench.root, bench.one), 3 * BLOB_BYTES)
        return False

    assert bench.store.fill(bench.one, scrub_meanwhile)
    assert ended == [False, False]
    assert bench.report.query("SELECT blob, outcome FROM findings") == [(3, FindingOutcome.OPEN)]
    if deleted:
        bench.store.delete(bench.one)
    else:
        flip(volume_file(bench.root, bench.one), 3 * BLOB_BYTES)
    mended = [(bench.one.hex()[:8], 3, VOLUME, "rotten", FindingOutcome.MENDED)]
    assert bench.round() == ([] if deleted else mended)


def test_a_volume_that_is_out_is_passed_over_and_said_to_be(bench: Bench) -> None:
    (volume,) = bench.volumes
    (bench.root / "v" / ".wayseal-volume").unlink()
    volume.probe()
    assert not volume.usable
    assert bench.round() == [("", None, VOLUME, "not-looked-at", FindingOutcome.NAMED)]
    (ended,) = bench.report.rounds(1)
    assert ended.blobs == 4


def test_what_is_deleted_or_given_up_is_no_finding(bench: Bench) -> None:
    bench.store.drop(bench.one, Copy(Place.VOLUME, "volume", FSYNC))
    assert bench.round() == []
    bench.store.delete(bench.one)
    assert bench.round() == []
    assert bench.report.rounds(1)[0].recordings == 0
