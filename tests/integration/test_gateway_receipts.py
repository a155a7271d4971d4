"""What receipts say, when they are signed, and what happens to them when the ledger forks."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts import address
from contracts.copies import Copy, Place, Policy
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.client import BACK_OFF_S
from contracts.proto.wire_pb2 import ReceiptBody
from contracts.receipt import body_of, sign_receipt
from gateway.intake.admission import admit_records
from gateway.intake.held import HeldBatch, State
from gateway.intake.inbox import Inbox
from gateway.intake.schema import INBOX
from gateway.intake.visits import HeldVisits, Visit
from storage.recordings.manifest import StoredRecording
from support.gateways.desk import MIB, Desk, Shelf, open_desk, sealed
from support.network.world import Trip, key, reading, registrations
from support.storage.databases import edited
from support.trucks.rogue import nonce, wire_of

pytestmark = pytest.mark.integration

VOLUME = Copy(Place.VOLUME, "main", "fsync")
BLOBS = Copy(Place.BLOBS, "cassandra", "QUORUM")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as opened:
        yield opened


def copies_in(body: ReceiptBody | None) -> list[list[str]]:
    """Return the copies that a receipt names, by recording."""
    assert body is not None
    return [list(recording.copies) for recording in body.recordings]


def test_a_receipt_is_provisional_until_the_blobs_followed(desk: Desk) -> None:
    trip, (made,) = desk.visited(b"video")
    desk.shelf.copies[made.sha256] = (VOLUME,)
    desk.saga.step()
    (device_id, first), *_ = desk.sent
    assert device_id == "truck-1"
    assert copies_in(first) == [["volume:main:fsync"]]
    assert list(first.lacking) == [f"recording {made.sha256.hex()[:16]}… has no copy blobs"]
    assert not desk.is_final(trip)
    desk.look()
    assert len(desk.sent) == 1
    desk.shelf.copies[made.sha256] = (VOLUME, BLOBS)
    desk.look()
    assert [copies_in(body) for _, body in desk.sent[1:]] == [[[str(VOLUME), str(BLOBS)]]]
    assert not desk.sent[1][1].lacking
    assert desk.is_final(trip)
    desk.look()
    assert len(desk.sent) == 2


def test_a_busy_ledger_keeps_no_truck_that_is_done_from_its_receipt(desk: Desk) -> None:
    trip, _ = desk.visited(b"film")
    names = desk.hold(Trip(nonce=nonce(9)).whole([reading(0)]))
    desk.ledger.busy = len(BACK_OFF_S) + 1
    with pytest.raises(UnavailableError, match="429"):
        desk.saga.step()
    assert desk.receipt(trip) is not None
    assert set(desk.states(names)) == {State.HELD}


def test_receipts_that_are_due_together_are_kept_in_one_transaction(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips = [Trip(nonce=nonce(number)) for number in range(3)]
    batches = [trip.whole([reading(0)]) for trip in trips]
    for trip, of_trip in zip(trips, batches, strict=True):
        desk.inbox.visits.note(trip.trip_id, "truck-1")
        desk.ledger.state[address.chain(trip.trip_id, "truck-1")] = sealed(of_trip, -1)
    desk.ledger.extend([registrations(), [each for of_trip in batches for each in of_trip]])
    desk.follow()
    kept: list[int] = []
    put = HeldVisits.put_receipts

    def counted(visits: HeldVisits, receipts: Sequence[tuple[str, str, bytes, bool]]) -> None:
        kept.append(len(receipts))
        put(visits, receipts)

    monkeypatch.setattr(HeldVisits, "put_receipts", counted)
    desk.saga.step()
    assert kept == [len(trips)]
    assert {body.trip_id for _, body in desk.sent} == {trip.trip_id for trip in trips}
    assert all(desk.is_final(trip) for trip in trips)


def test_copies_that_came_unnoticed_are_seen_after_a_restart(desk: Desk) -> None:
    trip, (made,) = desk.visited(b"video")
    desk.shelf.copies[made.sha256] = (VOLUME,)
    desk.saga.step()
    desk.shelf.copies[made.sha256] = (VOLUME, BLOBS)
    desk = desk.restarted()
    desk.saga.step()
    assert desk.is_final(trip)


def test_every_recording_counts_and_each_requirement_is_said(desk: Desk) -> None:
    desk = desk.restarted(policy=Policy.parse(["volume", "blobs:EACH_QUORUM"]))
    _, (one, other) = desk.visited(b"video", b"another video")
    desk.shelf.copies |= {one.sha256: (VOLUME, BLOBS), other.sha256: (BLOBS,)}
    desk.saga.step()
    ((_, body),) = desk.sent
    assert set(body.lacking) == {
        f"recording {one.sha256.hex()[:16]}… has no copy blobs:EACH_QUORUM",
        f"recording {other.sha256.hex()[:16]}… has no copy volume",
        f"recording {other.sha256.hex()[:16]}… has no copy blobs:EACH_QUORUM",
    }


def test_without_any_copy_there_is_no_receipt(desk: Desk) -> None:
    trip, (one, other) = desk.visited(b"video", b"another video")
    desk.shelf.copies[other.sha256] = ()
    desk.saga.step()
    assert desk.sent == []
    assert "no whole copy" in desk.receipts.awaited(trip.trip_id, "truck-1")
    desk.shelf.store.delete(one.sha256)
    desk.look()
    assert desk.sent == []


def test_a_repeat_claims_no_copy_that_is_gone(desk: Desk) -> None:
    trip, (made,) = desk.visited(b"video")
    desk.shelf.copies[made.sha256] = (VOLUME, BLOBS)
    desk.saga.step()
    desk.shelf.copies[made.sha256] = (BLOBS,)
    desk.look()
    assert desk.is_final(trip)  # it was true when it was signed, and nobody asks
    desk.receipts.repeat("truck-1", [trip.trip_id])
    assert copies_in(desk.sent[-1][1]) == [[str(BLOBS)]]
    assert list(desk.sent[-1][1].lacking) == [
        f"recording {made.sha256.hex()[:16]}… has no copy volume"
    ]
    assert not desk.is_final(trip)


def test_a_later_receipt_says_so_though_the_clock_went_back(desk: Desk) -> None:
    """By that a truck tells which of two receipts is true."""
    trip, (made,) = desk.visited(b"video")
    desk.shelf.copies[made.sha256] = (VOLUME,)
    desk.saga.step()
    said = desk.sent[-1][1]
    said.issued_at_ms += 3_600_000
    wire = sign_receipt(key("gateway-buyer"), said).SerializeToString()
    desk.inbox.visits.put_receipt(trip.trip_id, "truck-1", wire, final=False)
    desk.shelf.copies[made.sha256] = (VOLUME, BLOBS)
    desk.look()
    assert desk.is_final(trip)
    assert desk.sent[-1][1].issued_at_ms == said.issued_at_ms + 1


def test_a_repeat_says_nothing_when_no_copy_is_left_and_all_when_one_is_back(desk: Desk) -> None:
    trip, (made,) = desk.visited(b"video")
    desk.saga.step()
    assert len(desk.sent) == 1
    desk.shelf.copies[made.sha256] = ()
    desk.receipts.repeat("truck-1", [trip.trip_id])
    assert len(desk.sent) == 1
    assert not desk.is_final(trip)
    desk.shelf.copies[made.sha256] = (VOLUME, BLOBS)
    desk.look()
    assert copies_in(desk.sent[-1][1]) == [[str(VOLUME), str(BLOBS)]]
    assert desk.is_final(trip)


def test_a_repeat_is_the_very_receipt_while_nothing_changed(desk: Desk) -> None:
    trip, _ = desk.visited(b"video")
    desk.saga.step()
    desk.receipts.repeat("truck-1", [trip.trip_id, trip.trip_id])
    desk.receipts.repeat("truck-2", [trip.trip_id])
    assert [body for _, body in desk.sent] == [desk.receipt(trip)] * 2


@dataclass
class BrokenShelf(Shelf):
    """A shelf on which one recording cannot be looked up."""

    broken: bytes = b""

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        if recording_id == self.broken:
            raise RejectedError("the manifest is damaged")
        return super().manifest(recording_id)


def test_a_broken_manifest_stops_no_saga(desk: Desk) -> None:
    trip, (_, other) = desk.visited(b"video", b"another video")
    desk = desk.restarted(shelf=BrokenShelf(desk.shelf.store, broken=other.sha256))
    desk.saga.step()
    assert desk.sent == []
    assert "is damaged" in desk.receipts.awaited(trip.trip_id, "truck-1")
    desk = desk.restarted(shelf=Shelf(desk.shelf.store))
    desk.saga.step()
    assert desk.is_final(trip)
    desk = desk.restarted(shelf=BrokenShelf(desk.shelf.store, broken=other.sha256))
    desk.receipts.repeat("truck-1", [trip.trip_id])
    assert len(desk.sent) == 1
    assert desk.is_final(trip)  # what could not be looked up is not gone


def test_a_receipt_waits_for_its_confirmations(desk: Desk) -> None:
    desk = desk.restarted(confirmations=2)
    trip, _ = desk.committed()
    for upon in (0, 1):
        assert desk.sent == []
        words = f"block 2 has {upon} of 2 confirmations"
        assert desk.receipts.awaited(trip.trip_id, "truck-1") == words
        desk.ledger.extend([[]])
        desk.follow()
        desk.saga.step()
    ((_, body),) = desk.sent
    assert (body.block_num, body.confirmations) == (2, 2)
    assert desk.receipts.awaited(trip.trip_id, "truck-1") == ""


def test_what_a_fork_drops_before_its_confirmations_is_submitted_again(
    desk: Desk, tmp_path: Path
) -> None:
    desk = desk.restarted(confirmations=2)
    trip, batches = desk.committed(readings=60)
    names = [batch.header_signature for batch in batches]
    with pytest.raises(UnavailableError, match="inbox is full"), closing(narrow(tmp_path)) as full:
        full.add(held(readings=40), [])
    desk.go_back(trip)
    desk.saga.step()
    assert desk.sent == []
    assert desk.ledger.submitted == [names, names]
    desk.commit_again(trip, batches, "another branch")
    desk.ledger.extend([[], [], []])
    desk.follow()
    desk.saga.step()
    ((_, body),) = desk.sent
    assert (body.block_num, body.confirmations) == (3, 3)
    assert body.block_id == desk.ledger.blocks[3].header_signature


def narrow(directory: Path) -> Inbox:
    """Open the inbox once more, with room for nothing without dropping something."""
    return Inbox(directory / "inbox.db", bytes_max=150_000, quarantine_bytes_max=MIB)


def held(readings: int) -> list[HeldBatch]:
    later = Trip(nonce=nonce(3)).whole([reading(at) for at in range(readings)], size=3)
    return [admit_records(wire_of(batch), "truck-1") for batch in later]


def test_a_repeat_names_no_block_that_is_gone(desk: Desk) -> None:
    trip, batches = desk.committed()
    assert len(desk.sent) == 1
    desk.go_back(trip)
    desk.receipts.repeat("truck-1", [trip.trip_id])
    assert len(desk.sent) == 1
    assert desk.is_final(trip)
    desk.saga.step()
    desk.commit_again(trip, batches, "another branch")
    assert [body.block_num for _, body in desk.sent] == [2, 3]


def test_bytes_are_kept_while_the_receipt_is_provisional(desk: Desk, tmp_path: Path) -> None:
    trip, (made,) = desk.visited(b"video")
    batches = Trip().whole([reading(at) for at in range(60)], size=30)
    desk.shelf.copies[made.sha256] = (VOLUME,)
    desk.saga.step()
    names = desk.hold(batches)
    desk.inbox.mark(names, State.COMMITTED)
    assert not desk.is_final(trip)
    with pytest.raises(UnavailableError, match="inbox is full"), closing(narrow(tmp_path)) as full:
        full.add(held(readings=40), [])
    desk.shelf.copies[made.sha256] = (VOLUME, BLOBS)
    desk.look()
    with closing(narrow(tmp_path)) as full:
        full.add(held(readings=40), [])
    assert [held.wire for held in map(desk.inbox.batch, names) if held] == [b""] * len(names)


def test_an_inbox_of_version_1_keeps_all_it_has(tmp_path: Path) -> None:
    path, trip = tmp_path / "inbox.db", Trip()
    wire = sign_receipt(key("gateway-buyer"), ReceiptBody(trip_id=trip.trip_id, block_num=9))
    database = sqlite3.connect(path)
    database.executescript(f"{INBOX.steps[0]} PRAGMA user_version = 1;")
    for statement, values in (
        ("INSERT INTO visits VALUES (?, 'truck-1', 5)", (trip.trip_id,)),
        ("INSERT INTO visits VALUES ('other', 'truck-1', 6)", ()),
        (
            "INSERT INTO receipts VALUES (?, 'truck-1', ?)",
            (trip.trip_id, wire.SerializeToString()),
        ),
        ("INSERT INTO network VALUES (0, 'genesis')", ()),
    ):
        database.execute(statement, values)
    database.commit()
    database.close()
    for _ in range(2):
        with closing(Inbox(path, bytes_max=MIB, quarantine_bytes_max=MIB)) as inbox:
            kept = inbox.visits.receipt(trip.trip_id, "truck-1")
            assert kept is not None
            assert kept.final
            assert body_of(kept.wire).block_num == 9
            assert inbox.visits.open() == [("other", "truck-1", None)]
            assert inbox.visits.listed(0, 10) == [
                (1, Visit(trip.trip_id, "truck-1", 5)),
                (2, Visit("other", "truck-1", 6)),
            ]
            assert inbox.genesis_id() == "genesis"


def test_an_inbox_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"
    Inbox(path, bytes_max=MIB, quarantine_bytes_max=MIB).close()
    with edited(path) as database:
        database.execute(f"PRAGMA user_version = {INBOX.version + 1}")
    with pytest.raises(
        UnavailableError, match=f"got {INBOX.version + 1}: a newer program wrote it"
    ):
        Inbox(path, bytes_max=MIB, quarantine_bytes_max=MIB)
