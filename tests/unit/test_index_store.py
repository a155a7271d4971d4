"""The index's file: connections are bounded, and what is damaged comes back from the ledger."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.index.schema import SORT_IN_BLOCKS, TABLES
from gateway.index.store import IndexStore

ROUNDS = 12
READERS = 4


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


def test_a_cut_knows_every_table(store: IndexStore) -> None:
    made = store.query("SELECT name FROM sqlite_master WHERE type = 'table'")
    assert sorted(TABLES) == sorted(name for (name,) in made)


def test_an_index_that_is_no_database_is_made_anew(path: Path) -> None:
    path.write_bytes(b"not a database, " * 4096)
    store = IndexStore(path)
    try:
        assert store.head() is None
        store.add({"blocks": [(0, "genesis", b"")]})
        assert store.head() == (0, "genesis")
    finally:
        store.close()


def transactions(store: IndexStore) -> tuple[list[int], list[int]]:
    """Return in which blocks the transactions are that were sorted in, and those that wait."""
    sorted_in = store.query("SELECT block_num FROM transactions ORDER BY block_num")
    waiting = store.query("SELECT block_num FROM new_transactions ORDER BY block_num")
    return [row[0] for row in sorted_in], [row[0] for row in waiting]


def test_transactions_of_some_blocks_go_in_together(store: IndexStore) -> None:
    for number in range(SORT_IN_BLOCKS + 2):
        store.add(
            {
                "blocks": [(number, f"id {number}", b"")],
                "new_transactions": [(-number, number, 0)],
            }
        )
    assert transactions(store) == (list(range(SORT_IN_BLOCKS + 1)), [SORT_IN_BLOCKS + 1])
    store.cut(SORT_IN_BLOCKS)
    assert transactions(store) == (list(range(SORT_IN_BLOCKS + 1)), [])
    store.cut(3)
    assert transactions(store) == ([0, 1, 2, 3], [])
