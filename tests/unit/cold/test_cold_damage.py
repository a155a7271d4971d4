"""A cold file that is missing, damaged or another one is named, and nothing else stands still."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UnavailableError
from contracts.runtime.connection import Connection
from gateway.index import asking, cooling, returning
from gateway.index.coldcheck import check_file, states
from gateway.index.coldfile import ColdError, ColdHead, ColdTrip, head_of, opened, put_trip
from gateway.index.coldfolder import ColdFiles
from gateway.index.cooling import ColdKeeper, Cooling
from gateway.index.moving import Mover
from gateway.index.readings import insert_readings
from gateway.index.remaking import remake
from gateway.index.schema import VERSION
from gateway.index.store import IndexStore
from gateway.records.records import Records
from storage.checked.damage import DamageNotes
from support.gateways.coldtrips import READINGS, ColdTrips, client_of, cold_trips, of_day
from support.gateways.histories import DAY_S, Told, add, begun, run

PAGE = 4096


CACHE_BYTES = 2 << 20
"""Of a connection, by default."""


def overwrite(file: Path, page: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(page * PAGE + 1000)
        opened.write(b"\xff" * 64)


def each_page(file: Path) -> None:
    for page in range(1, file.stat().st_size // PAGE):
        overwrite(file, page)


def of_another_index(file: Path) -> None:
    """Put the file of the same number of another index there."""
    folder = file.parents[2] / "another"
    folder.mkdir()
    with cold_trips(folder) as other:
        other.move()
        shutil.copy(other.file, file)


def older(file: Path) -> None:
    """Put a file of the same index there that has fewer trips, as an old backup would."""
    files = ColdFiles(file.parent.parent)
    store = IndexStore(file.parent.parent.parent / "index.db")
    with closing(store), store.connection() as db:
        files.replace(head_of(db, 1), lambda _: None)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, "is missing"),
    "empty": (lambda file: file.write_bytes(b""), "its first page is damaged"),
    "cut": (lambda file: os.truncate(file, file.stat().st_size - PAGE), "expected .* bytes, got"),
    "first page": (lambda file: overwrite(file, 0), "is damaged"),
    "a page": (each_page, "is damaged"),
    "another": (of_another_index, "is not of this index"),
    "older": (older, "expected 30 readings with SHA-256 .*, got none"),
    "garbage": (lambda file: file.write_bytes(b"x" * 9999), "its first page is damaged"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_cold_file_that_does_not_answer_is_named_with_fault_and_remedy(
    made: ColdTrips, fault: str
) -> None:
    before = made.pages()
    assert [len(each) for each in before] == [READINGS] * 3
    assert "moved 2 trips with 60 readings into 1 cold files" in made.move()
    assert made.pages() == before
    file = made.file
    harm, words = FAULTS[fault]
    harm(file)
    trips = Records(made.index).trips
    for ask in (
        lambda: made.page(0),
        lambda: trips.bucketed(made.trips[0], 3),
        lambda: trips.bucketed(made.trips[0], 1000),
    ):
        with pytest.raises(UnavailableError, match=words) as raised:
            ask()
        said = str(raised.value)
        assert str(file) in said
        assert f"the readings of trip {made.trips[0]} are not whole" in said
        assert "put it back as it was, or run wayseal-gateway reindex" in said
    assert made.page(2) == before[2]  # what lies in the index answers
    assert [each.readings for _, each in trips.listed(0, 10)] == [READINGS] * 3
    of_day(made.ledger, 101)
    made.take_in()  # and intake goes on
    assert made.index.rebuild is None
    with pytest.raises(ColdError, match=words):
        check_file(made.index, 1, lambda: True)
    (state,) = states(made.index)
    assert state.fault
    with closing(client_of(made)) as client:
        remade = remake(made.index, client, made.trips[1], lambda _: None)
    assert (remade.kept + remade.fetched, remade.file) == (2, str(file))
    assert made.pages() == before
    check_file(made.index, 1, lambda: True)


def test_a_file_larger_than_its_writers_cache_has_checksums_in_each_page(tmp_path: Path) -> None:
    files, head = ColdFiles(tmp_path / "cold"), ColdHead(VERSION, "0" * 16, 1, "genesis")
    row = (0, 0, 0, None, 0, 1 << 40, 1 << 40, *[None] * 7, 0, 0)
    rows = [(trip, at, *row) for trip in range(3) for at in range(20_000)]
    path = files.write(head, lambda db: insert_readings(db, rows))
    assert path.stat().st_size > CACHE_BYTES
    with opened(path, head) as db:
        assert db.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]
    overwrite(path, path.stat().st_size // PAGE - 3)
    with pytest.raises(ColdError, match="is damaged"), opened(path, head) as db:
        db.execute("SELECT sum(utc_ms) FROM kept_readings").fetchall()


def test_a_damaged_index_is_not_taken_for_a_damaged_cold_file(made: ColdTrips) -> None:
    made.move()
    made.index.settle()
    path = made.index.offered.with_name("index.db")
    made.index.close()
    for page in range(2, path.stat().st_size // PAGE):
        overwrite(path, page)
    with pytest.raises(UnavailableError, match="the index is damaged and is made again"):
        made.page(0)
    assert made.index.rebuild is not None


def test_a_disk_that_fails_is_named_and_is_the_fault_of_its_files(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.move()
    folder, file = made.index.cold.folder, made.file
    work = {name: getattr(Path, name) for name in ("is_dir", "open", "stat", "exists")}

    def failing(name: str) -> Callable[..., object]:
        def fail(path: Path, *given: object, **named: object) -> object:
            if path.is_relative_to(folder):
                raise OSError(errno.EIO, "Input/output error")
            return work[name](path, *given, **named)

        return fail

    for name in work:
        monkeypatch.setattr(Path, name, failing(name))
    head = ColdHead(VERSION, "0" * 16, 1, "")
    for act in (
        made.move,
        lambda: made.page(0),
        lambda: made.index.cold.write(head, lambda _: None),
        lambda: made.index.cold.replace(head, lambda _: None),
    ):
        with pytest.raises(UnavailableError, match="Input/output error"):
            act()
    (state,) = states(made.index)
    assert (state.size, state.path) == (0, file)
    assert "cannot be read: Input/output error" in state.fault


def test_a_full_disk_at_a_fork_is_not_taken_for_a_damaged_cold_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = begun(), Told()
    run(first, 0, "A", "truck-1", 0, 3)
    run(second, 1, "A", "truck-1", 3, 3)
    second.rows["trip_entries"] = [("A", b"", 6000, 1)]

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with closing(IndexStore(tmp_path / "index.db")) as index:
        for number, (told, day) in enumerate(((first, 0), (second, 0), (Told(), 31))):
            add(index, number, told, day * DAY_S)
        assert Mover(index, 30).run().readings == 6
        trips = Records(index).trips
        before = trips.readings("A", 0, 10)
        with monkeypatch.context() as patched:
            patched.setattr(returning, "insert_readings", full)
            with pytest.raises(UnavailableError, match=r"index.*full"):
                index.cut(0)
        assert index.rebuild is None
        assert trips.readings("A", 0, 10) == before
        index.cut(0)
        assert trips.readings("A", 0, 10) == before[:3]


def test_a_file_that_goes_during_a_check_is_not_missing_but_a_bad_one_is_noted(
    made: ColdTrips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.move()
    damage = DamageNotes()
    keeper = ColdKeeper(made.index, Cooling(made.index.cold, 30), tmp_path, damage=damage)
    keeper.bad = {1: "read it again"}
    made.file.write_bytes(b"")
    keeper.check()
    (noted,) = damage.told()
    assert noted == keeper.bad[1]
    assert "is damaged" in noted

    def gone(*_: object) -> None:
        made.index.query("DELETE FROM cold_trips")
        raise ColdError("missing")

    monkeypatch.setattr(cooling, "check_file", gone)
    keeper.check()
    assert keeper.bad == {}


def test_readings_that_are_others_than_those_that_were_moved_are_found(made: ColdTrips) -> None:
    """Each page is sound, and the list of trips is as it was."""
    before = made.pages()
    made.move()
    with made.index.connection() as db:
        head = head_of(db, 1)
    with opened(made.file, head) as old:
        trips = [ColdTrip(*row) for row in old.execute("SELECT * FROM trips").fetchall()]
        rows = old.execute("SELECT * FROM kept_readings").fetchall()

    def fill(db: Connection) -> None:
        insert_readings(db, rows)
        db.execute("UPDATE kept_readings SET utc_ms = utc_ms + 1 WHERE position = 1")
        for each in trips:
            put_trip(db, each)

    made.index.cold.replace(head, fill)
    with pytest.raises(ColdError, match=r"the readings of trip number \d+ are others"):
        check_file(made.index, 1, lambda: True)
    with closing(client_of(made)) as client:
        remade = remake(made.index, client, made.trips[0], lambda _: None)
    assert (remade.kept, remade.fetched) == (1, 1)
    assert made.pages() == before


def test_a_file_that_went_with_the_index_before_is_no_fault(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question is asked once more, of the index that came in its place."""
    before = made.pages()
    made.move()
    file, ask, asked = made.file, asking.ask, []

    def taken(*given: Any, **named: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - as `ask` takes
        asked.append(given)
        if len(asked) > 1:
            return ask(*given, **named)
        away = file.rename(file.with_suffix(".away"))
        try:
            return ask(*given, **named)
        finally:
            away.rename(file)

    monkeypatch.setattr(asking, "ask", taken)
    assert made.page(0) == before[0]
    assert len(asked) > 1
