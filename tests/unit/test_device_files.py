"""Files that are whole or not there, and locks that one process holds."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.runtime.files import create, in_turn, locked, make_directory, write_file
from device.journal.database import Database
from support.network.world import key


def broken() -> Iterator[bytes]:
    yield b"some"
    raise OSError(28, "No space left on device")


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    with pytest.raises(UnavailableError, match="No space left"):
        create(path, broken())
    assert list(path.parent.iterdir()) == []
    create(path, [b"a", b"b"])
    with pytest.raises(RejectedError, match="exists"):
        create(path, [b"c"])
    assert [item.read_bytes() for item in path.parent.iterdir()] == [b"ab"]


def test_a_lock_is_held_once_and_freed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with (
        locked(path, "another wayseal-device is recording"),
        pytest.raises(UnavailableError, match="another wayseal-device is recording"),
        locked(path, "another wayseal-device is recording"),
    ):
        pytest.fail("the lock was held twice")
    with locked(path, "another wayseal-device is recording"):
        pass


def test_an_error_of_the_work_is_not_taken_for_a_lock_that_is_held(tmp_path: Path) -> None:
    with pytest.raises(BlockingIOError), locked(tmp_path / "lock", "another one works"):
        raise BlockingIOError("of the work itself")


def test_a_lock_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "lock"
    with pytest.raises(UnavailableError, match=r"cannot lock .*ENOENT"), locked(path, "nobody"):
        pytest.fail("there is no such folder")


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files away")
def test_what_root_makes_belongs_to_the_owner_of_its_directory(tmp_path: Path) -> None:
    service, folder = 54321, tmp_path / "data"
    folder.mkdir()
    os.chown(folder, service, service)
    roots = folder / "roots-own"
    roots.touch()
    (folder / "lock").symlink_to(roots)
    with locked(folder / "lock", "nobody"), in_turn(folder / "other.lock"):
        write_file(folder / "a" / "tokens", b"{}", temporary=folder / "a" / "new", mode=0o600)
    make_directory(folder / "b" / "c")
    create(folder / "video", [b"frame"])
    with Database(folder / "journal", "truck-1", key("truck-1").public_key):
        written = [each.name for each in folder.glob("journal*")]
        assert {(folder / name).stat().st_uid for name in written} == {service}
    Signer.load_or_create(folder / "device.key")
    for path in ("device.key", "video", "other.lock", "a", "a/tokens", "b", "b/c"):
        assert (folder / path).stat().st_uid == service, path
        assert (folder / path).stat().st_gid == service, path
    assert roots.stat().st_uid == 0  # a link to another's file gives nothing away
