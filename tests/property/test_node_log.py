"""A log cut or damaged anywhere reopens with what was whole, or says what is wrong."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.errors import RejectedError, UnavailableError
from contracts.node.store.log import START, BlockLog

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
        if place >= first:
            assert recovered(path) == [b"first"]
        else:
            with pytest.raises(RejectedError, match="a whole one follows"):
                recovered(path)
            assert path.read_bytes() == damaged


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
    with pytest.raises(RejectedError, match="is no block log"):
        BlockLog.open(tmp_path / "log")
