"""Readings go into the index as small numbers, and come out as they were signed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts import address
from contracts.ledger.pages import Committed
from contracts.proto.payload_pb2 import (
    Clock,
    Position,
    RecordReading,
    RecordRun,
    RunReading,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Block, StateChange, TransactionReceipt
from contracts.proto.state_pb2 import Chain
from contracts.runtime.connection import Connection
from gateway.grants import Grant, GrantKind
from gateway.index import asking
from gateway.index.moving import Mover
from gateway.index.projection import project
from gateway.index.readings import NewReadings, new_readings
from gateway.index.store import IndexStore
from gateway.records.pages import Span
from gateway.records.records import Records
from support.network.world import Trip, reading

LATEST = (1 << 63) - 1
BOOT = bytes(range(16))
FULL = RunReading(
    clock=Clock(utc_ms=9, monotonic_ms=LATEST, boot_id=BOOT, origin=Clock.GNSS, error_ms=0),
    temperature_mcel=-273_150,
    humidity_mpct=0,
    pressure_pa=2_000_000,
    position=Position(latitude_e7=-900_000_000, longitude_e7=1_800_000_000, accuracy_cm=1 << 31),
    tamper_flags=257,
    derived=True,
)
EMPTY = RunReading(clock=Clock(boot_id=bytes(16)))
AT_NULL = RunReading(clock=Clock(utc_ms=8, boot_id=BOOT), position=Position())


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexStore]:
    store = IndexStore(tmp_path / "index.db")
    for trip_id in "AB":
        start = StartTrip(trip_id=trip_id).SerializeToString()
        store.add({"trips": [(trip_id, "truck-1", start, "tx", 0, 0)]})
    yield store
    store.close()


def run(trip_id: str, first: int, *readings: RunReading, name: int = 0) -> NewReadings:
    action = RecordRun(
        trip_id=trip_id, device_id="truck-1", first_sequence=first, readings=readings
    )
    return new_readings(action, bytes([name]) * 64)


def block(index: IndexStore, number: int, *added: NewReadings) -> None:
    index.add({"blocks": [(number, f"id {number}", b"")]}, added)


def told(index: IndexStore, trip_id: str, span: Span = Span()) -> list[tuple[int, int, str, int]]:  # noqa: B008 - frozen
    """Return position, number, transaction and block of a trip's readings."""
    found = Records(index).trips.readings(trip_id, 0, 1000, span)
    return [(at, each.sequence, each.transaction_id, each.block_num) for at, each in found]


@pytest.mark.parametrize("reading", [FULL, EMPTY, AT_NULL], ids=["full", "empty", "at null"])
def test_a_reading_comes_back_as_signed_alone_or_in_a_run(
    index: IndexStore, reading: RunReading
) -> None:
    wire = reading.SerializeToString()
    place = RecordReading(trip_id="A", device_id="truck-1", sequence=LATEST)
    alone = RecordReading.FromString(place.SerializeToString() + wire)
    block(index, 0, new_readings(alone, bytes(64)), run("A", 3, EMPTY, reading))
    found = [each for _, each in Records(index).trips.readings("A", 0, 10)]
    assert [each.record.SerializeToString() for each in (found[0], found[2])] == [wire, wire]
    assert [each.sequence for each in found] == [LATEST, 3, 4]
    assert {each.device_id for each in found} == {"truck-1"}


def test_what_a_reading_says_besides_is_not_kept(index: IndexStore) -> None:
    reading = RunReading(clock=FULL.clock)
    reading.filmed.add(size=7)
    block(index, 0, run("A", 0, reading))
    ((_, found),) = Records(index).trips.readings("A", 0, 10)
    assert found.record == RecordReading(clock=FULL.clock)


def test_positions_count_all_readings_in_the_order_of_the_ledger(index: IndexStore) -> None:
    block(index, 0, run("B", 0, EMPTY, EMPTY, name=1), run("A", 0, EMPTY, name=2))
    block(index, 1)
    block(index, 2, run("A", 1, EMPTY, EMPTY, name=3), run("B", 2, EMPTY, name=4))
    assert told(index, "A") == [(3, 0, "02" * 64, 0), (4, 1, "03" * 64, 2), (5, 2, "03" * 64, 2)]
    assert [each[0] for each in told(index, "B", Span(newest_first=True))] == [6, 2, 1]
    index.cut(1)
    block(index, 2, run("B", 2, EMPTY, name=5))
    assert told(index, "B")[-1] == (4, 2, "05" * 64, 2)


