"""Databases with a checksum in each page: one rotten page hurts its own rows, and is named."""

import gc
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.runtime.connection import Synchronous
from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import VersionedDatabase, transaction
from storage.checked import connection
from storage.checked.connection import connect_checked, has_checksums, pages_read
from storage.checked.damage import DamageNotes
from storage.checked.kept import open_kept
from storage.checked.salvage import Proofs, Row
from storage.checked.wal import damage_in_wal

ROWS = 400
SQL = "PRAGMA journal_mode = DELETE"
SCHEMA = Schema(
    "visits",
    (
        """CREATE TABLE visits (number INTEGER PRIMARY KEY, what TEXT NOT NULL);
        CREATE INDEX visits_by_what ON visits (what);
        CREATE TABLE places (name TEXT PRIMARY KEY, at REAL) WITHOUT ROWID;
        CREATE TABLE clock (only INTEGER PRIMARY KEY, elapsed_s REAL NOT NULL);
        INSERT INTO clock VALUES (0, 0);""",
    ),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "visits.db"


@pytest.fixture
def filled(path: Path) -> Path:
    with open_kept(path, SCHEMA) as database, database.transaction() as db:
        db.executemany("INSERT INTO visits VALUES (?, ?)", map(visit, range(ROWS)))
        db.executemany(
            "INSERT INTO places VALUES (?, ?)", ((f"place {at:04}", at) for at in range(ROWS))
        )
    return path


def visit(number: int) -> Row:
    return number, f"visit {number} {'x' * 60}"


def page_of(path: Path, text: str) -> int:
    """Return where a page begins that has a text in one of its cells."""
    return path.read_bytes().rindex(text.encode()) // 4096 * 4096


def flip(path: Path, place: int, bit: int = 1) -> None:
    wire = bytearray(path.read_bytes())
    wire[place] ^= bit
    path.write_bytes(wire)


def in_words(database: VersionedDatabase) -> Iterator[Row]:
    yield from database.query("SELECT * FROM visits ORDER BY number")


def test_a_rotten_page_loses_its_own_rows_and_names_them(filled: Path) -> None:
    damage = DamageNotes()
    with open_kept(filled, SCHEMA, damage) as database:
        flip(filled, page_of(filled, "visit 200 ") + 3000)
        database.check()
        left = list(in_words(database))
        assert ROWS - 80 < len(left) < ROWS
        assert set(left) < set(map(visit, range(ROWS)))
        assert len(database.query("SELECT * FROM places")) == ROWS
        assert database.query("PRAGMA integrity_check") == [("ok",)]
    (told,) = damage.told()
    assert f"{ROWS - len(left)} of visits are lost" in told
    assert filled.with_name("visits.db.damaged").exists()


def test_a_row_that_proves_itself_is_kept(filled: Path) -> None:
    def prove(row: Row) -> Row:
        assert row == visit(row[0])
        return row

    place = filled.read_bytes().rindex(b"visit 200 ")
    flip(filled, place)
    damage = DamageNotes()
    with open_kept(filled, SCHEMA, damage, Proofs({"visits": prove})) as database:
        database.check()
        assert list(in_words(database)) == [visit(at) for at in range(ROWS) if at != 200]
    (told,) = damage.told()
    assert "1 of visits are lost: 200" in told


def test_a_reader_gets_its_answer_and_a_writer_may_try_again(filled: Path) -> None:
    flip(filled, page_of(filled, "visit 200 ") + 3000)
    with open_kept(filled, SCHEMA) as database:
        assert len(list(in_words(database))) > ROWS - 80
    flip(filled, page_of(filled, "visit 300 ") + 3000)
    with open_kept(filled, SCHEMA) as database:
        with (
            pytest.raises(UnavailableError, match="was damaged and is mended: try again"),
            database.transaction() as db,
        ):
            db.execute("DELETE FROM visits")
        with database.transaction() as db:
            db.execute("DELETE FROM visits")
        assert list(in_words(database)) == []


@pytest.mark.parametrize(
    ("place", "bit"), [(20, 8), (18, 1), (60, 1), (63, 1), (3000, 1), (16, 1), (0, 1), (4092, 1)]
)
def test_a_rotten_first_page_costs_no_row_or_all_of_them_by_name(
    filled: Path, place: int, bit: int
) -> None:
    flip(filled, place, bit)
    damage = DamageNotes()
    with open_kept(filled, SCHEMA, damage) as database:
        assert len(list(in_words(database))) in {0, ROWS}
        assert database.query("SELECT * FROM clock") == [(0, 0.0)]
    assert len(damage.told()) == 1


@pytest.mark.parametrize("length", [0, 1, 99, 4096, 4097, 12000])
def test_a_file_that_was_cut_is_named(filled: Path, length: int) -> None:
    with filled.open("r+b") as file:
        file.truncate(length)
    damage = DamageNotes()
    with open_kept(filled, SCHEMA, damage) as database:
        database.check()
        assert set(in_words(database)) <= set(map(visit, range(ROWS)))
        assert database.query("SELECT * FROM clock") == [(0, 0.0)]
    assert damage.told()


def test_a_file_without_checksums_gets_them(path: Path) -> None:
    with VersionedDatabase(path, SCHEMA) as database:
        database.query("INSERT INTO visits VALUES (1, 'one')")
    assert not has_checksums(path)
    damage = DamageNotes()
    for _ in range(2):
        with open_kept(path, SCHEMA, damage) as database:
            assert list(in_words(database)) == [(1, "one")]
            database.check()
        assert has_checksums(path)
    assert damage.told() == []


def test_a_copy_by_another_program_is_taken(filled: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(filled)) as other:
        other.execute(f"VACUUM INTO '{copy}'")
    damage = DamageNotes()
    with open_kept(copy, SCHEMA, damage) as database:
        database.check()
        assert len(list(in_words(database))) == ROWS
    assert damage.told() == []


def test_an_error_that_is_no_damage_is_one_of_ours_and_undoes_its_transaction(filled: Path) -> None:
    damage = DamageNotes()
    with open_kept(filled, SCHEMA, damage) as database:
        with (
            pytest.raises(UnavailableError, match=r"UNIQUE constraint failed: visits\.number"),
            database.transaction() as db,
        ):
            db.executemany("INSERT INTO visits VALUES (?, 'new')", [(ROWS,), (0,)])
        with pytest.raises(UnavailableError, match="no such table: nowhere"):
            database.query("SELECT * FROM nowhere")
        assert len(list(in_words(database))) == ROWS
    assert damage.told() == []


def test_pages_are_counted_that_a_connection_reads_from_its_file(filled: Path) -> None:
    with closing(connect_checked(filled, Synchronous.NORMAL)) as db:
        before = pages_read(db)
        db.execute("PRAGMA integrity_check").fetchall()
        assert pages_read(db) > before
        read = pages_read(db)
        db.execute("PRAGMA integrity_check").fetchall()
        assert pages_read(db) == read  # it still has them
    with closing(sqlite3.connect(":memory:")) as other, pytest.raises(TypeError, match="apsw"):
        pages_read(other)


def test_a_long_log_does_not_stay_long(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next start reads all of it."""
    monkeypatch.setattr(connection, "LOG_KEPT_BYTES", 1 << 16)
    with closing(connect_checked(filled, Synchronous.FULL)) as db:
        with transaction(db):
            db.executemany("INSERT INTO visits VALUES (?, ?)", map(visit, range(ROWS, ROWS + 9999)))
        log = Path(f"{filled}-wal")
        assert log.stat().st_size > 1 << 17
        for number in (1, 2):  # all of it goes into the file, then the log begins again
            db.execute("PRAGMA wal_checkpoint").fetchall()
            db.execute("INSERT INTO visits VALUES (?, ?)", visit(-number))
        assert log.stat().st_size <= 1 << 16


def killed(path: Path, copy: Path) -> Path:
    """Make a file with a log of several commits, as a kill leaves it."""
    with closing(connect_checked(path, Synchronous.FULL)) as db:
        for number in range(ROWS, ROWS + 9):
            with transaction(db):
                db.execute("INSERT INTO visits VALUES (?, ?)", visit(number))
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
    return copy


def test_a_log_that_a_kill_left_is_whole_or_torn_at_its_end(filled: Path, tmp_path: Path) -> None:
    copy = killed(filled, tmp_path / "killed.db")
    assert damage_in_wal(copy) == ""
    wal = copy.with_name("killed.db-wal")
    with wal.open("r+b") as file:
        file.truncate(wal.stat().st_size - 1000)
    assert damage_in_wal(copy) == ""
    damage = DamageNotes()
    with open_kept(copy, SCHEMA, damage) as database:
        assert ROWS + 9 > len(list(in_words(database))) >= ROWS
    assert damage.told() == []


@pytest.mark.parametrize("lost", [b"", b"\x5a\x17\xc3\x88"])
@pytest.mark.parametrize("frame", [1, 3, 9])
def test_a_frame_that_a_power_cut_kept_from_the_disk_ends_the_log(
    filled: Path, tmp_path: Path, frame: int, lost: bytes
) -> None:
    """It holds zeros, or a frame of the log before; commits after it may be on the disk."""
    copy = killed(filled, tmp_path / "killed.db")
    wal = copy.with_name("killed.db-wal")
    wire = bytearray(wal.read_bytes())
    at = 32 + (frame - 1) * 4120
    if lost:
        wire[at + 8 : at + 16] = lost * 2
    else:
        wire[at : at + 4120] = bytes(4120)
    wal.write_bytes(wire)
    assert damage_in_wal(copy) == ""
    damage = DamageNotes()
    with open_kept(copy, SCHEMA, damage) as database:
        database.check()
        left = list(in_words(database))
        assert left == [visit(number) for number in range(len(left))]
        assert ROWS <= len(left) < ROWS + 9
    assert damage.told() == []


@pytest.mark.parametrize("kept", [bytes(4096), bytes(range(256)) * 16])
@pytest.mark.parametrize("block", [1, 3, 6])
def test_a_block_that_a_power_cut_kept_from_the_disk_ends_the_log(
    filled: Path, tmp_path: Path, block: int, kept: bytes
) -> None:
    """It has the end of a frame, whose head is there, and the head of the next one."""
    copy = killed(filled, tmp_path / "killed.db")
    wal = copy.with_name("killed.db-wal")
    wire = bytearray(wal.read_bytes())
    wire[block * 4096 : (block + 1) * 4096] = kept
    wal.write_bytes(wire)
    assert damage_in_wal(copy) == ""
    damage = DamageNotes()
    with open_kept(copy, SCHEMA, damage) as database:
        database.check()
        assert ROWS <= len(list(in_words(database))) < ROWS + 9
    assert damage.told() == []


@pytest.mark.parametrize("place", [3, 20, 40, 32 + 24 + 100, 32 + 4120 + 8])
def test_a_log_that_rots_is_named(filled: Path, tmp_path: Path, place: int) -> None:
    copy = killed(filled, tmp_path / "killed.db")
    flip(copy.with_name("killed.db-wal"), place)
    assert "write-ahead log is damaged" in damage_in_wal(copy)
    damage = DamageNotes()
    with open_kept(copy, SCHEMA, damage) as database:
        database.check()
        assert set(in_words(database)) <= set(map(visit, range(ROWS + 9)))
    assert "write-ahead log is damaged" in damage.told()[0]


def test_other_programs_do_not_get_a_file_that_is_open(filled: Path) -> None:
    """Closing a file takes away all locks of its process: then they would empty the log."""
    wal = filled.with_name("visits.db-wal")
    with open_kept(filled, SCHEMA) as database:
        database.query("INSERT INTO places VALUES ('there', 1)")
        database.check()
        other = f"import sqlite3; sqlite3.connect({str(filled)!r}, timeout=0).execute({SQL!r})"
        subprocess.run(  # noqa: S603 - our own words
            [sys.executable, "-c", other], check=False, stderr=subprocess.DEVNULL
        )
        assert wal.exists()
        database.query("INSERT INTO places VALUES ('here', 1)")
        database.check()


@contextmanager
def limited(kind: int, limit: int) -> Iterator[None]:
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)


def full_disk() -> AbstractContextManager[None]:
    """Let no file grow over 50 kB: too little for the rows, enough for a log's index."""
    return limited(resource.RLIMIT_FSIZE, 50_000)


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Leave a process as many open files as it has."""
    gc.collect()  # not later, which would free some
    free = os.dup(0)
    os.close(free)
    with limited(resource.RLIMIT_NOFILE, free):
        yield


@pytest.mark.parametrize("trouble", [full_disk, no_descriptors])
def test_what_cannot_be_mended_now_loses_no_row(
    filled: Path, trouble: Callable[[], AbstractContextManager[None]]
) -> None:
    damage = DamageNotes()
    with open_kept(filled, SCHEMA, damage) as database:
        flip(filled, page_of(filled, "visit 200 ") + 3000)
        before = filled.read_bytes()
        for call in (database.check, lambda: list(in_words(database))):
            with trouble(), pytest.raises(UnavailableError):
                call()
        assert damage.told() == []
        assert filled.read_bytes() == before
        assert not list(filled.parent.glob("*.damaged*")) + list(filled.parent.glob("*.mend*"))
        assert ROWS - 80 < len(list(in_words(database))) < ROWS
        database.check()
    assert len(damage.told()) == 1
    assert filled.with_name("visits.db.damaged").read_bytes() == before


def test_a_full_disk_at_the_start_loses_no_row(filled: Path) -> None:
    flip(filled, 3000)
    damage = DamageNotes()
    told = (
        rf"visits {filled} is damaged \(.*\) and cannot be mended now: .*; it takes up to "
        rf"{2 * filled.stat().st_size} bytes of free room in {filled.parent}, where \d+ are free"
    )
    with full_disk(), pytest.raises(UnavailableError, match=told):
        open_kept(filled, SCHEMA, damage)
    assert damage.told() == []
    with open_kept(filled, SCHEMA, damage) as database:
        assert len(list(in_words(database))) == ROWS


@pytest.mark.parametrize("renames", range(5))
def test_a_kill_between_renames_is_made_up_for(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    copy = killed(filled, tmp_path / "killed.db")
    flip(copy, 3000)
    flip(copy.with_name("killed.db-wal"), 32 + 4120 * 11 + 8)
    left = iter(range(renames))
    rename = Path.replace

    def replace(path: Path, target: Path | str) -> Path:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            open_kept(copy, SCHEMA)
    damage = DamageNotes()
    with open_kept(copy, SCHEMA, damage) as database:
        kept = list(in_words(database))
        assert ROWS < len(kept) < ROWS + 9, "the log's rows up to the bad frame"
        assert kept == list(map(visit, range(len(kept))))
    assert len(damage.told()) == 1
