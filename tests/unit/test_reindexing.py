"""An index is built beside the one in use, and taken in its place in one step."""

import logging
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.client import LedgerClient
from gateway.index import reindexing
from gateway.index.coldfile import head_of
from gateway.index.cooling import Cooling, Moving
from gateway.index.follower import Follower
from gateway.index.moving import Mover
from gateway.index.network import Network
from gateway.index.projection import Rows
from gateway.index.reindexing import ReindexProgress, build, take_offered
from gateway.index.schema import VERSION
from gateway.index.store import IndexStore
from gateway.intake.inbox import Inbox
from support.gateways.coldtrips import READINGS, client_of, cold_trips
from support.ledgers.fake import FakeLedger

BLOCKS = 12
BOGUS: Rows = {"holds": [("trip", "hold", b"", 0)]}
"""A row that no ledger has: whether it is there tells which index answers."""


@pytest.fixture
def ledger() -> Iterator[FakeLedger]:
    with FakeLedger() as made:
        made.extend([[]] * BLOCKS)
        yield made


@pytest.fixture
def client(ledger: FakeLedger) -> Iterator[LedgerClient]:
    with closing(LedgerClient(ledger.url)) as made:
        yield made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[IndexStore]:
    made = IndexStore(tmp_path / "index.db")
    yield made
    made.close()


@pytest.fixture
def follower(client: LedgerClient, store: IndexStore, tmp_path: Path) -> Iterator[Follower]:
    """A follower that is at the head, over an index with a bogus row."""
    with closing(
        Inbox(tmp_path / "inbox.db", bytes_max=1 << 20, quarantine_bytes_max=1 << 20)
    ) as inbox:
        network = Network(client, inbox, store)
        made = Follower(client, network, store, lambda: None, lambda: None)
        made.catch_up()
        store.add(BOGUS)
        yield made


def is_new(store: IndexStore) -> bool:
    return store.query("SELECT count(*) FROM holds") == [(0,)]


def blocks(store: IndexStore) -> int:
    return int(store.query("SELECT count(*) FROM blocks")[0][0])


def built(
    client: LedgerClient, store: IndexStore, genesis_id: str | None = None
) -> ReindexProgress:
    return build(client, store.offered, genesis_id, lambda _: None, cooling(store))


def cooling(store: IndexStore) -> Cooling:
    return Cooling(store.cold, 0)


def beside(store: IndexStore) -> list[str]:
    """Return the files of an index that is being made, or waits."""
    return [each.name for each in store.offered.parent.iterdir() if "next" in each.name]


def test_the_new_index_is_taken_between_two_blocks_and_followed(
    follower: Follower, ledger: FakeLedger, client: LedgerClient, store: IndexStore, tmp_path: Path
) -> None:
    built(client, store, ledger.blocks[0].header_signature)
    assert (is_new(store), beside(store)) == (False, ["index-next.db"])
    ledger.extend([[]])
    follower.catch_up()
    assert (is_new(store), blocks(store), beside(store)) == (True, BLOCKS + 1, [])
    ledger.extend([[]])
    follower.catch_up()
    store.close()
    with closing(IndexStore(tmp_path / "index.db")) as again:
        assert (again.rebuild, is_new(again), blocks(again)) == (None, True, BLOCKS + 2)


def test_no_answer_goes_back_to_an_earlier_block(
    follower: Follower, ledger: FakeLedger, client: LedgerClient, store: IndexStore
) -> None:
    ledger.extend([[]] * 2)
    built(client, store)
    waiting = store.offered.rename(store.offered.with_name("waiting"))
    ledger.extend([[]] * 3)
    follower.catch_up()
    waiting.rename(store.offered)
    head = store.head()
    assert take_offered(store, client, ledger.blocks[0].header_signature)
    assert (is_new(store), store.head()) == (True, head)


def test_a_reader_in_the_middle_of_a_question_reads_on_in_the_old_index(
    follower: Follower, ledger: FakeLedger, client: LedgerClient, store: IndexStore
) -> None:
    built(client, store)
    with store._lent() as slow:  # noqa: SLF001 - a reader in the middle of its question
        store.settle()
        rows = slow.execute("SELECT block_num FROM blocks")
        assert rows.fetchone() == (0,)
        assert take_offered(store, client, ledger.blocks[0].header_signature)
        assert is_new(store)
        assert len(rows.fetchall()) == BLOCKS - 1
    follower.catch_up()
    ledger.extend([[]])
    follower.catch_up()
    assert (is_new(store), blocks(store)) == (True, BLOCKS + 1)


def test_the_progress_is_told_with_the_time_left(
    client: LedgerClient, store: IndexStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reindexing, "TELL_S", 0.0)
    told: list[ReindexProgress] = []
    last = build(client, store.offered, None, told.append, cooling(store))
    assert [each.blocks for each in told] == list(range(1, BLOCKS + 1))
    assert (last.blocks, last.of, last.readings) == (BLOCKS, BLOCKS, 0)
    assert str(ReindexProgress(3, 12, 900, 5.0)) == (
        "3 of 12 blocks, 900 readings, 25%, 5 s, 15 s left"
    )
    assert str(ReindexProgress(12, 12, 900, 5.0)) == "12 of 12 blocks, 900 readings, 100%, 5 s"


