"""Files that are whole or not there, and locks that one process holds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.files import locked
from device.files import create


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
