"""A block goes into an index under other names, so that a short chain fills a long index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.proto.payload_pb2 import Clock, RecordReading
from demo.renamed import ANY_BLOCK, renamed
from gateway.index.projection import Projected, Row
from gateway.index.readings import new_readings
from gateway.index.store import IndexStore

TRIP, BATCH = "ab" * 16, "cd" * 64
SHORT = -(1 << 62)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexStore]:
    store = IndexStore(tmp_path / "index.db")
    yield store
    store.close()


def test_each_turn_has_trips_ids_and_blocks_of_its_own(index: IndexStore) -> None:
    reading = RecordReading(trip_id=TRIP, device_id="truck-1", clock=Clock(utc_ms=1))
    rows: dict[str, list[Row]] = {
        "blocks": [(ANY_BLOCK, "ef" * 64, b"")],
        "batches": [
            (f"trip {TRIP}", BATCH, "key", ANY_BLOCK, 0),
            (f"time {ANY_BLOCK}", BATCH, "key", ANY_BLOCK, 0),
        ],
        "new_transactions": [(SHORT, ANY_BLOCK, 0)],
        "dependencies": [(0, SHORT, ANY_BLOCK)],
    }
    for turn in range(2):
        again = Projected(rows, [new_readings(reading, bytes(64))])
        index.add(*renamed(again, turn, turn + 5))
    names = index.query("SELECT DISTINCT trip_id, device_id, transaction_id FROM warm_readings")
    assert len({trip for trip, _, _ in names}) == len({each for _, _, each in names}) == 2
    assert {device for _, device, _ in names} == {"truck-1"}
    subjects = {each for (each,) in index.query("SELECT subject FROM batches")}
    assert {f"trip {trip}" for trip, _, _ in names} < subjects
    assert {"time 5", "time 6"} < subjects
    depends = "SELECT block_num, short_id FROM dependencies ORDER BY 1"
    placed = "SELECT block_num, short_id FROM new_transactions ORDER BY 1"
    assert index.query(depends) == index.query(placed)
    assert [number for number, _ in index.query(depends)] == [5, 6]
    assert len({short for _, short in index.query(depends)}) == 2