@pytest.mark.parametrize(("days", "passes"), [(0, []), (30, [BLOCKS - 1])])
def test_old_trips_move_before_a_new_index_is_offered(
    client: LedgerClient,
    store: IndexStore,
    monkeypatch: pytest.MonkeyPatch,
    days: int,
    passes: list[int],
) -> None:
    found: list[int] = []

    def run(mover: Mover) -> None:
        assert not store.offered.exists()
        head = mover._store.head()  # noqa: SLF001 - which index it works on
        found.append(head.block_num if head else -1)

    monkeypatch.setattr(Mover, "run", run)
    build(client, store.offered, None, lambda _: None, Cooling(store.cold, days))
    assert found == passes


@pytest.mark.parametrize("wrong", ["ledger", "version", "garbage", "history", "unfinished"])
def test_what_is_no_index_of_this_gateway_is_removed_and_the_old_one_answers(
    follower: Follower,
    client: LedgerClient,
    store: IndexStore,
    caplog: pytest.LogCaptureFixture,
    wrong: str,
) -> None:
    if wrong in {"ledger", "history"}:
        with FakeLedger() as other, closing(LedgerClient(other.url)) as there:
            other.extend([[]] * (BLOCKS - 1), "other" if wrong == "ledger" else "")
            other.extend([[]], "other")
            build(there, store.offered, None, lambda _: None, cooling(store))
    elif wrong == "garbage":
        store.offered.write_bytes(b"not a database, " * 4096)
    else:
        name = "user_version" if wrong == "version" else "application_id"
        value = VERSION + 1 if wrong == "version" else 0x7762
        built(client, store)
        with closing(IndexStore(store.offered)) as index:
            index.query(f"PRAGMA {name} = {value}")
            index.settle()
    caplog.set_level(logging.ERROR)
    follower.catch_up()
    assert (is_new(store), blocks(store), beside(store)) == (False, BLOCKS, [])
    assert "the index that was made beside this one is removed" in caplog.text


def test_an_index_of_another_ledger_is_not_begun(client: LedgerClient, store: IndexStore) -> None:
    with pytest.raises(RejectedError, match="this gateway's data belong to the ledger"):
        built(client, store, "another")
    assert beside(store) == []


def test_a_full_disk_leaves_nothing(
    client: LedgerClient, store: IndexStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise UnavailableError("index: database or disk is full")

    monkeypatch.setattr(IndexStore, "settle", full)
    with pytest.raises(UnavailableError, match="disk is full"):
        built(client, store)
    assert beside(store) == []


def test_a_build_that_fails_leaves_no_cold_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cold_trips(tmp_path) as made, closing(client_of(made)) as asked:
        made.move()
        head = made.index.cold.folder

        def full(self: Moving) -> None:
            with self._mover._store.connection() as db:  # type: ignore[union-attr]  # noqa: SLF001
                made.index.cold.write(head_of(db, 1), lambda _: None)
            raise UnavailableError("the disk is full")

        monkeypatch.setattr(Moving, "now", full)
        with pytest.raises(UnavailableError, match="the disk is full"):
            build(
                asked,
                made.index.offered,
                None,
                lambda _: None,
                Cooling(made.index.cold, 30),
            )
        assert list(head.iterdir()) == [made.file.parent]
        assert len(made.page(0)) == READINGS


def test_what_a_killed_build_left_is_in_nobodys_way(
    follower: Follower, ledger: FakeLedger, client: LedgerClient, store: IndexStore
) -> None:
    killed = (
        "import os, signal, sys; from pathlib import Path\n"
        "from contracts.ledger.client import LedgerClient\n"
        "from gateway.index import reindexing\n"
        "from gateway.index.coldfolder import ColdFiles\n"
        "from gateway.index.cooling import Cooling\n"
        "reindexing.TELL_S = 0.0\n"
        "reindexing.build(LedgerClient(sys.argv[1]), Path(sys.argv[2]), None,"
        " lambda each: each.blocks == 7 and os.kill(os.getpid(), signal.SIGKILL),"
        " Cooling(ColdFiles(Path(sys.argv[2])), 0))"
    )
    command = [sys.executable, "-c", killed, ledger.url, str(store.offered)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL  # noqa: S603
    assert beside(store)
    follower.catch_up()
    assert not is_new(store)
    built(client, store)
    assert beside(store) == ["index-next.db"]
    follower.catch_up()
    assert is_new(store)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_step_that_fails_leaves_one_whole_index(
    follower: Follower,
    client: LedgerClient,
    store: IndexStore,
    monkeypatch: pytest.MonkeyPatch,
    *,
    before: bool,
) -> None:
    """As a kill would: what is on the disk then is what the next start finds."""
    built(client, store)
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if not before:
            replace(self, target)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as medium:
        medium.setattr(Path, "replace", failing)
        with pytest.raises(UnavailableError, match="Input/output"):
            follower.catch_up()
    store.close()
    with closing(IndexStore(store.offered.with_name("index.db"))) as found:
        assert (found.rebuild, is_new(found), blocks(found)) == (None, not before, BLOCKS)
        found.check()


def test_a_new_index_leaves_room_for_the_gateway(
    store: IndexStore, client: LedgerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked at before, and while it is built."""
    monkeypatch.setattr(reindexing, "TELL_S", 0.0)
    room = reindexing.FREE_BYTES_MIN
    for looks in ([room - 1], [room, room - 1]):
        left = iter(looks)
        monkeypatch.setattr(
            shutil, "disk_usage", lambda _, left=left: SimpleNamespace(free=next(left))
        )
        with pytest.raises(UnavailableError, match=f"expected {room} bytes of free room"):
            built(client, store)
        assert not [each for each in store.offered.parent.iterdir() if "next" in each.name]
