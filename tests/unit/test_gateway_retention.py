"""Retention deletes what is due, on record, and keeps the rest, whatever happens in between."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import Policy
from contracts.deletion import deletion_hash, open_deletion
from gateway.intake.held import State
from gateway.retention.deletions import DeletionState
from gateway.storagesettings import RetentionSettings
from storage.recordings.manifest import Progress
from support.gateways.retention import (
    BLOBS,
    DAY_S,
    SIGNER,
    VOLUME,
    Desk,
    KilledError,
    recording,
    trip,
)

DAYS = RetentionSettings(make_room=True, volume_days=10, blobs_days=100, partial_days=5)
ROOM = RetentionSettings(make_room=True, partial_days=0)
LISTED_MAX = 1000

Open = Callable[..., Desk]


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[Open]:
    made: list[Desk] = []

    def open_desk(settings: RetentionSettings = DAYS, *policy: str) -> Desk:
        root = tmp_path / str(len(made))
        root.mkdir()
        made.append(Desk(root, settings, Policy.parse(policy or ["volume", "blobs"])))
        return made[-1]

    yield open_desk
    for desk in made:
        desk.close()


@pytest.fixture
def desk(desks: Open) -> Desk:
    return desks()


def states(desk: Desk) -> list[tuple[str, DeletionState]]:
    return [(each.body.rule, each.state) for _, each in desk.deletions.listed(0, LISTED_MAX)]


def test_the_whole_copy_goes_first_and_then_all(desk: Desk) -> None:
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.days(9.9)
    desk.steps()
    assert desk.store.copies[one] == [VOLUME, BLOBS]
    desk.days(0.2)
    desk.steps()
    assert desk.store.copies[one] == [BLOBS]
    desk.days(90)
    desk.steps()
    assert one not in desk.store.copies
    assert states(desk) == [
        ("volume-days", DeletionState.DONE),
        ("blobs-days", DeletionState.DONE),
    ]


def test_the_record_says_what_went_and_why_and_can_be_shown(desk: Desk) -> None:
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.days(11)
    desk.steps()
    (told,) = desk.deletions.of(one)
    body = open_deletion(told.deletion, {SIGNER.public_key})
    assert (body.number, body.before_sha256, body.site_id) == (1, b"", "site-b")
    assert (body.recording_sha256, body.size) == (one, BLOB_BYTES)
    assert list(body.copies) == [str(VOLUME)]
    assert list(body.remaining) == [str(BLOBS)]
    assert (body.rule, body.reason) == ("volume-days", "11.0 days old, volume_days is 10")
    assert list(body.trip_ids) == [trip(1)]
    assert (body.block_num, body.block_id, body.genesis_id) == (1, "block 1", "block 0")
    assert (body.decided_at_ms, told.ended_ms) == (desk.now_ms, desk.now_ms)
    desk.days(100)
    desk.steps()
    first, second = desk.deletions.of(one)
    assert second.body.before_sha256 == deletion_hash(first.deletion)
    assert desk.deletions.took_everything(one) == second


def test_a_quota_takes_the_oldest_and_no_more_than_it_must(desks: Open) -> None:
    desk = desks(ROOM)
    names = []
    for number in range(4):
        names.append(desk.settled(number, trip(number)))
        desk.steps()
        desk.days(1)
    desk.quota_bytes = 3 * BLOB_BYTES
    desk.steps()
    assert [VOLUME in desk.store.copies[name] for name in names] == [False, True, True, True]
    desk.needed_bytes = 2 * BLOB_BYTES
    desk.steps()
    assert [VOLUME in desk.store.copies[name] for name in names] == [False, False, False, True]
    assert all(BLOBS in desk.store.copies[name] for name in names)


def test_a_gateway_that_was_told_nothing_deletes_no_copy(desks: Open) -> None:
    desk = desks(RetentionSettings())
    one = desk.settled(1, trip(1))
    desk.quota_bytes, desk.needed_bytes = 1, 1 << 41
    desk.steps()
    desk.days(10_000)
    desk.steps()
    assert desk.store.copies[one] == [VOLUME, BLOBS]
    assert desk.deletions.of(one) == []


def test_each_deletion_is_a_warning_with_its_reason(
    desks: Open, caplog: pytest.LogCaptureFixture
) -> None:
    desk = desks(ROOM)
    one = desk.settled(1, trip(1))
    desk.quota_bytes = 1
    desk.steps()
    (line,) = [each for each in caplog.records if each.levelname == "WARNING"]
    assert line.getMessage() == (
        f"deletion 1: recording {one.hex()}, deleted volume:main:fsync, because of quota: "
        f"{BLOB_BYTES} bytes used, the quota is 1"
    )


def hold(desk: Desk) -> None:
    desk.hold(trip(1))


def held_on_another_trip(desk: Desk) -> None:
    desk.commit(recording(1), trip(2))
    desk.hold(trip(2))


def held_on_a_trip_that_is_announced(desk: Desk) -> None:
    desk.offer(recording(1), trip(2), State.QUARANTINED)
    desk.hold(trip(2))


def announced_for_another_trip(desk: Desk) -> None:
    desk.offer(recording(1), trip(2))


def committed_but_not_receipted(desk: Desk) -> None:
    desk.offer(recording(1), trip(2))
    desk.commit(recording(1), trip(2))


def the_ledger_is_down(desk: Desk) -> None:
    desk.ledger.down = True


def the_index_is_behind(desk: Desk) -> None:
    desk.block({}, seen=False)


def a_hold_that_the_index_has_not(desk: Desk) -> None:
    desk.hold(trip(1), seen=False)


def the_ledger_went_back(desk: Desk) -> None:
    desk.ledger.block_ids = ["block 0"]
    desk.index.cut(0)


REASONS = [
    hold,
    held_on_another_trip,
    held_on_a_trip_that_is_announced,
    announced_for_another_trip,
    committed_but_not_receipted,
    the_ledger_is_down,
    the_index_is_behind,
    a_hold_that_the_index_has_not,
    the_ledger_went_back,
]


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.__name__)
@pytest.mark.parametrize("late", [False, True], ids=["before", "in-the-last-moment"])
def test_there_are_reasons_to_keep_everything(
    desk: Desk,
    reason: Callable[[Desk], None],
    late: bool,  # noqa: FBT001
) -> None:
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.days(1000)
    desk.quota_bytes = 1
    if late:
        desk.after_record = lambda: reason(desk)
    else:
        reason(desk)
    desk.step()
    assert desk.store.copies[one] == [VOLUME, BLOBS]
    assert [state for _, state in states(desk)] in (
        [[DeletionState.WITHDRAWN], [DeletionState.BEGUN]] if late else [[]]
    )


def test_a_hold_that_was_released_keeps_no_longer(desk: Desk) -> None:
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.days(11)
    desk.hold(trip(1), "a")
    desk.hold(trip(1), "b")
    desk.hold(trip(1), "a", released=True)
    desk.steps()
    assert desk.store.copies[one] == [VOLUME, BLOBS]
    desk.hold(trip(1), "b", released=True)
    desk.steps()
    assert desk.store.copies[one] == [BLOBS]


def test_what_was_begun_while_the_ledger_went_down_ends_when_it_is_back(desk: Desk) -> None:
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.days(11)
    desk.after_record = lambda: the_ledger_is_down(desk)
    desk.steps()
    assert states(desk) == [("volume-days", DeletionState.BEGUN)]
    assert desk.deletions.is_under_way(one)
    desk.ledger.down = False
    desk.steps()
    assert desk.store.copies[one] == [BLOBS]
    assert states(desk) == [("volume-days", DeletionState.DONE)]


def test_what_fails_in_an_unforeseen_way_holds_up_nothing_else(desk: Desk) -> None:
    one, two = desk.settled(1, trip(1)), desk.settled(2, trip(2))
    desk.steps()
    desk.days(11)
    desk.after_record = lambda: desk.store.poisoned.add(one)
    assert desk.step()
    assert desk.deletions.is_under_way(one)
    assert desk.store.copies == {one: [VOLUME, BLOBS], two: [BLOBS]}
    three = desk.settled(3, trip(3))
    four = desk.settled(4, trip(4))
    desk.store.poisoned.add(three)
    desk.steps()
    desk.days(11)
    assert desk.step()
    assert (desk.store.copies[three], desk.store.copies[four]) == ([VOLUME, BLOBS], [BLOBS])


def test_a_provisional_receipt_releases_nothing(desk: Desk) -> None:
    one = recording(1)
    desk.upload(one)
    desk.offer(one, trip(1))
    desk.commit(one, trip(1))
    desk.receipt(trip(1), one, lacking="blobs of 1")
    desk.steps()
    desk.days(1000)
    desk.steps()
    assert desk.store.copies[one] == [VOLUME, BLOBS]


def test_the_digest_must_be_deep_enough(desk: Desk) -> None:
    desk.confirmations = 3
    desk.restart()
    one = desk.settled(1, trip(1))
    for _ in range(3):
        desk.steps()
        desk.days(11)
        desk.steps()
        assert desk.store.copies[one] == [VOLUME, BLOBS]
        desk.block({})
    desk.steps()
    desk.days(11)
    desk.steps()
    assert desk.store.copies[one] == [BLOBS]


def test_a_volume_copy_stays_while_the_blobs_are_not_all_there(desk: Desk) -> None:
    one, two = desk.settled(1, trip(1)), desk.settled(2, trip(2), VOLUME)
    desk.store.rotten.add(one)
    desk.steps()
    desk.days(50)
    desk.quota_bytes = 1
    desk.steps()
    assert desk.store.copies == {one: [VOLUME, BLOBS], two: [VOLUME]}
    assert states(desk) == []


def test_a_volume_copy_stays_while_a_blob_does_not_hold(desk: Desk) -> None:
    one = desk.settled(1, trip(1))
    desk.store.unproved.add(one)
    desk.steps()
    desk.days(50)
    desk.quota_bytes = 1
    desk.steps()
    assert desk.store.copies == {one: [VOLUME, BLOBS]}
    assert states(desk) == []
    desk.store.unproved.clear()
    desk.steps()
    assert desk.store.copies == {one: [BLOBS]}


def test_a_volume_copy_stays_where_the_policy_asks_for_no_blobs(desks: Open) -> None:
    desk = desks(DAYS, "volume")
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.days(50)
    desk.steps()
    assert desk.store.copies[one] == [VOLUME, BLOBS]


@pytest.mark.parametrize("years", [30, -30])
def test_a_wall_clock_that_jumps_makes_nothing_older(desk: Desk, years: int) -> None:
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.now_ms += years * 365 * DAY_S * 1000
    desk.steps()
    desk.restart()
    desk.steps()
    assert desk.store.copies[one] == [VOLUME, BLOBS]


def test_an_upload_that_stands_still_goes_and_one_that_moves_does_not(desk: Desk) -> None:
    still, moving, held = recording(1), recording(2), recording(3)
    for name in (still, moving, held):
        desk.store.uploads[name] = Progress(name, 100, 10)
    desk.offer(held, trip(3))
    desk.hold(trip(3))
    desk.steps()
    desk.days(4)
    desk.store.uploads[moving] = Progress(moving, 100, 20)
    desk.steps()
    desk.days(2)
    desk.steps()
    assert set(desk.store.uploads) == {moving, held}
    (told,) = desk.deletions.of(still)
    assert (told.body.size, told.body.received, list(told.body.copies)) == (100, 10, [])
    assert told.body.reason == "at 10 of 100 bytes for 6.0 days, partial_days is 5"


@pytest.mark.parametrize("whole", [False, True])
def test_an_upload_that_goes_on_in_the_last_moment_stays(desk: Desk, whole: bool) -> None:  # noqa: FBT001
    one = recording(1)
    desk.store.uploads[one] = Progress(one, 100, 10)
    desk.steps()
    desk.days(6)

    def go_on() -> None:
        if whole:
            desk.upload(one)
        else:
            desk.store.uploads[one] = Progress(one, 100, 20)

    desk.after_record = go_on
    desk.step()
    assert one in desk.store.copies if whole else one in desk.store.uploads
    assert states(desk) == [("partial-days", DeletionState.WITHDRAWN)]


@pytest.mark.parametrize("days", [11, 101])
@pytest.mark.parametrize("step", range(4))
def test_a_kill_in_the_middle_is_gone_on_from(desk: Desk, days: int, step: int) -> None:
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.days(days)
    desk.store.kills = step
    try:
        desk.step()
    except KilledError:
        assert [state for _, state in states(desk)] == [DeletionState.BEGUN]
    desk.restart()
    desk.steps()
    assert desk.store.copies == ({one: [BLOBS]} if days == 11 else {})
    assert [state for _, state in states(desk)] == [DeletionState.DONE]


def test_a_visit_that_goes_on_gets_back_what_was_dropped_before(desk: Desk) -> None:
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.days(11)
    desk.steps()
    assert desk.store.dropped == {one}
    desk.offer(one, trip(2))
    desk.steps()
    assert desk.store.dropped == set()


def test_what_comes_again_is_new(desk: Desk) -> None:
    one = desk.settled(1, trip(1))
    desk.steps()
    desk.days(101)
    desk.steps()
    assert one not in desk.store.copies
    desk.upload(one)
    desk.steps()
    assert desk.store.copies[one] == [VOLUME, BLOBS]
