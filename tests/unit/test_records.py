"""Typed questions to the index: which digest counts, whose batch it is, what a page holds."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.chunktree import EMPTY_ROOT, leaf_hash, root_hash
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Clock, RecordReading, RecordVideo, StartTrip
from contracts.proto.state_pb2 import Breach, Party
from gateway.index.readings import new_readings
from gateway.index.store import IndexStore
from gateway.records.blocks import BlockRecord
from gateway.records.pages import EVERYTHING, Span
from gateway.records.records import Records
from gateway.records.registry import NotOnLedgerError
from storage.recordings.manifest import StoredRecording

SHA256 = b"s" * 32
LEAVES = (leaf_hash(b"video"),)
STORED = StoredRecording(SHA256, 5, root_hash(LEAVES), LEAVES, ())


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexStore]:
    store = IndexStore(tmp_path / "index.db")
    yield store
    store.close()


@pytest.fixture
def records(index: IndexStore) -> Records:
    return Records(index)


def say(index: IndexStore, trip_id: str, size: int, tree_root: bytes) -> None:
    """Put a digest of the recording on record."""
    action = RecordVideo(sha256=SHA256, trip_id=trip_id, size=size, tree_root=tree_root)
    index.add({"videos": [(SHA256, trip_id, canonical(action), f"tx {trip_id}", 0, 0, 1)]})


def counting(records: Records, stored: StoredRecording | None) -> list[str]:
    found = records.digests.that_count(SHA256, lambda _: stored)
    assert found.stored is stored
    return [each.digest.trip_id for each in found.digests]


def test_digests_that_fit_the_bytes_count(index: IndexStore, records: Records) -> None:
    say(index, "lie", 6, STORED.tree_root)
    say(index, "truth", STORED.size, STORED.tree_root)
    say(index, "another lie", STORED.size, EMPTY_ROOT)
    assert counting(records, STORED) == ["truth"]
    assert records.digests.trip_ids(SHA256) == {"lie", "truth", "another lie"}


def test_without_bytes_digests_count_only_if_they_agree(
    index: IndexStore, records: Records
) -> None:
    say(index, "first", STORED.size, STORED.tree_root)
    say(index, "second", STORED.size, STORED.tree_root)
    assert counting(records, None) == ["first", "second"]
    say(index, "third", STORED.size, EMPTY_ROOT)
    with pytest.raises(NotOnLedgerError, match="contradict"):
        counting(records, None)


def test_no_digest_counts_that_fits_nothing(index: IndexStore, records: Records) -> None:
    say(index, "lie", 6, STORED.tree_root)
    with pytest.raises(NotOnLedgerError, match="tree root"):
        counting(records, replace(STORED, copies=()))


def test_bytes_are_looked_for_only_if_a_digest_is_committed(records: Records) -> None:
    def find(_: bytes) -> StoredRecording | None:
        raise AssertionError("no store is asked about a recording that nobody announced")

    with pytest.raises(NotOnLedgerError, match=SHA256.hex()):
        records.digests.that_count(SHA256, find)


def test_a_batch_is_told_only_to_a_device_that_recorded_on_its_trip(
    index: IndexStore, records: Records
) -> None:
    start = canonical(StartTrip(trip_id="T", device_id="truck-1"))
    index.add(
        {
            "trips": [("T", "truck-1", start, "tx", 0, 1)],
            "batches": [("start T", "batch", "key", 1, 0), ("trip T", "batch", "key", 1, 0)],
        }
    )
    assert records.visits.trip_of("batch", "truck-1") == "T"
    assert records.visits.trip_of("batch", "truck-2") is None
    assert records.visits.trip_of("other", "truck-1") is None
    assert records.visits.uncommitted({"batch", "other"}) == {"other"}


def test_a_record_that_changed_is_listed_once_as_it_stands(
    index: IndexStore, records: Records
) -> None:
    for party_id, name in (("a", "old"), ("b", "b"), ("a", "new")):
        entry = canonical(Party(party_id=party_id, name=name, public_keys=[name]))
        index.add({"parties": [(party_id, entry, 1)], "keys": [(name, f"party {party_id}", 1)]})
    (at, first), (_, second) = records.parties.listed(0, 10)
    assert [first.entry.name, second.entry.name] == ["b", "new"]
    assert second.revoked_keys == ("old",)
    assert [each.entry.name for _, each in records.parties.listed(at, 10)] == ["new"]
    assert len(records.parties.listed(0, 1)) == 1
    assert records.parties.get("a").entry.name == "new"
    with pytest.raises(NotOnLedgerError, match="no party 'c'"):
        records.parties.get("c")


def test_blocks_are_known_by_height_and_id(index: IndexStore, records: Records) -> None:
    assert (records.blocks.head(), records.blocks.genesis_id()) == (None, None)
    for number in range(3):
        index.add({"blocks": [(number, f"block {number}", b"")]})
    assert records.blocks.head() == BlockRecord(2, "block 2")
    assert records.blocks.genesis_id() == "block 0"
    assert records.blocks.has(1, "block 1")
    assert not records.blocks.has(1, "block 2")
    assert not records.blocks.has(3, "block 3")
    assert [each.block_num for each in records.blocks.newest(2)] == [2, 1]


def driven(index: IndexStore, trip_id: str, started_ms: int, *device_ids: str) -> None:
    start = canonical(StartTrip(trip_id=trip_id, device_id=device_ids[0], started_at_ms=started_ms))
    named: list[tuple[object, ...]] = [(device_id, trip_id, 1) for device_id in device_ids]
    row: tuple[object, ...] = (trip_id, device_ids[0], start, f"tx {trip_id}", started_ms, 1)
    index.add({"trips": [row], "trip_devices": named})


def sealed(index: IndexStore, trip_id: str, device_id: str, ended_ms: int) -> None:
    index.add({"chains": [(trip_id, device_id, b"", ended_ms, 1)]})


def closed(index: IndexStore, trip_id: str, closed_ms: int | None) -> None:
    index.add({"trip_entries": [(trip_id, b"", closed_ms, 1)]})


def test_trips_of_a_device_in_a_span_newest_first(index: IndexStore, records: Records) -> None:
    driven(index, "A", 10, "truck-1")
    driven(index, "B", 20, "truck-2", "truck-1")
    driven(index, "C", 30, "truck-2")
    driven(index, "D", 40, "truck-1")

    def ask(device_id: str | None, span: Span, after: int = 0, count: int = 10) -> str:
        found = records.trips.listed(after, count, device_id, span)
        return "".join(each.start.trip_id for _, each in found)

    assert ask(None, EVERYTHING) == "ABCD"
    assert ask(None, Span(newest_first=True)) == "DCBA"
    assert ask("truck-1", EVERYTHING) == "ABD"
    assert ask("truck-1", Span(newest_first=True, to_ms=40)) == "BA"
    assert ask(None, Span(to_ms=40)) == "ABC"
    (at, _), *_ = records.trips.listed(0, 1, None, Span(newest_first=True))
    assert ask(None, Span(newest_first=True), after=at, count=2) == "CB"


def test_a_trip_is_in_every_span_that_it_overlaps(index: IndexStore, records: Records) -> None:
    driven(index, "A", 100, "truck-1", "truck-2")

    def within(from_ms: int, to_ms: int) -> bool:
        return bool(records.trips.listed(0, 1, None, Span(from_ms=from_ms, to_ms=to_ms)))

    def last_ms() -> int:
        """Return the last millisecond of the trip, or 1000 while it has no end."""
        return max(at for at in (100, 200, 300, 400, 1000) if within(at, at + 1))

    assert [within(0, 100), within(0, 101), within(900, 901)] == [False, True, True]
    sealed(index, "A", "truck-1", 200)
    sealed(index, "A", "stranger", 900)
    closed(index, "A", None)
    assert last_ms() == 1000
    closed(index, "A", 300)
    assert (last_ms(), within(301, 900)) == (300, False)
    for device_id, utc_ms in (("truck-2", 400), ("stranger", 900)):
        clock = Clock(utc_ms=utc_ms)
        read = RecordReading(trip_id="A", device_id=device_id, clock=clock)
        index.add({}, [new_readings(read, bytes(64))])
    assert (last_ms(), within(401, 1000)) == (400, False)
    sealed(index, "A", "truck-2", 90)
    assert (last_ms(), within(201, 1000), within(150, 160)) == (200, False, True)


def broken(
    index: IndexStore, sequence: int, since_ms: int, extreme: int, until_ms: int | None = None
) -> None:
    entry = Breach(trip_id="A", delivery_id="d", since_sequence=sequence, extreme=extreme)
    place, wire = f"breach {sequence}", canonical(entry)
    index.add({"breaches": [("A", "d", place, wire, since_ms, until_ms, 1)]})


def test_breaches_come_by_the_time_when_each_began(index: IndexStore, records: Records) -> None:
    """The ledger has them in the order in which trucks came back."""
    for sequence, since_ms in ((1, 300), (2, 100), (3, 200), (4, 200)):
        broken(index, sequence, since_ms, 8000, since_ms + 50)

    def pages(span: Span) -> list[int]:
        found: list[int] = []
        after = 0
        while page := records.trips.all_breaches(after, 1, span):
            ((after, breach),) = page
            found.append(breach.entry.since_sequence)
        return found

    assert pages(EVERYTHING) == [2, 3, 4, 1]
    assert pages(Span(newest_first=True)) == [1, 4, 3, 2]
    assert pages(Span(from_ms=200, to_ms=300)) == [3, 4]
    assert pages(Span(from_ms=250, to_ms=251)) == [3, 4]
    assert pages(Span(from_ms=251, to_ms=300)) == []
    broken(index, 5, 220, 8000)  # it has not ended
    assert pages(Span(from_ms=290, to_ms=300)) == [5]
    broken(index, 5, 220, 8000, 220)
    ((at, _),) = records.trips.all_breaches(0, 1)
    broken(index, 2, 100, 9000, 180)  # the breach went on: it stays in its place
    rest = records.trips.all_breaches(at, 10)
    assert [each.entry.since_sequence for _, each in rest] == [3, 4, 5, 1]
    ((_, first),) = records.trips.all_breaches(0, 1)
    assert first.entry.extreme == 9000
    assert records.trips.all_breaches(0, 10, trip_id=first.entry.trip_id) == [(at, first), *rest]
    assert records.trips.all_breaches(0, 10, trip_id=first.entry.trip_id, delivery_id="other") == []
    with pytest.raises(RejectedError, match="cursor 99 is of another list"):
        records.trips.all_breaches(99, 1)
