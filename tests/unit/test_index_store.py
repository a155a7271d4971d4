"""The index's file: connections are bounded, and a damaged file is rebuilt from the ledger."""

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import accumulate
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.proto.payload_pb2 import Clock, RecordRun, RunReading
from contracts.runtime.connection import Synchronous
from gateway.index import store as index_store
from gateway.index.follower import Follower
from gateway.index.network import Network
from gateway.index.readings import new_readings
from gateway.index.rebuilding import RebuildingError
from gateway.index.schema import LEVELS, SORT_IN_BLOCKS, VERSION
from gateway.index.store import Head, IndexStore
from gateway.intake.inbox import Inbox
from storage.checked.connection import connect_checked
from support.ledgers.fake import FakeLedger

ROUNDS = 12
READERS = 4
RUN = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


@pytest.fixture
def store(path: Path) -> Iterator[IndexStore]:
    made = IndexStore(path)
    yield made
    made.close()


def open_files(path: Path) -> int:
    links = (link for link in Path("/proc/self/fd").iterdir() if link.is_symlink())
    return sum(str(link.readlink()) == str(path) for link in links)


def ask_together(store: IndexStore) -> None:
    """Ask from several threads, which end afterwards, as those of a web server do."""
    everyone = threading.Barrier(READERS)

    def ask() -> None:
        everyone.wait()
        assert store.query("SELECT 1") == [(1,)]

    readers = [threading.Thread(target=ask) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()


def test_threads_that_ended_leave_no_connection_open(store: IndexStore, path: Path) -> None:
    for _ in range(ROUNDS):
        ask_together(store)
    assert 1 <= open_files(path) <= READERS


def test_closing_closes_every_connection(path: Path) -> None:
    store = IndexStore(path)
    ask_together(store)
    store.close()
    assert open_files(path) == 0


def test_a_cut_empties_every_table(store: IndexStore) -> None:
    tables = {
        name: len(store.query(f"PRAGMA table_info({name})"))
        for (name,) in store.query("SELECT name FROM sqlite_master WHERE type = 'table'")
        if name != "cold_home"  # the name of a folder, which outlasts a cut
    }
    store.add({name: [(1,) * columns] for name, columns in tables.items()})
    store.cut(0)
    for name in tables:
        assert store.query(f"SELECT * FROM {name}") == []  # noqa: S608


def test_a_file_that_is_not_a_database_is_rebuilt(path: Path) -> None:
    path.write_bytes(b"not a database, " * 4096)
    store = IndexStore(path)
    try:
        assert store.head() is None
        store.add({"blocks": [(0, "genesis", b"")]})
        assert store.head() == Head(0, "genesis")
    finally:
        store.close()


def placed(store: IndexStore) -> list[list[int]]:
    """Return the blocks of the transactions in each table of `LEVELS`."""
    found = [store.query(f"SELECT block_num FROM {each} ORDER BY 1") for each in LEVELS]  # noqa: S608
    return [[block_num for (block_num,) in rows] for rows in found]


def one_transaction(store: IndexStore, number: int) -> None:
    row = (-number, number, 0)
    store.add({"blocks": [(number, f"id {number}", b"")], "new_transactions": [row]})


def test_transactions_of_some_blocks_go_in_together(store: IndexStore) -> None:
    for number in range(1, SORT_IN_BLOCKS + 2):
        one_transaction(store, number)
    some = list(range(1, SORT_IN_BLOCKS + 1))
    assert placed(store) == [[SORT_IN_BLOCKS + 1], some, [], [], []]
    store.cut(SORT_IN_BLOCKS)
    assert placed(store) == [[], some, [], [], []]
    store.cut(3)
    assert placed(store) == [[], [1, 2, 3], [], [], []]


def test_each_table_of_transactions_moves_to_the_next_one(store: IndexStore) -> None:
    steps = [SORT_IN_BLOCKS * 8**level for level in (3, 2, 1, 0)]
    numbers = list(accumulate([*steps, 1]))
    for number in numbers:
        one_transaction(store, number)
    assert placed(store) == [[each] for each in reversed(numbers)]


def filled(path: Path, blocks: int = 40) -> None:
    """Make an index of some blocks, each with some readings, and close it."""
    store = IndexStore(path)
    for number in range(blocks):
        readings = [RunReading(clock=Clock(utc_ms=each)) for each in range(RUN)]
        run = RecordRun(trip_id="trip-1", device_id="truck-1", readings=readings)
        store.add({"blocks": [(number, f"id {number}", b"")]}, [new_readings(run, bytes(64))])
    store.close()


def every_record(store: IndexStore) -> int:
    return len(store.query("SELECT sequence FROM warm_readings ORDER BY position"))


@pytest.mark.parametrize("place", [20, 600, 5 * 4096 + 4000])
def test_one_flipped_bit_is_never_believed(path: Path, place: int) -> None:
    filled(path)
    wire = bytearray(path.read_bytes())
    wire[place] ^= 8
    path.write_bytes(wire)
    dropped: list[int] = []
    store = IndexStore(path, on_rebuild=lambda: dropped.append(1))
    with suppress(RebuildingError):  # raised unless the start noticed it already
        store.check()
    with pytest.raises(RebuildingError, match="0 of an unknown number of blocks so far"):
        every_record(store)
    assert store.rebuild is not None
    assert len(dropped) <= 1
    store.close()


def test_a_dropped_index_answers_once_it_is_at_the_head(path: Path) -> None:
    store = IndexStore(path, worked_before=True)
    store.expect(1)
    with pytest.raises(UnavailableError, match="expected block 0 for the empty index, got 1"):
        store.add({"blocks": [(1, "id 1", b"")]})
    store.add({"blocks": [(0, "id 0", b"")]})
    with pytest.raises(RebuildingError, match="1 of 2 blocks so far, because its file is missing"):
        every_record(store)
    store.close()
    store = IndexStore(path, worked_before=True)
    with pytest.raises(RebuildingError, match="because it was dropped before the last start"):
        every_record(store)
    with pytest.raises(UnavailableError, match="expected block 1 for the index, got 2"):
        store.add({"blocks": [(2, "id 2", b"")]})
    store.add({"blocks": [(1, "id 1", b"")]})
    store.complete()
    assert every_record(store) == 0
    store.close()
    store = IndexStore(path, worked_before=True)
    assert (store.rebuild, every_record(store), store.head()) == (None, 0, Head(1, "id 1"))
    store.check()
    store.close()


def test_the_log_says_each_tenth_of_a_rebuild(
    tmp_path: Path, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        FakeLedger() as ledger,
        closing(LedgerClient(ledger.url)) as client,
        closing(Inbox(tmp_path / "inbox.db", bytes_max=1, quarantine_bytes_max=1)) as inbox,
        closing(IndexStore(path, worked_before=True)) as store,
    ):
        ledger.extend([[]] * 40)
        network = Network(client, inbox, store)
        Follower(client, network, store, lambda: None, lambda: None).catch_up()
    told = re.findall(r"(\d+) of 40 blocks so far", caplog.text)
    assert told == ["1", *(str(each) for each in range(4, 41, 4))]


def test_a_reader_of_a_dropped_file_does_not_hold_up_the_others(path: Path) -> None:
    filled(path)
    store = IndexStore(path)
    with store._lent() as slow:  # noqa: SLF001 - a reader in the middle of its question
        rows = slow.execute("SELECT position FROM warm_readings")
        assert rows.fetchone() == (1,)
        wire = bytearray(path.read_bytes())
        wire[-700] ^= 1
        path.write_bytes(wire)
        with pytest.raises(RebuildingError):
            store.check()
        assert store.head() is None
    store.close()
    assert open_files(path) == 0


def test_a_question_while_the_file_is_dropped_gets_no_empty_answer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)
    store = IndexStore(path)
    make, lock = store._make, store._lock  # noqa: SLF001 - the middle of a drop
    answers: list[object] = []
    waiting, asked = threading.Event(), threading.Event()

    class Watched:
        """The store's lock; tells when the reader is about to wait for it."""

        def __enter__(self) -> None:
            if threading.current_thread() is reader:
                waiting.set()
                asked.wait(60)
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    def ask() -> None:
        try:
            answers.append(every_record(store))
        except RebuildingError as error:
            answers.append(error)

    def make_slowly(*, rebuilding: bool) -> None:
        reader.start()
        assert waiting.wait(60)
        make(rebuilding=rebuilding)

    reader = threading.Thread(target=ask)
    monkeypatch.setattr(store, "_lock", Watched())
    monkeypatch.setattr(store, "_make", make_slowly)
    wire = bytearray(path.read_bytes())
    wire[-700] ^= 1
    path.write_bytes(wire)
    with pytest.raises(RebuildingError):
        store.check()
    asked.set()
    reader.join(60)
    assert isinstance(answers[0], RebuildingError)
    store.close()


