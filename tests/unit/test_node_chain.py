"""Blocks and state together: reopening, a torn tail, a lost index, old states."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import lmdb
import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.node.candidate import Candidate
from contracts.node.genesis import found, own_genesis
from contracts.node.publisher import publish
from contracts.node.store import index as index_module
from contracts.node.store import state as state_module
from contracts.node.store.chain import Chain
from contracts.node.store.index import LAYER_ENTRIES, Index, Table
from contracts.node.store.log import START, NoRoomError
from contracts.node.store.state import NotKeptError
from contracts.node.verify import verify_batch
from support.intkey_node import FAMILIES, address_of
from support.nodes import intkey_batch, naive_root

SIGNER = Signer.from_hex("11" * 32)


@contextmanager
def opened(path: Path) -> Iterator[Chain]:
    chain = Chain.open(path)
    try:
        yield chain
    finally:
        chain.close()


def extend(chain: Chain, number: int) -> None:
    candidate = Candidate(chain.blocks, chain.state.get, FAMILIES)
    assert candidate.add(verify_batch(intkey_batch(SIGNER, number))) is None
    publish(chain, SIGNER, candidate)


def small_chain(path: Path, blocks: int) -> None:
    with opened(path) as chain:
        found(chain, SIGNER, FAMILIES, [own_genesis(SIGNER, [SIGNER.public_key])])
        for number in range(1, blocks):
            extend(chain, number)


def everything(chain: Chain) -> Mapping[str, bytes]:
    return dict(chain.state.leaves_at(chain.state.root))


def head_of(chain: Chain) -> tuple[int, str]:
    assert chain.head is not None
    return chain.head.num, chain.head.header.state_root_hash


def test_reopened_chain_is_the_same(tmp_path: Path) -> None:
    small_chain(tmp_path, 4)
    with opened(tmp_path) as chain:
        number, root = head_of(chain)
        assert number == 3
        assert root == chain.state.root_hash == naive_root(dict(everything(chain)))
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
            chain.blocks.by_num(0)
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
            assert chain.state.root_hash == root
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
                    chain.state.root_after(number)
                continue
            root = chain.state.root_after(number)
            known = [n for n in range(1, 8) if chain.state.get_at(root, address_of(f"k{n}"))]
            assert known == list(range(1, number + 1))
    env = lmdb.open(str(tmp_path / "index"), max_dbs=len(Table), readonly=True)
    tables = [env.open_db(name, create=False) for name in (b"node", b"root")]
    with env.begin() as view:
        nodes, roots = (view.stat(table)["entries"] for table in tables)
    env.close()
    assert roots == 3
    assert nodes < 3 * 12


def test_index_layers_reach_lmdb_while_open(tmp_path: Path) -> None:
    index = Index(tmp_path / "index")
    for part in range(3):
        entries = {
            (part * LAYER_ENTRIES + n).to_bytes(8, "big"): b"v" for n in range(LAYER_ENTRIES)
        }
        index.make_room()
        index.put({Table.BLOCK: entries})
    index.put({Table.BLOCK: {bytes(8): None}})
    assert index.get(Table.BLOCK, bytes(8)) is None
    assert index.get(Table.BLOCK, (1).to_bytes(8, "big")) == b"v"
    assert index.get(Table.META, b"nothing") is None
    index.close()
    again = Index(tmp_path / "index")
    assert again.get(Table.BLOCK, bytes(8)) is None
    assert again.get(Table.BLOCK, (3 * LAYER_ENTRIES - 1).to_bytes(8, "big")) == b"v"
    again.close()


def test_an_index_without_room_says_so_and_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "MAP_BYTES", 1 << 17)
    monkeypatch.setattr(index_module, "LAYER_ENTRIES", 1)
    index = Index(tmp_path / "index")
    index.put({Table.BLOCK: {b"large": bytes(1 << 18)}})
    index.make_room()
    index.put({Table.BLOCK: {b"small": b"v"}})
    with pytest.raises(NoRoomError, match="index"):
        index.make_room()
    assert index.get(Table.BLOCK, b"large") == bytes(1 << 18)
    assert index.get(Table.BLOCK, b"small") == b"v"
    index.close()
