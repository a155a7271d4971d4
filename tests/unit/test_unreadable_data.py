"""What cannot be read in the data directory ends the start with one clear error that names it."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.runtime.schema import Schema
from gateway.access import Role, Tokens
from gateway.services import Services
from gateway.settings import Settings
from storage.checked.damage import DamageNotes
from storage.checked.kept import open_kept

SCHEMA = Schema("visits", ("CREATE TABLE visits (number INTEGER PRIMARY KEY);",))


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("gateway") / "data"
    data.mkdir()
    start(data)
    return data


def start(data: Path) -> None:
    with closing(Services(Settings(data=data, site_id="site-b"))):
        pass


@contextmanager
def unreadable(monkeypatch: pytest.MonkeyPatch, path: Path) -> Iterator[None]:
    """Have the medium fail whenever somebody asks what is at a path."""
    real = os.stat

    def stat(
        asked: str | Path, *, dir_fd: int | None = None, follow_symlinks: bool = True
    ) -> os.stat_result:
        if str(asked) == str(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(asked, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", stat)
        yield


def a_directory(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def a_loop(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(path)


@pytest.mark.parametrize("suffix", ["", "-wal"])
@pytest.mark.parametrize("make", [a_directory, a_loop])
def test_what_is_no_file_is_named(
    tmp_path: Path, suffix: str, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "visits.db"
    open_kept(path, SCHEMA).close()
    make(path.with_name(f"visits.db{suffix}"))
    damage = DamageNotes()
    with pytest.raises(UnavailableError, match=f"^visits {path}: .*[Dd]irectory|links|unable"):
        open_kept(path, SCHEMA, damage)
    assert damage.told() == []


@pytest.mark.parametrize("name", ["inbox.db", "gateway.key", "deletions.db", "recordings"])
def test_a_medium_that_fails_ends_the_start_with_one_clear_error(
    worked: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with (
        unreadable(monkeypatch, worked / name),
        pytest.raises(UnavailableError, match=rf"{name}: Input/output error \(EIO\)"),
    ):
        start(worked)
    start(worked)


def test_an_index_that_is_no_file_is_named(worked: Path) -> None:
    index = worked / "index.db"
    for suffix in ("", "-wal"):
        index.with_name(f"index.db{suffix}").unlink(missing_ok=True)
    index.mkdir()
    try:
        with pytest.raises(UnavailableError, match=f"^index {index}: .*directory"):
            start(worked)
    finally:
        index.rmdir()


def test_tokens_that_cannot_be_read_admit_nobody_and_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, damage = tmp_path / "tokens.json", DamageNotes()
    token = Tokens(path).add("truck-1", Role.DEVICE)
    tokens = Tokens(path, damage)
    with unreadable(monkeypatch, path):
        assert tokens.caller(token) is None
        assert tokens.caller(token) is None
        (told,) = damage.told()
        assert "tokens.json: Input/output error (EIO)" in told
    assert tokens.caller(token) is not None
