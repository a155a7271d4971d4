"""A log cut or damaged anywhere reopens with what was whole, or says what is wrong."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.blocks.log import START, BlockLog

shared_path = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)


def recovered(path: Path) -> list[bytes]:
    log = BlockLog.open(path)
    try:
        return [body for _, body in log.recover(START)]
    finally:
        log.close()


def written(path: Path, bodies: list[bytes]) -> list[int]:
    path.unlink(missing_ok=True)
    log = BlockLog.open(path)
    assert list(log.recover(START)) == []
    ends = []
    for body in bodies:
        assert log.read(log.append(body)) == body
        ends.append(log.end)
    log.close()
    return ends


@shared_path
@given(st.lists(st.binary(max_size=200), max_size=5))
def test_bodies_come_back_in_order(tmp_path: Path, bodies: list[bytes]) -> None:
    written(tmp_path / "log", bodies)
    assert recovered(tmp_path / "log") == bodies


def test_a_cut_at_every_byte_of_the_last_record(tmp_path: Path) -> None:
    path = tmp_path / "log"
    first, second = written(path, [b"first", b"second"])
    whole = path.read_bytes()
    for cut in range(first, second):
        path.write_bytes(whole[:cut])
        assert recovered(path) == [b"first"]
        assert path.stat().st_size == first
        log = BlockLog.open(path)
        assert [body for _, body in log.recover(START)] == [b"first"]
        log.append(b"again")
        log.close()
        assert recovered(path) == [b"first", b"again"]


def test_damage_at_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "log"
    first, second = written(path, [b"first", b"second"])
    whole = path.read_bytes()
    for place in range(START, second):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        why = "last record, .* is damaged" if place >= first else "a whole one follows"
        with pytest.raises(RejectedError, match=why):
            recovered(path)
        assert path.read_bytes() == damaged


def test_a_damaged_last_record_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "log"
    first, second = written(path, [b"first", b"second"])
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(RejectedError) as refused:
        recovered(path)
    assert str(refused.value) == (
        f"block log {path}: the last record, {second - first} bytes from byte {first}, is damaged. "
        "A power cut leaves zeros or a shorter file, so its block may have been reported as "
        f"committed. Restore the file from a copy, or give the block up: truncate -s {first} {path}"
    )
    os.truncate(path, first)
    assert recovered(path) == [b"first"]


@shared_path
@given(st.data())
def test_sectors_that_a_power_cut_left_out(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "log"
    # As after compression, no sector of a record holds zeros only.
    before, last = (
        random.Random(size).randbytes(size)
        for size in data.draw(st.tuples(st.integers(1, 2000), st.integers(1, 4000)))
    )
    first, second = written(path, [before, last])
    sectors = sorted({first // 512, *range(first // 512, (second - 1) // 512 + 1)})
    lost = data.draw(st.sets(st.sampled_from(sectors), min_size=1))
    torn = bytearray(path.read_bytes())
    for sector in lost:
        start, end = max(first, sector * 512), min(second, (sector + 1) * 512)
        torn[start:end] = bytes(end - start)
    del torn[data.draw(st.integers(first, second)) :]
    path.write_bytes(torn)
    assert recovered(path) == [before]
    assert path.stat().st_size == first


def test_what_is_recovered_is_synced_before_it_is_handed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    written(path, [b"first"])
    synced: list[int] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        fsync(descriptor)
        synced.append(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", noted)
    log = BlockLog.open(path)
    assert next(log.recover(START)) == (START, b"first")
    assert synced == [path.stat().st_ino, tmp_path.stat().st_ino]
    log.close()


def test_a_record_inside_a_payload_is_none(tmp_path: Path) -> None:
    path = tmp_path / "log"
    written(path, [b"inner"])
    inner = path.read_bytes()[START:]
    (end,) = written(path, [b"x" * 50 + inner])
    path.write_bytes(path.read_bytes()[: end - 1])
    assert recovered(path) == []


def test_reading_a_rotten_record_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log"
    written(path, [b"first"])
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    log = BlockLog.open(path)
    with pytest.raises(UnavailableError, match="damaged"):
        log.read(START)
    log.close()


@pytest.mark.parametrize("content", [b"", b"wayseal chain 2\n" + bytes(16), bytes(100)])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(RejectedError, match="is not a block log"):
        BlockLog.open(tmp_path / "log")
