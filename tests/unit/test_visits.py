"""Visits and refused batches are listed page by page, while others come and go."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.proto.wire_pb2 import ReceiptBody
from contracts.receipt import sign_receipt
from gateway.intake.admission import admit_records
from gateway.intake.held import State
from gateway.intake.inbox import Inbox
from support.network.world import Trip, key, reading
from support.trucks.rogue import nonce, wire_of

MIB = 1 << 20


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with closing(Inbox(tmp_path / "i.db", bytes_max=MIB, quarantine_bytes_max=MIB)) as found:
        yield found


def pages(inbox: Inbox, *, newest_first: bool = False, only_open: bool = False) -> list[list[str]]:
    """Return the trips of all pages of two visits."""
    found, after = [], 0
    while page := inbox.visits.listed(after, 2, newest_first=newest_first, only_open=only_open):
        found.append([visit.trip_id for _, visit in page])
        after = page[-1][0]
    return found


def receipted(inbox: Inbox, trip_id: str, *, final: bool) -> None:
    wire = sign_receipt(key("gateway-buyer"), ReceiptBody(trip_id=trip_id))
    inbox.visits.put_receipt(trip_id, "truck-1", wire.SerializeToString(), final=final)


def test_no_visit_is_no_page(inbox: Inbox) -> None:
    assert inbox.visits.listed(0, 10) == []
    assert inbox.visits.listed(0, 10, newest_first=True, only_open=True) == []


def test_pages_of_visits_join_from_either_end(inbox: Inbox) -> None:
    for trip_id in "cabed":  # all in one moment or nearly so
        inbox.visits.note(trip_id, "truck-1")
    assert pages(inbox) == [["c", "a"], ["b", "e"], ["d"]]
    assert pages(inbox, newest_first=True) == [["d", "e"], ["b", "a"], ["c"]]


def test_a_visit_that_is_repeated_keeps_its_place(inbox: Inbox) -> None:
    for trip_id in "aba":
        inbox.visits.note(trip_id, "truck-1")
    assert pages(inbox) == [["a", "b"]]


def test_open_visits_are_those_without_a_final_receipt(inbox: Inbox) -> None:
    for trip_id in "abcd":
        inbox.visits.note(trip_id, "truck-1")
    receipted(inbox, "a", final=True)
    receipted(inbox, "c", final=False)
    assert pages(inbox, only_open=True) == [["b", "c"], ["d"]]
    assert pages(inbox, only_open=True, newest_first=True) == [["d", "c"], ["b"]]


def test_what_comes_and_goes_between_pages_is_neither_passed_over_nor_doubled(
    inbox: Inbox,
) -> None:
    for trip_id in "abc":
        inbox.visits.note(trip_id, "truck-1")
    place = inbox.visits.listed(0, 3)[-1][0]
    inbox.waiting.expire(-1, "old")  # all three have nothing, and are forgotten
    assert inbox.visits.listed(0, 3) == []
    inbox.visits.note("d", "truck-1")
    assert [visit.trip_id for _, visit in inbox.visits.listed(place, 3)] == ["d"]


def test_waiting_batches_of_one_state_keep_the_places_of_all(inbox: Inbox) -> None:
    batches = [
        admit_records(wire_of(batch), "truck-1")
        for batch in Trip(nonce=nonce(1)).whole([reading(at) for at in range(6)], size=2)
    ]
    inbox.add(batches, [])
    names = [batch.batch_id for batch in batches]
    inbox.mark(names[::2], State.QUARANTINED, "refused")
    first = inbox.waiting.batches(0, 1, state=State.QUARANTINED)
    rest = inbox.waiting.batches(first[0][0], 10, state=State.QUARANTINED)
    assert [each.batch_id for _, each in (*first, *rest)] == names[::2]
    assert {each.reason for _, each in rest} == {"refused"}
    held = inbox.waiting.batches(0, 10, state=State.HELD)
    assert [each.batch_id for _, each in held] == names[1::2]
