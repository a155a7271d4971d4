"""Volumes that fill up, vanish, turn read-only or stall under uploads: real file systems."""

import hashlib
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import UnavailableError
from storage.recordings.store import RecordingStore
from storage.recordings.writer import RecordingWriter
from storage.volumes.directory import VolumeDirectory
from storage.volumes.volume import VolumePlace
from storage.volumes.volumes import Volumes
from support.machine.mounts import ext4, frozen, run, run_when_idle, tmpfs
from support.storage.stores import open_store, open_volumes, put, volume_file
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

MAIN, BLOBS = Copy(Place.VOLUME, "main", FSYNC), Copy(Place.BLOBS, "files", FSYNC)
DATA = random.Random(3).randbytes(20 * BLOB_BYTES + 77)
ID = hashlib.sha256(DATA).digest()
BLOCK_BYTES = 4096
HALF = 11 * BLOB_BYTES + 5
IMAGE_BYTES = 128 << 20


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at volumes often, and wait for a stalled one for as long as a test may."""
    monkeypatch.setattr("storage.volumes.volume.PROBE_EVERY_S", 0.05)
    monkeypatch.setattr("storage.volumes.volume.PROBE_LIMIT_S", 2.0)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def opened(stack: ExitStack, root: Path, *, mount: bool = True) -> tuple[RecordingStore, Volumes]:
    """Open a store over the volume `main` in a directory of that name, and no other."""
    volumes = stack.enter_context(
        open_volumes(root, {"main": VolumePlace(root / "main", mount=mount)})
    )
    return stack.enter_context(open_store(root, volumes=volumes)), volumes


def begin(store: RecordingStore) -> None:
    """Send half of the recording and have it synced."""
    with store.begin(ID, len(DATA)) as writer:
        writer.write(DATA[writer.offset : HALF])
        writer.sync()


def went_on(store: RecordingStore) -> tuple[Copy, ...]:
    """Send the rest; return the copies."""
    with store.begin(ID, len(DATA)) as writer:
        assert writer.offset > 0
        writer.write(DATA[writer.offset :])
        return writer.finish().copies


def is_out(volumes: Volumes, word: str) -> bool:
    (main,) = volumes
    return word in main.reason


def comes_back(store: RecordingStore, volumes: Volumes) -> None:
    """Wait for the volume, and have the copy made that it lacks."""
    (main,) = volumes
    until("the volume", lambda: main.usable)
    assert store.fill(ID)
    store.tidy()
    assert b"".join(store.read(ID)) == DATA
    report = store.verify(ID)
    assert report.holds
    assert {copy.copy for copy in report.copies} == {"volume:main", "blobs:files"}


def test_an_unmounted_volume_is_out_and_uploads_go_on(tmp_path: Path, stack: ExitStack) -> None:
    stack.enter_context(ext4(tmp_path / "main", IMAGE_BYTES))
    store, volumes = opened(stack, tmp_path)
    begin(store)
    run_when_idle("umount", tmp_path / "main")
    until("its end", lambda: is_out(volumes, "nothing is mounted"))
    assert went_on(store) == (BLOBS,)
    assert list((tmp_path / "main").iterdir()) == [], "nothing was written into the mount point"
    run("mount", "-o", "loop", tmp_path / "main.img", tmp_path / "main")
    comes_back(store, volumes)


def test_a_mount_that_goes_between_two_looks_is_noticed_by_the_next_write(
    tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.volumes.volume.PROBE_EVERY_S", 3600.0)
    stack.enter_context(ext4(tmp_path / "main", IMAGE_BYTES))
    store, volumes = opened(stack, tmp_path, mount=False)
    run_when_idle("umount", tmp_path / "main")
    assert put(store, DATA) == ID
    assert is_out(volumes, "leads to another file system than before")
    manifest = store.manifest(ID)
    assert manifest is not None
    assert manifest.copies == (BLOBS,)
    assert list((tmp_path / "main").iterdir()) == []


def test_another_file_system_in_its_place_is_not_the_volume(
    tmp_path: Path, stack: ExitStack
) -> None:
    stack.enter_context(ext4(tmp_path / "main", IMAGE_BYTES))
    store, volumes = opened(stack, tmp_path)
    put(store, DATA)
    run_when_idle("umount", tmp_path / "main")
    run("mount", "-t", "tmpfs", "-o", "size=64m", "none", tmp_path / "main")
    until("its end", lambda: is_out(volumes, "its marker"))
    assert list((tmp_path / "main").iterdir()) == []
    run_when_idle("umount", tmp_path / "main")
    run("mount", "-o", "loop", tmp_path / "main.img", tmp_path / "main")
    comes_back(store, volumes)


def test_a_volume_that_turns_read_only_is_out_until_it_is_not(
    tmp_path: Path, stack: ExitStack
) -> None:
    stack.enter_context(ext4(tmp_path / "main", IMAGE_BYTES))
    store, volumes = opened(stack, tmp_path)
    begin(store)
    run_when_idle("mount", "-o", "remount,ro", tmp_path / "main")
    until("its end", lambda: is_out(volumes, "Read-only file system"))
    assert went_on(store) == (BLOBS,)
    run_when_idle("mount", "-o", "remount,rw", tmp_path / "main")
    comes_back(store, volumes)


def test_a_volume_that_stalls_ends_the_request_in_time_and_uploads_go_on(
    tmp_path: Path, stack: ExitStack
) -> None:
    stack.enter_context(ext4(tmp_path / "main", IMAGE_BYTES))
    store, volumes = opened(stack, tmp_path)
    with store.begin(ID, len(DATA)) as writer:
        writer.write(DATA[:HALF])
        writer.sync()
        with frozen(tmp_path / "main"):
            with pytest.raises(UnavailableError, match="it stalls: no answer to a probe"):
                _write_on(writer)
            assert is_out(volumes, "it stalls")
            writer.close()
            assert went_on(store) == (BLOBS,)
            assert b"".join(store.read(ID)) == DATA
    comes_back(store, volumes)


def _write_on(writer: RecordingWriter) -> None:
    """Write the rest, piece by piece: what is frozen may take a little first."""
    for start in range(HALF, len(DATA), BLOB_BYTES):
        writer.write(DATA[start : start + BLOB_BYTES])


def test_a_full_volume_refuses_at_once_and_is_not_out(tmp_path: Path, stack: ExitStack) -> None:
    stack.enter_context(tmpfs(tmp_path / "main", "16m"))
    store, volumes = opened(stack, tmp_path)
    with pytest.raises(UnavailableError, match=r"\d+ bytes do not fit, \d+ are free; \d+ lack"):
        store.begin(ID, len(DATA))
    (main,) = volumes
    assert main.usable
    assert main.call(lambda directory: list(directory.parts())) == []
    assert main.call(VolumeDirectory.used_bytes) == 0
    small = DATA[: 3 * BLOB_BYTES]
    recording_id = put(store, small)
    assert volume_file(tmp_path, recording_id, "main").read_bytes() == small


def test_a_reservation_comes_back_with_its_upload(tmp_path: Path, stack: ExitStack) -> None:
    stack.enter_context(tmpfs(tmp_path / "main", "32m"))
    store, volumes = opened(stack, tmp_path)
    begin(store)
    (main,) = volumes
    free = main.call(VolumeDirectory.free_bytes)
    assert free < 32 * BLOB_BYTES - len(DATA)
    with pytest.raises(UnavailableError, match=r"bytes do not fit, \d+ are free; \d+ lack"):
        store.begin(bytes(32), len(DATA))
    store.delete(ID)
    back = len(DATA) // BLOCK_BYTES * BLOCK_BYTES  # a probe may have one block just then
    assert main.call(VolumeDirectory.free_bytes) - free >= back
    store.begin(bytes(32), len(DATA)).close()


def test_a_stalled_volume_at_the_start_holds_nothing_up_for_long(
    tmp_path: Path, stack: ExitStack
) -> None:
    stack.enter_context(ext4(tmp_path / "main", IMAGE_BYTES))
    with ExitStack() as first:
        store, _ = opened(first, tmp_path)
        put(store, DATA)
    with frozen(tmp_path / "main"), ExitStack() as second:
        begun_s = time.monotonic()
        store, volumes = opened(second, tmp_path)
        assert time.monotonic() - begun_s < 30
        until("its end", lambda: not volumes.usable())
        assert b"".join(store.read(ID)) == DATA
