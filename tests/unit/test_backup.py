"""A backup appears whole or not at all, shares bytes with the one before, and is put back."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.backup import checking, restoring, shelf
from contracts.backup.kept import HALF_RESTORED
from contracts.backup.manifest import FILE, Manifest
from contracts.backup.writing import writing
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.ledger.blocks import copying
from contracts.ledger.blocks.copying import chain_of, copy_log
from contracts.ledger.blocks.log import START, BlockLog
from contracts.ledger.blocks.record import encode_record
from contracts.ledger.engine.blocks import stored_block
from contracts.runtime.checks import Severity
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_block
from gateway.commands.backup import copy_database
from gateway.intake.schema import INBOX
from storage.checked.connection import has_checksums, open_checked
from storage.checked.kept import open_kept

KEY: Final = Signer.generate()


def backed_up(data: Path, directory: Path, name: str = "a") -> tuple[Path, Manifest]:
    """Back up all files of a data directory."""
    with writing(directory, "node", name) as unfinished:
        for path in sorted(data.rglob("*")):
            if path.is_file():
                unfinished.files.store(path, path.relative_to(data).as_posix())
        return unfinished.finish(data, keys={}, ledger={})


def owners(path: Path) -> set[int]:
    """Return whose a directory and all in it are."""
    return {each.lstat().st_uid for each in (path, *path.rglob("*"))}


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away needs root")
def test_what_root_backs_up_is_the_service_s(data: Path, tmp_path: Path) -> None:
    """Else the service's own timer could write no further backup there."""
    os.chown(data, 12_345, 12_345)
    directory = tmp_path / "srv" / "backup"
    for _ in range(2):  # the second one has links to files of the first
        backed_up(data, directory)
        assert owners(directory) == {12_345}


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away needs root")
def test_a_directory_that_was_there_keeps_its_owner(data: Path, tmp_path: Path) -> None:
    """Whoever keeps backups from the service has made it so."""
    os.chown(data, 12_345, 12_345)
    (tmp_path / "backups").mkdir(mode=0o700)
    backed_up(data, tmp_path / "backups")
    assert owners(tmp_path / "backups") == {0}


def problems(path: Path) -> list[str]:
    found = checking.findings(path, Manifest.read(path))
    return [each.subject for each in found if each.severity is not Severity.OK]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    (made / "inner").mkdir(parents=True)
    (made / "node.key").write_text("secret")
    (made / "inner" / "entry").write_bytes(b"\0" * 3_000_000)
    (made / "node.key").chmod(0o600)
    (made / "inner" / "entry").chmod(0o640)
    return made


def test_what_is_restored_is_what_was_there(data: Path, tmp_path: Path) -> None:
    path, manifest = backed_up(data, tmp_path / "backups")
    assert problems(path) == []
    assert {(path / each.path).stat().st_mode & 0o777 for each in manifest.files} == {0o600}
    assert path.stat().st_mode & 0o777 == 0o700
    again = tmp_path / "again"
    restoring.restore(path, manifest, again)
    files = {each.relative_to(again): each for each in again.rglob("*") if each.is_file()}
    assert files.keys() == {Path("node.key"), Path("inner/entry"), Path("lock")}
    for name in (Path("node.key"), Path("inner/entry")):
        assert files[name].read_bytes() == (data / name).read_bytes()
        assert files[name].stat().st_mode == (data / name).stat().st_mode


def test_the_same_bytes_are_stored_once(data: Path, tmp_path: Path) -> None:
    first, _ = backed_up(data, tmp_path / "backups")
    (data / "node.key").write_text("another")
    second, _ = backed_up(data, tmp_path / "backups")
    assert (first / "data/inner/entry").samefile(second / "data/inner/entry")
    assert not (first / "data/node.key").samefile(second / "data/node.key")
    assert problems(first) == problems(second) == []
    assert shelf.drop_old(tmp_path / "backups", "node", 1) == [first.name]
    assert problems(second) == []


def test_a_backup_that_is_cut_short_is_no_backup(data: Path, tmp_path: Path) -> None:
    directory = tmp_path / "backups"
    with writing(directory, "node", "a") as unfinished:
        unfinished.files.store(data / "node.key", "node.key")  # and no `finish`
    assert [each.name for each in directory.iterdir()] == ["lock"]
    (directory / ".part-node-20260101T000000.000Z").mkdir()  # what a kill leaves
    assert shelf.newest(directory, "node") is None
    path, _ = backed_up(data, directory)
    assert {each.name for each in directory.iterdir()} == {"lock", path.name}


