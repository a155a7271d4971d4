"""Partial uploads belong to their devices: names, quotas, and the way to the recording."""

import hashlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from gateway.uploads.claims import DEVICE_PARTIALS_MAX, Claim, Claims, ConflictError, QuotaError
from gateway.uploads.throttle import BURST_S, DEVICES_MAX, Throttle
from storage.recordings.staging import promote
from storage.recordings.store import RecordingStore
from storage.recordings.writer import DigestError
from support.storage.stores import open_store

DATA = bytes(range(256)) * 20_000
ONE = hashlib.sha256(DATA).digest()
NAME = bytes(32)


@pytest.fixture
def there() -> set[bytes]:
    """Return the uploads that the store still has."""
    return set()


@pytest.fixture
def claims(tmp_path: Path, there: set[bytes]) -> Iterator[Claims]:
    with Claims(tmp_path / "uploads.db", there.__contains__, bytes_max=100) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecordingStore]:
    with open_store(tmp_path) as opened:
        yield opened


def test_the_first_device_has_the_recordings_own_id(claims: Claims) -> None:
    first, second, third = (claims.claim(ONE, f"truck-{each}", 10) for each in (1, 2, 3))
    assert (first.upload, first.is_staged) == (ONE, False)
    assert second.is_staged
    assert len({first.upload, second.upload, third.upload}) == 3
    assert claims.claim(ONE, "truck-1", 10) == first
    assert claims.of(ONE)[0] == first
    claims.forget(first)
    assert claims.find(ONE, "truck-1") is None
    assert claims.find(ONE, "truck-2") == second
    assert claims.claim(ONE, "truck-4", 10).upload == ONE


def test_another_size_is_refused_for_the_announcer_only(claims: Claims) -> None:
    claims.claim(ONE, "truck-1", 10)
    with pytest.raises(ConflictError, match="expected 10, got 11"):
        claims.claim(ONE, "truck-1", 11)
    assert claims.claim(ONE, "truck-2", 11).size == 11


def test_a_device_has_a_number_of_bytes_and_of_uploads(claims: Claims, there: set[bytes]) -> None:
    def begin(number: int, size: int, device_id: str = "truck-2") -> Claim:
        made = claims.claim(number.to_bytes(32), device_id, size)
        there.add(made.upload)
        return made

    begin(0, 90)
    with pytest.raises(QuotaError, match="90 of 100 bytes, 11 more do not fit"):
        begin(1, 11)
    begin(1, 100, "truck-1")
    for number in range(2, DEVICE_PARTIALS_MAX + 1):
        begin(number, 0)
    with pytest.raises(QuotaError, match=f"{DEVICE_PARTIALS_MAX} partial uploads"):
        begin(99, 0)


def test_claims_at_the_same_time_have_one_quota_together(tmp_path: Path) -> None:
    together = threading.Barrier(8)

    def begin(number: int) -> bool:
        together.wait()
        try:
            return bool(opened.claim(number.to_bytes(32), "truck-2", 60))
        except QuotaError:
            return False

    with (
        Claims(tmp_path / "uploads.db", lambda _: True, bytes_max=100) as opened,
        ThreadPoolExecutor(8) as threads,
    ):
        for turn in range(20):
            made = list(threads.map(begin, range(turn * 8, turn * 8 + 8)))
            assert sum(claim.size for claim in opened.all()) <= 100, made


def test_what_age_deleted_does_not_count(claims: Claims) -> None:
    claims.claim(ONE, "truck-1", 90)
    assert claims.claim(NAME, "truck-1", 90).size == 90
    assert [claim.recording for claim in claims.all()] == [NAME]


def test_claims_outlive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "uploads.db"
    with Claims(path, lambda _: True) as claims:
        made = claims.claim(ONE, "truck-1", 10)
    with Claims(path, lambda _: True) as claims:
        assert claims.all() == [made]


@pytest.mark.parametrize("cut", [0, 1, len(DATA) // 2, len(DATA)])
def test_a_checked_upload_becomes_the_recording(store: RecordingStore, cut: int) -> None:
    with store.begin(ONE, len(DATA) + 1) as liar:
        liar.write(b"lies")
        liar.sync()
    with store.begin(NAME, len(DATA), ONE) as writer:
        writer.write(DATA[:cut])
        writer.sync()
    with store.begin(NAME, len(DATA), ONE) as writer:
        assert writer.offset == cut
        writer.write(DATA[cut:])
        writer.check()
    promote(store, NAME, ONE)
    assert store.verify(ONE).holds
    assert list(store.partial()) == []
    assert list(store.recordings()) == [ONE]
    promote(store, NAME, ONE)  # as after a kill


def test_other_bytes_never_become_the_recording(store: RecordingStore) -> None:
    with store.begin(NAME, 4, ONE) as writer:
        writer.write(b"lies")
        with pytest.raises(DigestError) as caught:
            writer.check()
    assert caught.value.expected == ONE
    progress = store.progress(NAME)
    assert progress is not None
    assert progress.offset == 0
    with pytest.raises(RejectedError):
        promote(store, NAME, ONE)
    assert store.manifest(ONE) is None


def test_a_device_waits_for_its_pace_and_no_other_does() -> None:
    throttle = Throttle(1_000)
    assert throttle.delay_s("truck-2", 1_000, 50.0) == 0
    assert throttle.delay_s("truck-2", 1_000, 50.0) == 1.0
    assert throttle.delay_s("truck-1", int(1_000 * BURST_S), 50.0) == 0
    assert throttle.delay_s("truck-2", 500, 60.0) == 0
    for number in range(DEVICES_MAX):
        throttle.delay_s(f"other-{number}", 1, 60.0)
    assert Throttle(0).delay_s("truck-1", 1 << 40, 0.0) == 0
