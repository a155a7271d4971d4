"""A database that is removed or replaced while it is open takes nothing more: it would be lost."""

import shutil
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import VersionedDatabase
from storage.checked.damage import DamageNotes
from storage.checked.kept import open_kept

SCHEMA = Schema("visits", ("CREATE TABLE visits (number INTEGER PRIMARY KEY);",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "visits.db"


def add(database: VersionedDatabase, number: int) -> None:
    with database.transaction() as db:
        db.execute("INSERT INTO visits VALUES (?)", (number,))


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_what_could_not_be_found_again_is_not_acknowledged(
    path: Path, tmp_path: Path, suffix: str, *, replaced: bool
) -> None:
    file, aside = Path(f"{path}{suffix}"), tmp_path / "aside"
    damage = DamageNotes()
    with open_kept(path, SCHEMA, damage) as database:
        add(database, 1)
        file.rename(aside)
        if replaced:
            shutil.copyfile(aside, file)
        with pytest.raises(UnavailableError, match=f"{file} was removed or replaced"):
            add(database, 2)
        with pytest.raises(UnavailableError, match=f"{file} was removed or replaced"):
            database.check()
        assert file.exists() == replaced, "a check makes no new file"
        aside.replace(file)
        add(database, 3)
        database.check()
        assert database.query("SELECT number FROM visits") == [(1,), (3,)]
    with open_kept(path, SCHEMA, damage) as database:
        assert database.query("SELECT number FROM visits") == [(1,), (3,)]
    assert damage.told() == []
