"""Blocks and state together: reopening, a torn tail, a lost index, old states."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

import lmdb
import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.blocks import progress as progress_module
from contracts.ledger.blocks.blockstore import BLOCK, POSITION
from contracts.ledger.blocks.chain import META, TABLES, Chain
from contracts.ledger.blocks.log import START
from contracts.ledger.state import runs as runs_module
from contracts.ledger.state import state as state_module
from contracts.ledger.state import store as store_module
from contracts.ledger.state.reader import NotKeptError
from contracts.ledger.state.runs import FANOUT, ListedRun, Runs
from contracts.ledger.state.store import LAYER_ENTRIES, NoRoomError, Store
from support.ledgers.chains import everything, extend, head_of, opened, small_chain
from support.ledgers.intkey_node import address_of
from support.ledgers.nodes import naive_root
from support.machine.waiting import wait_until


def newest_root(chain: Chain) -> str:
    return chain.state.update({}).root_hash


def test_reopened_chain_is_the_same(tmp_path: Path) -> None:
    small_chain(tmp_path, 4)
    with opened(tmp_path) as chain:
        number, root = head_of(chain)
        assert number == 3
        assert root == newest_root(chain) == naive_root(dict(everything(chain)))
        extend(chain, 4)
    with opened(tmp_path) as chain:
        assert head_of(chain)[0] == 4
        assert chain.state.get(address_of("k4")) is not None


def test_rot_that_the_index_hides_is_said_once_it_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    small_chain(tmp_path, 20)
    log = tmp_path / "chain.log"
    rotten = bytearray(log.read_bytes())
    rotten[START + 100] ^= 1
    log.write_bytes(rotten)
    with opened(tmp_path) as chain:
        assert head_of(chain)[0] == 19
        with pytest.raises(UnavailableError, match="is damaged"):
            chain.by_num(0)
    assert f"record at byte {START} is damaged; restore the file from a copy" in caplog.text


def test_cut_at_every_byte_of_the_last_block(tmp_path: Path) -> None:
    small_chain(tmp_path / "a", 2)
    before = (tmp_path / "a" / "chain.log").stat().st_size
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with opened(tmp_path / "b") as chain:
        extend(chain, 2)
    whole = (tmp_path / "b" / "chain.log").read_bytes()
    log = tmp_path / "a" / "chain.log"
    for cut in range(before, len(whole) + 1):
        log.write_bytes(whole[:cut])
        with opened(tmp_path / "a") as chain:
            number, root = head_of(chain)
            assert number == (2 if cut == len(whole) else 1)
            assert newest_root(chain) == root
        assert log.stat().st_size == (cut if cut == len(whole) else before)


def test_lost_or_unreadable_index_is_made_anew(tmp_path: Path) -> None:
    small_chain(tmp_path, 3)
    with opened(tmp_path) as chain:
        want = head_of(chain), everything(chain)
    shutil.rmtree(tmp_path / "index")
    with opened(tmp_path) as chain:
        assert (head_of(chain), everything(chain)) == want
    (tmp_path / "index" / "data.mdb").write_bytes(b"rubbish" * 1000)
    with opened(tmp_path) as chain:
        assert (head_of(chain), everything(chain)) == want


def test_a_long_replay_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    small_chain(tmp_path, 4)
    shutil.rmtree(tmp_path / "index")
    with opened(tmp_path):
        assert "replay" not in caplog.text  # it is over before anybody wonders
    monkeypatch.setattr(progress_module, "EVERY_S", 0)
    shutil.rmtree(tmp_path / "index")
    with opened(tmp_path):
        assert caplog.text.count("replaying the block log: ") == 4
        for said in ("2 of 4 blocks, at block 1; about ", "4 of 4 blocks, at block 3; about 0 s"):
            assert said in caplog.text
        assert "replayed 4 blocks in " in caplog.text


def test_missing_committed_blocks_are_not_forgotten_silently(tmp_path: Path) -> None:
    small_chain(tmp_path, 3)
    log = tmp_path / "chain.log"
    log.write_bytes(log.read_bytes()[:-1])
    with pytest.raises(RejectedError, match="committed blocks are missing"):
        Chain.open(tmp_path)


def test_old_states_are_kept_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "KEPT_ROOTS", 3)
    small_chain(tmp_path, 8)
    with opened(tmp_path) as chain:
        for number in range(8):
            if number <= 4:
                with pytest.raises(NotKeptError):
                    chain.state_after(number)
                continue
            state = chain.state_after(number)
            known = [n for n in range(1, 8) if state.get(address_of(f"k{n}"))]
            assert known == list(range(1, number + 1))
    env = lmdb.open(str(tmp_path / "index"), max_dbs=len(TABLES), readonly=True)
    tables = [env.open_db(name, create=False) for name in (b"node", b"root")]
    with env.begin() as view:
        nodes, roots = (view.stat(table)["entries"] for table in tables)
    env.close()
    assert roots == 3
    assert nodes < 3 * 12


def test_index_layers_reach_lmdb_while_open(tmp_path: Path) -> None:
    index = Store(tmp_path / "index", TABLES, POSITION)
    for part in range(3):
        entries = {
            (part * LAYER_ENTRIES + n).to_bytes(8, "big"): b"v" for n in range(LAYER_ENTRIES)
        }
        index.make_room()
        index.put({BLOCK: entries})
    index.put({BLOCK: {bytes(8): None}})
    assert index.get(BLOCK, bytes(8)) is None
    assert index.get(BLOCK, (1).to_bytes(8, "big")) == b"v"
    assert index.get(META, b"nothing") is None
    index.close()
    again = Store(tmp_path / "index", TABLES, POSITION)
    assert again.get(BLOCK, bytes(8)) is None
    assert again.get(BLOCK, (3 * LAYER_ENTRIES - 1).to_bytes(8, "big")) == b"v"
    again.close()


def test_a_long_merge_lets_short_ones_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    put: list[bytes] = []
    one_at_a_time = Lock()

    def layers(count: int) -> None:
        for _ in range(count):
            with one_at_a_time:
                put.append(len(put).to_bytes(12, "big"))
                index.make_room()
                index.put({POSITION: {put[-1]: bytes(11)}})

    def a_long_merge_began() -> bool:
        layers(1)  # one more each time: a late short merge takes more files than it must
        return "begin 1" in events

    def noted(
        runs: Runs, sources: Sequence[ListedRun], going_on: Callable[[], bool]
    ) -> ListedRun | None:
        level = sources[0].level
        events.append(f"begin {level}")
        if level and "end 1" not in events:
            layers(3 * FANOUT)  # they come while the first long merge runs
        new = merged(runs, sources, going_on)
        events.append(f"end {level}")
        return new

    merged = Runs.merged
    monkeypatch.setattr(Runs, "merged", noted)
    monkeypatch.setattr(runs_module, "BREATH_RECORDS", 1)
    monkeypatch.setattr(store_module, "LAYER_ENTRIES", 1)
    index = Store(tmp_path / "index", TABLES, POSITION)
    wait_until(a_long_merge_began)
    wait_until(lambda: "end 1" in events)
    between = events[events.index("begin 1") : events.index("end 1")]
    assert "end 0" in between
    assert {index.get(POSITION, key) for key in put} == {bytes(11)}
    index.close()


def test_an_index_without_room_says_so_and_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MAP_BYTES", 1 << 17)
    monkeypatch.setattr(store_module, "LAYER_ENTRIES", 1)
    index = Store(tmp_path / "index", TABLES, POSITION)
    index.put({BLOCK: {b"large": bytes(1 << 18)}})
    index.make_room()
    index.put({BLOCK: {b"small": b"v"}})
    with pytest.raises(NoRoomError, match="index"):
        index.make_room()
    assert index.get(BLOCK, b"large") == bytes(1 << 18)
    assert index.get(BLOCK, b"small") == b"v"
    index.close()
