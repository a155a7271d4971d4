"""An index that holds something else than what was written says where, and what to do."""

import shutil
from pathlib import Path

import lmdb
import pytest

from contracts.errors import WaysealError
from contracts.ledger.blocks.blockstore import BLOCK, POSITION
from contracts.ledger.blocks.chain import META, TABLES
from contracts.ledger.state import store as store_module
from contracts.ledger.state.run import DamagedIndexError
from contracts.ledger.state.state import NODE, ROOT
from contracts.ledger.state.store import NoRoomError, Store
from support.ledgers.chains import everything, extend, head_of, opened, small_chain
from support.ledgers.damage import Change, change_all, flipped
from support.ledgers.intkey_node import address_of

BLOCKS = 6


def under_another_key(view: lmdb.Transaction, key: bytes, value: bytes) -> None:
    view.delete(key)
    view.put(bytes((key[0] ^ 1,)) + key[1:], value)


def with_a_right_checksum(table: str) -> Change:
    """Return a change that only the hash of a state node, or a block's number, gives away."""

    def change(view: lmdb.Transaction, key: bytes, value: bytes) -> None:
        changed = value[:-5] + bytes((value[-5] ^ 1,))
        view.put(key, changed + store_module._checksum(table, key, changed))  # noqa: SLF001

    return change


def read_everything(path: Path) -> None:
    """Read all blocks and states, and write one more block."""
    with opened(path) as chain:
        for number in range(BLOCKS):
            stored = chain.by_num(number)
            assert stored is not None
            assert chain.by_id(stored.id) is not None
            for transaction in stored.transactions:
                assert chain.find_transaction(transaction.header_signature) is not None
            assert dict(chain.state_after(number).leaves())
        extend(chain, BLOCKS)


@pytest.mark.parametrize("change", [flipped, under_another_key])
@pytest.mark.parametrize("table", [NODE, ROOT, BLOCK, META, "files"])
def test_a_changed_record_is_an_error(tmp_path: Path, table: str, change: Change) -> None:
    small_chain(tmp_path, BLOCKS)
    read_everything(tmp_path)
    change_all(tmp_path / "index", table, change)
    with pytest.raises(DamagedIndexError) as found:
        read_everything(tmp_path)
    assert f"delete {tmp_path / 'index'} and start it again" in str(found.value)
    shutil.rmtree(tmp_path / "index")
    with opened(tmp_path) as chain:
        assert head_of(chain)[0] == BLOCKS


@pytest.mark.parametrize(
    ("table", "words"),
    [(NODE, r"state node \d+ does not match its hash"), (BLOCK, r"is damaged")],
)
def test_a_forged_record_is_an_error(tmp_path: Path, table: str, words: str) -> None:
    small_chain(tmp_path, BLOCKS)
    change_all(tmp_path / "index", table, with_a_right_checksum(table))
    with pytest.raises(WaysealError, match=words):
        read_everything(tmp_path)


def test_the_state_of_another_block_is_an_error(tmp_path: Path) -> None:
    small_chain(tmp_path, BLOCKS)

    def swap(view: lmdb.Transaction, key: bytes, _: bytes) -> None:
        value = roots[bytes(8)][:-4]
        view.put(key, value + store_module._checksum(ROOT, key, value))  # noqa: SLF001

    roots: dict[bytes, bytes] = {}
    change_all(tmp_path / "index", ROOT, lambda _, key, value: roots.setdefault(key, value))
    change_all(tmp_path / "index", ROOT, swap)
    with opened(tmp_path) as chain:
        assert dict(chain.state_after(0).leaves())
        with pytest.raises(DamagedIndexError, match="does not match its hash"):
            dict(chain.state_after(1).leaves())


@pytest.mark.parametrize("lost", [NODE, ROOT])
def test_lost_records_of_states_are_an_error(tmp_path: Path, lost: str) -> None:
    small_chain(tmp_path, BLOCKS)
    change_all(tmp_path / "index", lost, lambda view, key, _: view.delete(key))
    with opened(tmp_path) as chain:
        with pytest.raises(DamagedIndexError, match="is missing"):
            dict(chain.state_after(BLOCKS - 2).leaves())
        if lost == NODE:
            with pytest.raises(DamagedIndexError, match="is missing"):
                chain.state.get(address_of("k1"))


def test_an_index_of_an_earlier_version_is_built_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    small_chain(tmp_path, BLOCKS)
    with opened(tmp_path) as chain:
        want = head_of(chain), everything(chain)
    index = tmp_path / "index"
    shutil.rmtree(index)
    index.mkdir()
    env = lmdb.open(str(index), max_dbs=8)
    for table in (b"node", b"root", b"block", b"block_id", b"transaction", b"batch", b"meta"):
        database = env.open_db(table)
        with env.begin(write=True, db=database) as view:
            view.put(b"head", bytes(32))
    env.close()
    with opened(tmp_path) as chain:
        assert (head_of(chain), everything(chain)) == want
    assert caplog.text.count("building the index again from the log") == 1
    assert not index.with_name("index.old").exists()
    caplog.clear()
    with opened(tmp_path) as chain:
        assert (head_of(chain), everything(chain)) == want
    assert caplog.text == ""


def test_no_room_for_a_file_is_said_and_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "LAYER_ENTRIES", 1)
    monkeypatch.setattr(store_module, "RETRY_S", 0.01)
    index = Store(tmp_path / "index", TABLES, POSITION)
    write = index._runs.with_new  # noqa: SLF001 - a disk that is full for a while

    def refuse(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(index._runs, "with_new", refuse)  # noqa: SLF001
    index.put({POSITION: {bytes(12): bytes(11)}})
    index.make_room()
    index.put({POSITION: {b"1" * 12: bytes(11)}})
    with pytest.raises(NoRoomError, match="No space left"):
        index.make_room()
    monkeypatch.setattr(index._runs, "with_new", write)  # noqa: SLF001
    index.close()
    again = Store(tmp_path / "index", TABLES, POSITION)
    assert again.get(POSITION, bytes(12)) == again.get(POSITION, b"1" * 12) == bytes(11)
    again.close()
