"""What a truck says of pauses, and of film that was lost."""

import errno
import sqlite3
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.records.reading import Reading
from contracts.records.remark import Remark, RemarkKind
from contracts.runtime.files import disk_errors
from contracts.runtime.sqlite import translated
from device.camera.filming.reel import LeftBehind, Reel
from device.journal.logbook import BufferFullError
from device.live.pause import why_paused
from device.live.remarks import PER_READING, Remarks
from device.live.telling import FILM_LOST_MS, Narrator, film_lost
from support.trucks.telling import START_MS, at, kinds, opened, times


def test_the_first_reason_of_a_pause_is_told_once_it_is_over() -> None:
    times = iter([at(1), at(9)])
    remarks = Remarks(lambda: next(times))
    remarks.pause(RemarkKind.CARD_FULL)
    remarks.begin()
    assert [(each.kind, each.since_ms, each.ended) for each in remarks.take()[0]] == [
        (RemarkKind.CARD_FULL, START_MS + 1000, False),
        (RemarkKind.CARD_FULL, START_MS + 9000, True),
    ]
    remarks.begin()
    assert remarks.take()[0] == []


def failed(error: Exception) -> UnavailableError:
    with pytest.raises(UnavailableError) as caught, translated("journal"):
        raise error
    return caught.value


def full_database(path: Path) -> UnavailableError:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (b BLOB)")
        db.execute("PRAGMA max_page_count = 2")
        with pytest.raises(UnavailableError) as caught, translated("journal"):
            db.execute("INSERT INTO t VALUES (randomblob(100000))")
    db.close()
    return caught.value


def read_only_database(path: Path) -> UnavailableError:
    sqlite3.connect(path).close()
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with pytest.raises(UnavailableError) as caught, translated("journal"):
        db.execute("CREATE TABLE t (b BLOB)")
    db.close()
    return caught.value


def test_why_nothing_is_recorded(tmp_path: Path) -> None:
    assert why_paused(BufferFullError("journal full")) is RemarkKind.CARD_FULL
    assert why_paused(full_database(tmp_path / "a")) is RemarkKind.CARD_FULL
    assert why_paused(read_only_database(tmp_path / "b")) is RemarkKind.CARD_READ_ONLY
    assert why_paused(failed(OSError(errno.EROFS, "read-only"))) is RemarkKind.CARD_READ_ONLY
    with pytest.raises(UnavailableError) as caught, disk_errors("write", tmp_path):
        raise OSError(errno.ENOSPC, "full")
    assert why_paused(caught.value) is RemarkKind.CARD_FULL
    assert why_paused(failed(OSError(errno.EIO, "broken"))) is None
    assert why_paused(UnavailableError("another reason")) is None


def test_a_pause_over_many_tries_is_told_from_its_first_one_and_lost_film_too(
    tmp_path: Path,
) -> None:
    now = [0]
    remarks = Remarks(lambda: at(now[0]))
    reel = Reel(tmp_path, 1, [], lambda _: (0, 0))
    lost = [film_lost(opened(), LeftBehind("dock-000003.mp4", START_MS + 8_000))]
    for began_s, ended_s in ((20, 30), (31, 60), (61, 90)):
        now[0] = began_s
        remarks.pause(RemarkKind.CARD_FULL)
        now[0] = ended_s
        narrator = Narrator(opened(), [], reel, remarks, lost)
        said = narrator.complete(Reading(at(ended_s))).told.remarks
    assert times([each for each in said if each.kind is not RemarkKind.INTERRUPTED]) == [
        (RemarkKind.FILM_LOST, 8_000, False),
        (RemarkKind.CARD_FULL, 20_000, False),
        (RemarkKind.CARD_FULL, 90_000, True),
    ]
    Narrator(opened(readings=10), [], reel, remarks)
    assert remarks.take(11)[0] == []


def test_what_is_owed_is_said_once_by_readings_of_one_commit_and_dropped_after_it() -> None:
    remarks = Remarks(lambda: at(0))
    remarks.begin("trip")
    remarks.owe([Remark(RemarkKind.FILM_LOST, at(n).utc_ms, f"s{n}") for n in range(20)])
    first, second, third = (remarks.take(number)[0] for number in (1, 2, 3))
    assert (len(first), len(second), third) == (PER_READING, 20 - PER_READING, [])
    remarks.told(1)
    remarks.begin("trip", 1)
    assert remarks.take(2)[0] == second
    remarks.told(2)
    remarks.begin("trip", 2)
    assert remarks.take(3)[0] == []


@pytest.mark.parametrize("ends", [True, False])
def test_no_trip_says_what_is_owed_of_another_one(
    remarks: Remarks, caplog: pytest.LogCaptureFixture, *, ends: bool
) -> None:
    remarks.begin("one")
    remarks.owe([Remark(RemarkKind.FILM_LOST, START_MS, "dock-000003.mp4")])
    if ends:
        remarks.end()
    remarks.begin("two")
    assert remarks.take(1)[0] == []
    assert "trip one is sealed, so this is not signed" in caplog.text
    assert "dock-000003.mp4" in caplog.text


@pytest.mark.parametrize(
    ("ended_ms", "since_ms", "amount"),
    [(None, 10_000, FILM_LOST_MS), (8_000, 8_000, FILM_LOST_MS), (1_000, 1_000, 9_000)],
)
def test_how_much_film_is_lost_at_most(ended_ms: int | None, since_ms: int, amount: int) -> None:
    ended = None if ended_ms is None else START_MS + ended_ms
    lost = film_lost(opened(), LeftBehind("dock-000003.mp4", ended))
    assert (lost.since_ms - START_MS, lost.amount) == (since_ms, amount)


def test_film_that_was_lost_is_told_by_whoever_completes_the_next_reading(
    tmp_path: Path, remarks: Remarks
) -> None:
    """An agent that goes on with a trip may arrive before its first reading: the seal is next."""
    trip, reel = opened(), Reel(tmp_path, 1, [], lambda _: (0, 0))
    remarks.pause(RemarkKind.CARD_FULL)
    Narrator(trip, [], reel, remarks, [film_lost(trip, LeftBehind("dock-000003.mp4", None))])
    last = Narrator(trip, [], reel, remarks).last(at(12), in_order=True)
    assert last is not None
    assert kinds(list(last.told.remarks)) == [
        (RemarkKind.CARD_FULL, "", False),
        (RemarkKind.CARD_FULL, "", True),
        (RemarkKind.FILM_LOST, "dock-000003.mp4", False),
    ]
