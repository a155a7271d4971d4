"""A cold file that is missing, damaged or another one is named, and nothing else stands still."""

import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.connection import Connection
from gateway.commands import reindex
from gateway.index import coldfile, cooling, flipping, moving, returning
from gateway.index.coldcheck import check_file, states
from gateway.index.coldfile import ColdError, ColdHead, ColdTrip, head_of, opened
from gateway.index.coldfolder import ColdFiles
from gateway.index.cooling import FAILED, MOVE_EVERY_S, NOW, TRY_AGAIN_S, ColdKeeper, Cooling
from gateway.index.moving import Mover, generation_of
from gateway.index.readings import insert_readings
from gateway.index.remaking import remake
from gateway.index.schema import VERSION
from gateway.index.store import IndexStore
from gateway.intake.inbox import Inbox
from gateway.records.records import Records
from gateway.settings import Settings
from storage.checked.damage import DamageNotes
from support.gateways.coldtrips import READINGS, ColdTrips, client_of, cold_trips, of_day
from support.gateways.histories import DAY_S, Told, add, begun, run

PAGE = 4096
CACHE_BYTES = 2 << 20
"""Of a connection, by default."""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[ColdTrips]:
    with cold_trips(tmp_path) as found:
        yield found


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
        assert "put it back as it was, or type wayseal-gateway reindex" in said
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


def test_what_is_whole_in_a_file_is_not_fetched_again(made: ColdTrips) -> None:
    before = made.pages()
    made.move()
    with closing(client_of(made)) as client:
        assert remake(made.index, client, made.trips[0], lambda _: None).fetched == 0
    with pytest.raises(RejectedError, match="all its readings lie in the index"):
        remake(made.index, client, made.trips[2], lambda _: None)
    with pytest.raises(RejectedError, match="has no readings of it"):
        remake(made.index, client, "unknown", lambda _: None)
    assert made.pages() == before


def test_the_command_makes_the_file_of_a_trip_again_beside_the_gateway(
    made: ColdTrips,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)  # of this process, which goes on
    Inbox(tmp_path / "inbox.db", bytes_max=1 << 20, quarantine_bytes_max=1 << 20).close()
    ledger = {"url": made.ledger.url}
    settings = Settings(data=tmp_path, site_id="site-b", ledger=ledger)
    before = made.pages()
    made.move()
    made.file.unlink()
    reindex.run(Namespace(trip=made.trips[0]), settings)
    told = json.loads(capsys.readouterr().out)
    assert (told["trips_kept"], told["trips_fetched"], told["blocks"]) == (0, 2, 2)
    assert made.pages() == before
    left = made.index.cold.of("f" * 16)  # by a build that was killed
    left.mkdir()
    (left / "000001.db").touch()
    reindex.run(Namespace(trip=None), settings)
    assert json.loads(capsys.readouterr().out)["taken"] is False
    assert not left.exists()
    assert made.pages() == before


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


def test_a_pass_says_why_trips_stay(made: ColdTrips) -> None:
    def stopped(*_: object) -> int:
        raise UnavailableError("stopped")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moving, "flip_some", stopped)
        with pytest.raises(UnavailableError, match="stopped"):
            made.move()
    said = made.move()
    assert "moved 2 trips with 60 readings into a cold file that was there" in said
    assert "1 stay in the index: 1 are too young" in said
    assert made.move().startswith("no trip was moved, in 0 s; 1 stay in the index")
    made.index.cut(0)
    made.index.query("DELETE FROM block_times")
    assert "the ledger records no times" in made.move()


def test_passes_are_made_daily_on_demand_and_for_another_index(
    made: ColdTrips, tmp_path: Path
) -> None:
    now_s = [0.0]
    keeper = ColdKeeper(made.index, Cooling(made.index.cold, 30), tmp_path, lambda: now_s[0])
    passes = []
    for after_s, asks in ((0.0, False), (1.0, False), (1.0, True), (MOVE_EVERY_S, False)):
        now_s[0] += after_s
        if asks:
            (tmp_path / NOW).touch()
        keeper.last = None
        keeper.step()
        passes.append(keeper.last is not None)
    assert passes == [True, False, True, True]
    assert not (tmp_path / NOW).exists()
    before = made.file
    with closing(IndexStore(made.index.offered, cold=made.index.cold)) as fresh:
        fresh.settle()
    assert made.index.go_on_with(made.index.offered)
    keeper.step()
    assert not before.exists()