def test_names_of_a_cut_block_are_given_again(index: IndexStore) -> None:
    block(index, 0, run("A", 0, EMPTY))
    block(index, 1, run("B", 0, FULL))
    index.cut(0)
    assert told(index, "B") == []
    block(index, 1, run("B", 0, AT_NULL, name=9))
    assert told(index, "B") == [(2, 0, "09" * 64, 1)]


def test_a_reader_with_a_grant_sees_the_readings_of_that_trip_alone(index: IndexStore) -> None:
    block(index, 0, run("A", 0, FULL, FULL, name=1), run("B", 0, FULL, name=2))
    seen = Records(index).granted(frozenset([Grant(GrantKind.TRIP, "A")]))
    found = seen.trips.readings("A", 0, 10)
    assert [each.transaction_id for _, each in found] == ["01" * 64] * 2
    counted = "SELECT count(*) FROM "
    tables = ("warm_readings", "kept_readings", "names", "boots", "positions")
    granted = seen.trips._index  # noqa: SLF001 - what its questions are asked of
    assert [granted.query(counted + each)[0][0] for each in tables] == [2, 0, 0, 0, 0]
    of_trip = f"{counted}readings WHERE trip_id = ?"
    told = [granted.of_trip(each, of_trip, each)[0][0] for each in "AB"]
    assert told == [2, 0]


@pytest.mark.parametrize("where", ["index", "cold file", "both"])
@pytest.mark.parametrize("granted", [False, True])
def test_no_question_about_a_trips_readings_reads_those_of_others(
    index: IndexStore, monkeypatch: pytest.MonkeyPatch, *, granted: bool, where: str
) -> None:
    """Long pages, sums, signs and sights are asked; each finds the trip by its number."""
    block(index, 0, run("A", 0, FULL, FULL, FULL))
    if where != "index":
        index.add({"trip_entries": [("A", b"", 1, 0)], "block_times": [(0, 0)]})
        index.add({"blocks": [(1, "id 1", b"")], "block_times": [(1, 86_400)]})
        assert Mover(index, 1).run().readings == 3
    if where == "both":
        block(index, 2, run("A", 3, FULL))
    query, plans = index.query, []

    def planned(sql: str, *values: object) -> list[tuple[object, ...]]:
        if "FROM warm_readings WHERE" in sql or "FROM signs WHERE" in sql:
            note(query(f"EXPLAIN QUERY PLAN {sql}", *values))
        return query(sql, *values)

    def planned_of_trip(
        db: Connection, source: str, sql: str, values: tuple[object, ...], tables: str
    ) -> list[tuple[object, ...]]:
        asked = f"WITH all_readings AS ({source}), {tables} {sql}"
        note(db.execute(f"EXPLAIN QUERY PLAN {asked}", values).fetchall())
        return db.execute(asked, values).fetchall()

    def note(plan: list[tuple[Any, ...]]) -> None:
        steps = [row[3] for row in plan]
        plans.append([step for step in steps if " kept" in step or " cold" in step])
        # A merge of two ordered sources sorts nothing.
        sorts.extend(steps if any("B-TREE FOR ORDER BY" in step for step in steps) else [])

    sorts: list[str] = []
    monkeypatch.setattr(index, "query", planned)
    monkeypatch.setattr(asking, "_asked", planned_of_trip)
    records = Records(index)
    if granted:
        records = records.granted(frozenset([Grant(GrantKind.TRIP, "A")]))
    assert records.trips.readings("A", 1, 10)
    assert records.trips.bucketed("A", 1, device_id="truck-1").readings
    assert records.trips.get("A").readings
    assert records.trips.grounds("A") is not None
    assert len(plans) > 4
    steps = [step for plan in plans for step in plan]
    assert all("(trip=?" in step for step in steps), steps
    assert sorts == [], sorts
    assert any("readings_with_signs" in step for step in steps)


def test_a_hash_that_looks_like_a_seal_is_none() -> None:
    """Its first bytes are those before the id of a seal's transaction in a chain's entry."""
    (batch, *_) = Trip().whole([reading(0)])
    looks_so = b"\x4a\x80\x01" + bytes(29)
    value = Chain(device_id="truck-1", count=5, head_sha256=looks_so).SerializeToString()
    change = StateChange(address=address.chain("T", "truck-1"), value=value, type=StateChange.SET)
    receipts = [
        TransactionReceipt(transaction_id=each.header_signature, state_changes=[change])
        for each in batch.transactions
    ]
    projected = project(Committed(Block(batches=[batch]), receipts), 1)
    assert len(projected.rows["new_transactions"]) == len(batch.transactions)
    assert "chains" not in projected.rows
