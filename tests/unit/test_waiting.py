"""What waits in the inbox is listed, dropped by operators or by age, and may come again."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.records.clock import now_ms
from gateway.intake.admission import admit_offer, admit_records
from gateway.intake.held import HeldBatch, State
from gateway.intake.inbox import Inbox
from gateway.intake.waiting import DeviceUsage
from gateway.upkeep.expiry import DAY_S, Expiry
from support.evidence.chain import digest_of
from support.network.world import Trip, reading
from support.trucks.rogue import wire_of
from support.trucks.uploads import offer_of

MIB = 1 << 20
VIDEO = b"a video"


class Clock:
    """A monotonic clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(path: Path, clock: Clock) -> Inbox:
    return Inbox(path / "i.db", bytes_max=MIB, quarantine_bytes_max=MIB, monotonic_s=clock)


@pytest.fixture
def inbox(tmp_path: Path, clock: Clock) -> Iterator[Inbox]:
    with closing(opened(tmp_path, clock)) as found:
        yield found


def trip_in(inbox: Inbox) -> list[HeldBatch]:
    """Put a trip with a recording's digest into the inbox."""
    trip = Trip()
    *batches, digest = trip.whole([reading(at) for at in range(4)], [digest_of(VIDEO)], size=2)
    held, offer = admit_offer(offer_of(trip, VIDEO, digest), "truck-1")
    found = [*(admit_records(wire_of(each), "truck-1") for each in batches), held]
    inbox.add(found, [offer])
    return found


def test_usage_is_what_is_there(inbox: Inbox) -> None:
    assert inbox.waiting.usage() == []
    batches = trip_in(inbox)
    inbox.mark([batches[0].batch_id], State.COMMITTED)
    inbox.waiting.drop(batches[1].batch_id, "dropped")
    left = batches[2:]
    assert inbox.waiting.usage() == [
        DeviceUsage("truck-1", State.COMMITTED, 1, len(batches[0].wire)),
        DeviceUsage("truck-1", State.DROPPED, 1, 0),
        DeviceUsage("truck-1", State.HELD, len(left), sum(len(each.wire) for each in left)),
    ]


def test_what_is_dropped_may_come_again(inbox: Inbox) -> None:
    batches = trip_in(inbox)
    digest = batches[-1]
    assert digest.recording is not None
    assert inbox.waiting.drop(digest.batch_id, "by hand")
    assert not inbox.waiting.drop(digest.batch_id, "by hand")
    known = inbox.standing(digest.batch_id)
    assert known is not None
    assert (known.state, known.reason) == (State.DROPPED, "by hand")
    assert inbox.offers_of(digest.recording) == []
    assert trip_in(inbox) == batches
    assert inbox.batch(digest.batch_id) == digest
    assert len(inbox.offers_of(digest.recording)) == 1


def test_what_is_committed_is_never_dropped(inbox: Inbox) -> None:
    batches = trip_in(inbox)
    inbox.mark([each.batch_id for each in batches], State.COMMITTED)
    assert inbox.waiting.drop_of("truck-1", "by hand") == 0
    assert not inbox.waiting.drop(batches[0].batch_id, "by hand")
    assert inbox.waiting.expire(-DAY_S, "old") == 0
    assert [each.wire for each in inbox.in_state(State.COMMITTED, 9)] == [
        each.wire for each in batches
    ]


def test_a_listing_goes_on_where_it_ended(inbox: Inbox) -> None:
    batches = trip_in(inbox)
    (place, first), *_ = inbox.waiting.batches(0, 1)
    rest = inbox.waiting.batches(place, 100, "truck-1")
    assert [first.batch_id, *(each.batch_id for _, each in rest)] == [
        each.batch_id for each in batches
    ]
    assert inbox.waiting.batches(0, 100, "truck-2") == []


def test_age_drops_and_later_forgets(inbox: Inbox, clock: Clock) -> None:
    batches = trip_in(inbox)
    expiry = Expiry(inbox, 30)
    for days, state in ((29, State.HELD), (2, State.DROPPED), (29, State.DROPPED)):
        clock.now_s += days * DAY_S
        expiry.step()
        assert inbox.ids_in(state, 99) == [each.batch_id for each in batches]
    assert inbox.visits.listed(0, 1)
    clock.now_s += 2 * DAY_S
    expiry.step()
    assert inbox.batch(batches[0].batch_id) is None
    expiry.step()
    assert inbox.visits.listed(0, 1) == []


def test_what_comes_again_is_young_again(inbox: Inbox, clock: Clock) -> None:
    batches = trip_in(inbox)
    expiry = Expiry(inbox, 30)
    for days in (31, 29):
        clock.now_s += days * DAY_S
        expiry.step()
        trip_in(inbox)
        assert inbox.ids_in(State.HELD, 99) == [each.batch_id for each in batches]
    (_, first), *_ = inbox.waiting.batches(0, 1)
    assert first.age_s == 29 * DAY_S


def test_age_counts_over_restarts_what_the_gateway_ran(tmp_path: Path, clock: Clock) -> None:
    for start_s, state in ((1_000.0, State.HELD), (3.0, State.DROPPED)):
        clock.now_s = start_s  # another boot begins elsewhere
        with closing(opened(tmp_path, clock)) as inbox:
            batches = trip_in(inbox)
            clock.now_s += 16 * DAY_S
            Expiry(inbox, 30).step()
            assert inbox.ids_in(state, 99) == [each.batch_id for each in batches]


def test_no_days_keep_everything(inbox: Inbox, clock: Clock) -> None:
    trip_in(inbox)
    clock.now_s += 1_000 * DAY_S
    Expiry(inbox, 0).step()
    assert len(inbox.waiting.batches(0, 100)) == 4


def stamp(inbox: Inbox, days: int) -> None:
    """Move the times at which everything came by the wall clock."""
    more_ms = days * DAY_S * 1_000
    with inbox._db.transaction() as db:  # noqa: SLF001 - SQLite asks the machine's clock itself
        db.execute("UPDATE batches SET received_ms = received_ms + ?", (more_ms,))
        db.execute("UPDATE visits SET since_ms = since_ms + ?", (more_ms,))


def test_a_wall_clock_that_steps_forward_drops_nothing(inbox: Inbox) -> None:
    batches = trip_in(inbox)
    stamp(inbox, -5_000)
    Expiry(inbox, 30).step()
    assert inbox.ids_in(State.HELD, 99) == [each.batch_id for each in batches]
    assert inbox.visits.listed(0, 1)


def test_a_batch_stamped_in_the_future_grows_old(inbox: Inbox, clock: Clock) -> None:
    batches = trip_in(inbox)
    stamp(inbox, 5_000)
    clock.now_s += 31 * DAY_S
    Expiry(inbox, 30).step()
    assert inbox.ids_in(State.DROPPED, 99) == [each.batch_id for each in batches]


def test_batches_and_visits_tell_when_they_came(inbox: Inbox) -> None:
    before_ms = now_ms()
    (name, *_) = (each.batch_id for each in trip_in(inbox))
    came = {each.since_ms for _, each in inbox.waiting.batches(0, 99)}
    came |= {visit.since_ms for _, visit in inbox.visits.listed(0, 99)}
    inbox.waiting.drop(name, "an operator dropped it")
    came |= {at_ms for (at_ms,) in inbox._db.query("SELECT received_ms FROM batches")}  # noqa: SLF001
    assert before_ms <= min(came)
    assert max(came) <= now_ms()