def test_a_folder_that_went_away_is_not_filled_again(made: ColdTrips) -> None:
    """A disk that is not mounted: its mount point is on another disk, and would fill that."""
    made.move()
    folder = made.file.parent
    folder.rename(folder.with_name("away"))
    with pytest.raises(UnavailableError, match=r"expected cold files in .*mount its disk"):
        made.move()
    assert not folder.exists()


def test_an_index_that_is_taken_between_two_flips_is_left_alone(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = made.index.offered
    with made.index.connection() as db:
        db.execute("VACUUM INTO ?", (str(fresh),))
    with closing(IndexStore(fresh, cold=made.index.cold)) as other:
        other.query("UPDATE cold_home SET generation = ?", "f" * 16)
        other.settle()
    before = made.pages()
    monkeypatch.setattr(flipping, "FLIPPED_AT_ONCE", 4)

    def rest(_: float) -> None:
        if fresh.exists() and made.index.query("SELECT 1 FROM cold_trips"):
            assert made.index.go_on_with(fresh)

    Mover(made.index, 30, rest).run()
    assert generation_of(made.index) == "f" * 16
    assert made.index.query("SELECT * FROM cold_trips") == []
    assert made.pages() == before


@pytest.mark.parametrize("fault", ["none", "missing"])
def test_a_file_that_is_made_again_during_a_flip_keeps_what_is_not_flipped_yet(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    before = made.pages()
    remade: list[int] = []

    def between(db: Connection, head: ColdHead, trip: ColdTrip) -> int:
        flipped = flipping.flip_some(db, head, trip)
        if not flipped and not remade:
            db.execute("COMMIT")
            if fault == "missing":
                made.file.unlink()
            with closing(client_of(made)) as client:
                remade.append(remake(made.index, client, made.trips[0], lambda _: None).fetched)
            db.execute("BEGIN")
        return flipped

    monkeypatch.setattr(moving, "flip_some", between)
    made.move()
    assert remade == [int(fault == "missing")]
    assert made.pages() == before
    monkeypatch.undo()
    made.move()
    assert made.pages() == before
    assert made.index.query("SELECT count(*) FROM cold_trips") == [(2,)]


def test_an_empty_mount_point_is_not_filled_once_the_index_was_made_again(
    made: ColdTrips, tmp_path: Path
) -> None:
    mount, memory = tmp_path / "mount", tmp_path / "volume-ids" / "cold"
    mount.mkdir()
    files = ColdFiles(mount / "site", memory)
    made.index.cold = files
    made.move()
    file = made.file
    away = files.folder.rename(tmp_path / "away")
    with pytest.raises(UnavailableError, match="is missing: mount its disk, put it back"):
        made.page(0)
    with closing(IndexStore(made.index.offered, cold=files)) as fresh:
        fresh.settle()
    made.index.go_on_with(made.index.offered)
    made.take_in()
    for trip_id in made.trips:
        made.index.add({"trip_entries": [(trip_id, b"", 1, 1)]})
    for act in (
        made.move,
        lambda: files.write(ColdHead(VERSION, "0" * 16, 1, ""), lambda _: None),
        lambda: files.remove_others("0" * 16),
    ):
        with pytest.raises(UnavailableError, match="mount its disk"):
            act()
    assert list(mount.iterdir()) == []
    away.rename(files.folder)
    assert "moved 2 trips" in made.move()
    assert file.exists()


def test_a_gateway_leaves_the_cold_files_of_another_one_alone(tmp_path: Path) -> None:
    """Both are of one site, and have the same `index.cold` by a wrong setting."""
    ours, theirs = (
        ColdFiles(tmp_path / "site", tmp_path / each / "volume-ids" / "cold")
        for each in ("ours", "theirs")
    )
    head = ColdHead(VERSION, "0" * 16, 1, "genesis")
    file = ours.write(head, lambda _: None)
    assert theirs.remove_others("1" * 16) == 0
    with pytest.raises(UnavailableError, match="belongs to gateway"):
        theirs.write(head._replace(generation="1" * 16), lambda _: None)
    assert (file.exists(), ours.remove_others("0" * 16)) == (True, 0)
    assert [each.name for each in (tmp_path / "site").iterdir() if each.is_dir()] == ["0" * 16]


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


def test_a_failure_that_goes_on_is_raised_until_a_pass_works(
    made: ColdTrips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [0.0]
    keeper = ColdKeeper(made.index, Cooling(made.index.cold, 30), tmp_path, lambda: now_s[0])
    with monkeypatch.context() as full:
        full.setattr(moving, "FREE_BYTES_MIN", 1 << 60)
        for _ in range(3):
            with pytest.raises(UnavailableError, match="bytes of free room"):
                keeper.step()
            now_s[0] += 2.0
    assert "bytes of free room" in (tmp_path / FAILED).read_text()
    now_s[0] += TRY_AGAIN_S
    keeper.step()
    assert (keeper.failure, (tmp_path / FAILED).exists()) == ("", False)


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


def test_a_disk_without_room_keeps_the_trips_in_the_index(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made.pages()
    monkeypatch.setattr(moving, "FREE_BYTES_MIN", 1 << 60)
    with pytest.raises(UnavailableError, match="bytes of free room"):
        made.move()
    assert made.pages() == before
    assert not list(made.index.cold.folder.glob("*/*"))


KILLED = """
import os, signal, sys
from pathlib import Path
from gateway.index import coldfile, flipping, moving
from gateway.index.store import IndexStore
flipping.FLIPPED_AT_ONCE = coldfile.ROWS_AT_ONCE = 4
left = int(sys.argv[2])

def step(*_):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

def stepping(function):
    def run(*given, **named):
        step()
        found = function(*given, **named)
        step()
        return found
    return run

os.fsync, Path.rename = stepping(os.fsync), stepping(Path.rename)
coldfile.insert_readings = stepping(coldfile.insert_readings)
moving.flip_some = stepping(moving.flip_some)
moving.Mover(IndexStore(Path(sys.argv[1])), 30, step).run()
print(left)
"""


@pytest.mark.parametrize(
    "every",
    [
        pytest.param(23, id="some"),
        pytest.param(1, id="all", marks=(pytest.mark.long, pytest.mark.timeout(3600))),
    ],
)
def test_a_kill_at_any_step_loses_nothing_and_leaves_nothing(tmp_path: Path, every: int) -> None:
    """At each write, sync, rename and transaction, before and after it."""
    with cold_trips(tmp_path) as whole:
        before = whole.pages()
        whole.index.settle()
        whole.index.close()
        for at in range(2, 1000, every):
            folder = tmp_path / str(at)
            folder.mkdir()
            shutil.copy(tmp_path / "index.db", folder)
            path = folder / "index.db"
            command = [sys.executable, "-c", KILLED, str(path), str(at)]
            ended = subprocess.run(command, capture_output=True, check=False, text=True)  # noqa: S603
            with closing(IndexStore(path)) as index:
                made = ColdTrips(index, whole.ledger, whole.trips)
                assert index.rebuild is None
                assert made.pages() == before
                Mover(index, 30).run()
                assert made.pages() == before
                index.cold.remove_others(generation_of(index))
                assert index.query("SELECT count(*) FROM kept_readings") == [(READINGS,)]
                files = [each.name for each in index.cold.folder.glob("*/*")]
                assert len(files) == 1, files
                check_file(index, int(files[0][:6]), lambda: True)
            if ended.returncode != -signal.SIGKILL:
                assert ended.returncode == 0, ended.stderr
                break
        assert ended.returncode == 0


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


def test_a_full_disk_is_not_taken_for_damage_of_the_file_that_is_made_again(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.move()
    before, pages = made.file.read_bytes(), made.pages()

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(coldfile, "insert_readings", full)
    with (
        closing(client_of(made)) as client,
        pytest.raises(UnavailableError, match="disk is full"),
    ):
        remake(made.index, client, made.trips[0], lambda _: None)
    assert (made.file.read_bytes(), made.pages()) == (before, pages)
