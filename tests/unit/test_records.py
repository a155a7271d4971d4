"""Typed questions to the index: which digest counts, whose batch it is, what a page holds."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.chunktree import EMPTY_ROOT, leaf_hash, root_hash
from contracts.encoding import canonical
from contracts.proto.payload_pb2 import RecordVideo, StartTrip
from contracts.proto.state_pb2 import Party
from gateway.index.store import IndexStore
from gateway.records.blocks import BlockRecord
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
    index.add({"videos": [(SHA256, trip_id, canonical(action), f"tx {trip_id}", 1)]})


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
            "trips": [("T", "truck-1", start, "tx", 1)],
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
