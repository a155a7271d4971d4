"""Uploads that are killed, and a full disk, with real processes and a real file system."""

import hashlib
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import Place
from contracts.errors import UnavailableError
from storage.recordings.writer import RecordingWriter
from storage.volumes.directory import VolumeDirectory
from support.machine.mounts import run, tmpfs
from support.storage.stores import open_store
from support.storage.victim import TESTS_ON_THE_PATH, VICTIM

pytestmark = pytest.mark.integration

SIZE = 24 * BLOB_BYTES + 12_345
KILLS = 8


def write_rest(writer: RecordingWriter, data: bytes) -> None:
    writer.write(data[writer.offset :])
    writer.finish()


def test_a_writer_killed_again_and_again_ends_in_the_same_recording(tmp_path: Path) -> None:
    chance = random.Random(7)
    data = chance.randbytes(SIZE)
    source, root = tmp_path / "video", tmp_path / "store"
    source.write_bytes(data)
    recording_id = hashlib.sha256(data).digest()
    command = [*VICTIM, "write", str(root), str(source), recording_id.hex()]
    synced = 0
    for kill in range(KILLS + 1):
        lines_left = chance.randrange(1, 30) if kill < KILLS else None
        with subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, text=True, env=TESTS_ON_THE_PATH
        ) as writer:
            assert writer.stdout is not None
            for line in writer.stdout:
                word, _, number = line.strip().partition(" ")
                if word == "at":
                    assert synced <= int(number) <= SIZE
                if word == "synced":
                    synced = int(number)
                if lines_left is not None:
                    lines_left -= 1
                    if lines_left == 0:
                        writer.kill()
                        break
    with open_store(root) as store:
        assert b"".join(store.read(recording_id)) == data
        assert store.verify(recording_id).holds
        assert list(store.partial()) == []
    assert list((root / "b" / "tmp").iterdir()) == []
    assert list((root / "v" / "parts").iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MiB."""
    with tmpfs(tmp_path / "disk", "8m") as disk:
        yield disk


def test_a_full_disk_refuses_keeps_and_goes_on(small_disk: Path) -> None:
    chance = random.Random(8)
    ballast = small_disk / "ballast"
    first, second = chance.randbytes(BLOB_BYTES), chance.randbytes(2 * BLOB_BYTES + 5)
    with open_store(small_disk) as store:
        first_id, second_id = (hashlib.sha256(data).digest() for data in (first, second))
        with store.begin(first_id, len(first)) as writer:
            writer.write(first)
            writer.finish()
        ballast.write_bytes(bytes(3 * BLOB_BYTES))
        with store.begin(second_id, len(second)) as writer:  # 3 MiB free, both copies need 4
            write_rest(writer, second)
        assert [each.lacks for each in store.backlog()] == [(Place.BLOBS,)]
        assert b"".join(store.read(first_id)) == first
        with pytest.raises(UnavailableError, match=r"6291456 bytes do not fit, .* lack"):
            store.begin(bytes(32), 6 * BLOB_BYTES)
        with pytest.raises(UnavailableError, match=r"cannot write .*\(ENOSPC\)"):
            store.fill(second_id)
        ballast.unlink()
        assert store.fill(second_id)
        assert list(store.backlog()) == []
        assert b"".join(store.read(second_id)) == second
        assert store.verify(first_id).holds
        assert store.verify(second_id).holds


def test_a_part_that_has_its_room_ends_on_a_disk_that_took_the_rest(small_disk: Path) -> None:
    data = random.Random(9).randbytes(BLOB_BYTES + 7)
    recording_id = hashlib.sha256(data).digest()
    directory = VolumeDirectory(small_disk / "volume")
    directory.prepare()
    with directory.part(recording_id, len(data), 0) as part:
        state = os.statvfs(small_disk)
        no_more_files = f"remount,nr_inodes={state.f_files - state.f_ffree}"
        run("mount", "-o", no_more_files, small_disk)
        with pytest.raises(OSError, match="No space left"):
            (small_disk / "more").mkdir()
        part.append(data)
        part.sync()
        part.publish()
    assert directory.read(recording_id, 0, len(data)) == data
