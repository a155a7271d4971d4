"""Journals of versions before, as text.

In golden/journal-v1.sql is an open trip: five of forty readings of `write_log`, three to a batch.
In golden/journal-v2.sql is a sealed trip of five readings, without a receipt.
"""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.runtime.sqlite import VersionedDatabase
from device.journal.database import JOURNAL, Database
from device.journal.logbook import Logbook
from device.journal.outbox import Outbox
from support.network.world import key
from support.trucks.truck import RUNS, Truck, walk, write_log

pytestmark = pytest.mark.integration
GOLDEN = Path(__file__).parents[1] / "golden"


def old_truck(folder: Path, sections: str, version: int = 1) -> Truck:
    truck = Truck(folder, sections)
    connection = sqlite3.connect(truck.data / "journal.sqlite")
    connection.executescript((GOLDEN / f"journal-v{version}.sql").read_text("utf-8"))
    connection.close()
    return truck


def schema(path: Path) -> list[tuple[str, ...]]:
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT name FROM sqlite_schema ORDER BY name").fetchall()
        return rows + [
            row for (table,) in rows for row in connection.execute(f"PRAGMA table_info({table})")
        ]
    finally:
        connection.close()


@pytest.mark.parametrize("sections", ["", RUNS], ids=["one", "runs"])
def test_an_interrupted_trip_goes_on(tmp_path: Path, sections: str) -> None:
    truck = old_truck(tmp_path / "truck", sections)
    (trip,) = truck.must("status")["trips"]
    assert (trip["state"], trip["readings"]) == ("open", 5)
    assert trip["batches"] == {"open": 1, "held": 0, "refused": 0, "unbatched": 2, "unsigned": 0}
    made = truck.must("record", "--readings", write_log(tmp_path / "log.csv", 40))
    assert (made["trip"], made["readings"]) == (trip["trip"], 40)
    _, records, _ = walk(truck.batches())
    assert [record.sequence for record in records] == list(range(40))


@pytest.mark.parametrize("version", [1, 2])
def test_an_upgraded_journal_is_like_a_new_one(tmp_path: Path, version: int) -> None:
    truck, new = old_truck(tmp_path / "old", "", version), Truck(tmp_path / "new")
    truck.must("status")
    new.must("status")
    assert schema(truck.data / "journal.sqlite") == schema(new.data / "journal.sqlite")


def test_a_sealed_trip_goes_on_to_a_provisional_receipt(tmp_path: Path) -> None:
    truck = old_truck(tmp_path / "truck", "", 2)
    (trip,) = truck.must("status")["trips"]
    assert (trip["state"], trip["readings"], trip["receipt"], trip["lacking"]) == (
        "sealed",
        5,
        None,
        [],
    )
    batches = truck.batches()
    path = truck.data / "journal.sqlite"
    with Database(path, "truck-1", key("truck-1").public_key) as database:
        outbox = Outbox(database)
        assert outbox.keep_provisional(trip["trip"], b"", ["a copy"])
        assert outbox.provisional() == {trip["trip"]: ["a copy"]}
    assert truck.batches() == batches


def test_an_upgrade_is_whole_or_not_at_all(tmp_path: Path) -> None:
    truck = old_truck(tmp_path / "truck", "")
    path = truck.data / "journal.sqlite"
    before = schema(path)
    broken = (*JOURNAL.steps, "CREATE TABLE last (number INTEGER); CREATE TABLE lacking (what);")
    with pytest.raises(UnavailableError, match="table lacking already exists"):
        VersionedDatabase(path, replace(JOURNAL, steps=broken))
    assert schema(path) == before
    with Database(path, "truck-1", key("truck-1").public_key) as database:
        assert database.one("PRAGMA user_version") == (JOURNAL.version,)
        (trip,) = Logbook(database, journal_bytes_max=1, video_bytes_max=1).trips()
        assert (trip.readings, trip.device_id, trip.joined_at_ms) == (5, "truck-1", None)
        assert database.query("SELECT readings FROM pending") == [(1,), (1,)]