def test_an_index_that_was_dropped_since_its_head_was_asked_is_not_complete(path: Path) -> None:
    store = IndexStore(path, worked_before=True)
    store.complete()
    with pytest.raises(RebuildingError, match="because its file is missing"):
        every_record(store)
    store.close()
    store = IndexStore(path)
    with pytest.raises(RebuildingError, match="because it was dropped before the last start"):
        every_record(store)
    store.close()


def test_a_disk_that_is_full_at_a_drop_delays_the_new_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)
    dropped: list[int] = []
    store = IndexStore(path, on_rebuild=lambda: dropped.append(1))
    wire = bytearray(path.read_bytes())
    wire[-700] ^= 1
    path.write_bytes(wire)
    with monkeypatch.context() as full:
        full.setattr(index_store, "SCHEMA", "CREATE TABLE blocks (a); SELECT full_disk();")
        with pytest.raises(UnavailableError, match="full_disk"):
            store.check()
        for _ in range(2):
            with pytest.raises(UnavailableError, match="full_disk"):
                every_record(store)
        assert open_files(path) == 0
    with pytest.raises(RebuildingError, match="0 of an unknown number of blocks so far"):
        every_record(store)
    store.add({"blocks": [(0, "genesis", b"")]})
    store.complete()
    assert (every_record(store), store.rebuilds, dropped) == (0, 1, [1])
    store.close()


def test_a_kill_while_the_file_is_made_costs_a_rebuild(path: Path) -> None:
    connect_checked(path, Synchronous.NORMAL).close()
    store = IndexStore(path)
    assert (store.rebuild is not None, store.head()) == (True, None)
    store.close()


@pytest.mark.parametrize("old", ["version", "plain", "empty"])
def test_another_index_than_this_programs_is_made_again(path: Path, old: str) -> None:
    filled(path)
    if old == "empty":
        path.write_bytes(b"")
    elif old == "plain":
        path.unlink()
        sqlite3.connect(path).executescript(
            "CREATE TABLE blocks (a); PRAGMA user_version = 6"
        ).connection.close()
    else:
        connection = connect_checked(path, Synchronous.NORMAL)
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.close()
    store = IndexStore(path)
    assert store.rebuild is not None
    assert store.head() is None
    store.close()