def test_names_are_in_the_order_of_time_even_if_the_clock_goes_back(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([2_000_000_000_000, 1_900_000_000_000, 2_000_000_000_500])
    monkeypatch.setattr("contracts.backup.writing.now_ms", lambda: next(times))
    made = [backed_up(data, tmp_path / "backups")[0] for _ in range(3)]
    assert shelf.backups(tmp_path / "backups", "node") == made
    assert shelf.newest_made_ms(tmp_path / "backups", "node") == 2_000_000_000_500
    assert shelf.newest_made_ms(tmp_path / "none", "node") is None


def test_two_nodes_do_not_share_a_directory(data: Path, tmp_path: Path) -> None:
    backed_up(data, tmp_path / "backups")
    with pytest.raises(RejectedError, match="backups of node a, expected those of b"):
        backed_up(data, tmp_path / "backups", "b")


def flip(path: Path) -> None:
    wire = bytearray(path.read_bytes())
    wire[len(wire) // 2] ^= 1
    path.write_bytes(wire)


def test_each_kind_of_damage_is_named(data: Path, tmp_path: Path) -> None:
    path, _ = backed_up(data, tmp_path / "backups")
    flip(path / "data/inner/entry")
    assert problems(path) == ["data/inner/entry"]
    os.truncate(path / "data/node.key", 3)
    assert problems(path) == ["data/inner/entry", "data/node.key"]
    (path / "data/inner/entry").unlink()
    (path / "stranger").touch()
    assert problems(path) == ["data/inner/entry", "data/node.key", "stranger"]
    assert shelf.newest(tmp_path / "backups", "node") is None
    text = (path / FILE).read_text()
    (path / FILE).write_text(text.replace('"name": "a"', '"name": "b"'))
    with pytest.raises(RejectedError, match="do not match their SHA-256"):
        Manifest.read(path)
    for bad in ("", "[]", text.replace('"format": 1', '"format": 2'), text[:-20]):
        (path / FILE).write_text(bad)
        with pytest.raises(RejectedError, match=FILE):
            Manifest.read(path)


def test_a_restore_overwrites_nothing_and_goes_on_after_a_kill(data: Path, tmp_path: Path) -> None:
    path, manifest = backed_up(data, tmp_path / "backups")
    with pytest.raises(RejectedError, match=r"expected an empty data directory.*inner, node.key"):
        restoring.restore(path, manifest, data)
    half = tmp_path / "half"
    (half / "inner").mkdir(parents=True)
    (half / "inner" / "entry").write_text("half of it")
    (half / HALF_RESTORED).touch()
    with pytest.raises(UnavailableError, match="in part"):
        restoring.check_whole(half)
    restoring.restore(path, manifest, half)
    restoring.check_whole(half)
    assert (half / "inner" / "entry").read_bytes() == (data / "inner" / "entry").read_bytes()


@pytest.mark.parametrize("target", ["../../etc/passwd", "a/../../b"])
def test_a_restore_stays_in_its_directory(data: Path, tmp_path: Path, target: str) -> None:
    with writing(tmp_path / "backups", "node", "a") as unfinished:
        unfinished.files.store(data / "node.key", target)
        path, _ = unfinished.finish(data, keys={}, ledger={})
    with pytest.raises(RejectedError, match="within the backup"):
        Manifest.read(path)


def append(log: BlockLog, number: int, previous: str) -> str:
    """Append a block without batches; return its id."""
    root = f"{number:064x}"
    block = build_block(
        KEY,
        [],
        block_num=number,
        previous_block_id=previous,
        consensus=os.urandom(400),
        state_root_hash=root,
    )
    log.append(encode_record(stored_block(block, [])))
    return block.header_signature


@pytest.fixture
def log(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BlockLog]:
    monkeypatch.setattr(copying, "PIECE_BYTES", 1000)
    with closing(BlockLog.open(data / "chain.log")) as made:
        assert list(made.recover(START)) == []
        yield made


def copied(data: Path, directory: Path) -> tuple[Path, Manifest]:
    with writing(directory, "node", "a") as unfinished:
        ledger: dict[str, Any] = copy_log(data / "chain.log", unfinished.files)
        return unfinished.finish(data, keys={}, ledger=ledger)


def test_a_log_is_copied_in_pieces_of_which_only_the_last_changes(
    data: Path, log: BlockLog, tmp_path: Path
) -> None:
    previous, made = NULL_BLOCK_ID, []
    for number in range(12):
        previous = append(log, number, previous)
        path, manifest = copied(data, tmp_path / "backups")
        assert manifest.ledger["block_id"] == previous
        made.append((path, manifest))
    for path, manifest in made:
        assert [each.id for each in chain_of(path, manifest)][-1] == manifest.ledger["block_id"]
        assert problems(path) == []
    for (before, manifest), (after, _) in pairwise(made):
        for each in manifest.files[:-1]:
            assert (before / each.path).samefile(after / each.path)
    again = tmp_path / "again"
    restoring.restore(*made[7], again)
    with closing(BlockLog.open(again / "chain.log")) as log_again:
        assert len(list(log_again.recover(START))) == 8
    pieces = sorted((made[-1][0] / "data").glob("chain.log.*"))
    assert b"".join(each.read_bytes() for each in pieces) == (data / "chain.log").read_bytes()


def test_a_record_that_is_being_written_is_left_for_the_next_backup(
    data: Path, log: BlockLog, tmp_path: Path
) -> None:
    first = append(log, 0, NULL_BLOCK_ID)
    end = log.end
    append(log, 1, first)
    whole = (data / "chain.log").read_bytes()
    for size in range(end, len(whole), 23):
        (data / "chain.log").write_bytes(whole[:size])
        with closing(BlockLog.open(data / "chain.log")):
            assert copied(data, tmp_path / f"{size}")[1].ledger["block_id"] == first


def test_a_damaged_log_is_refused_and_the_good_backup_stays(
    data: Path, log: BlockLog, tmp_path: Path
) -> None:
    previous = append(log, 0, NULL_BLOCK_ID)
    good, manifest = copied(data, tmp_path / "backups")
    place = log.end
    for number in range(1, 4):
        previous = append(log, number, previous)
    wire = bytearray((data / "chain.log").read_bytes())
    wire[place + 100] ^= 1
    (data / "chain.log").write_bytes(wire)
    with pytest.raises(RejectedError, match="a whole one follows"):
        copied(data, tmp_path / "backups")
    assert shelf.newest(tmp_path / "backups", "node") == (good, manifest)


def test_another_chain_shares_nothing_with_the_backup_before(data: Path, tmp_path: Path) -> None:
    for each in range(2):
        previous = NULL_BLOCK_ID
        with closing(BlockLog.open(data / "chain.log")) as made:
            assert list(made.recover(START)) == []
            for number in range(6):
                previous = append(made, number, previous)
        path, manifest = copied(data, tmp_path / "backups")
        assert [block.id for block in chain_of(path, manifest)][-1] == previous
        assert len(shelf.backups(tmp_path / "backups", "node")) == each + 1
        (data / "chain.log").unlink()


def test_a_chain_that_contradicts_its_manifest_is_refused(
    data: Path, log: BlockLog, tmp_path: Path
) -> None:
    first = append(log, 0, NULL_BLOCK_ID)
    append(log, 5, first)
    path, manifest = copied(data, tmp_path / "backups")
    with pytest.raises(RejectedError, match="expected block 1 after"):
        list(chain_of(path, manifest))


def test_a_database_is_copied_with_its_checksums_while_it_is_written(tmp_path: Path) -> None:
    with closing(open_kept(tmp_path / "inbox.db", INBOX)) as database:
        with database.transaction() as rows:
            rows.execute("CREATE TABLE more (n INTEGER)")
            rows.executemany("INSERT INTO more VALUES (?)", [(n,) for n in range(5000)])
        with database.transaction() as rows:
            rows.execute("DELETE FROM more WHERE n = 0")
            copy_database(tmp_path / "inbox.db", tmp_path / "copy.db")  # does not wait
    assert has_checksums(tmp_path / "copy.db")
    with closing(open_checked(tmp_path / "copy.db", readonly=True, unshared=True)) as copy:
        assert copy.execute("SELECT count(*) FROM more").fetchone() == (5000,)
    wire = bytearray((tmp_path / "inbox.db").read_bytes())
    wire[-2000] ^= 1
    (tmp_path / "inbox.db").write_bytes(wire)
    with pytest.raises(RejectedError, match="damaged"):
        copy_database(tmp_path / "inbox.db", tmp_path / "second.db")


def test_the_manifest_says_what_is_of_use_without_our_tools(data: Path, tmp_path: Path) -> None:
    path, manifest = backed_up(data, tmp_path / "backups")
    document = json.loads((path / FILE).read_text())
    assert document["manifest"]["data"] == str(data)
    assert {each["path"]: each["sha256"] for each in document["manifest"]["files"]} == {
        each.path: each.sha256 for each in manifest.files
    }
