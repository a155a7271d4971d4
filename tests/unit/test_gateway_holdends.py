"""A person ends automatic holds: what that lets go of, and what is on record of it."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.hold_end import WHY_MAX, open_hold_end
from contracts.proto.hold_end_pb2 import HoldEndBody
from contracts.proto.payload_pb2 import Remark
from contracts.records.reading import Tamper
from gateway.intake.held import State
from gateway.records.records import Records
from gateway.retention.autoholds import words
from storage.recordings.manifest import Progress
from support.gateways.autoholds import (
    BY,
    FAR_S,
    TRIP,
    desk_of_the_trip,
    end,
    ended,
    held,
    holds,
    is_kept,
    run,
)
from support.gateways.grounds import (
    Rows,
    excursion,
    film,
    readings,
    remarked,
    signs,
)
from support.gateways.retention import BLOBS, SIGNER, Desk, recording, trip


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with desk_of_the_trip(tmp_path) as made:
        yield made


def test_a_hold_that_was_ended_keeps_no_longer_and_the_deletion_says_so(desk: Desk) -> None:
    one = desk.settled(1, TRIP, film=film(0))
    desk.block(excursion(TRIP, 0, 1))
    run(desk)
    assert is_kept(desk, one)
    number = end(desk)
    desk.steps()
    assert desk.store.copies[one] == [BLOBS]
    (told,) = desk.deletions.of(one)
    assert list(told.body.hold_ends) == [number]


def test_what_becomes_known_after_the_end_holds_again(desk: Desk) -> None:
    one = desk.settled(1, TRIP, film=film(0))
    desk.block(excursion(TRIP, 0, 1))
    end(desk)
    assert held(desk, 1) == []
    desk.settled(2, TRIP, film=film(5))
    assert len(held(desk, 2)) == 1
    desk.block(readings(TRIP, signs(Tamper.SHOCK, Tamper.NONE)))
    assert held(desk, 1) == ["sign of tampering: shock"]
    run(desk)
    assert is_kept(desk, one)


def test_the_end_for_one_recording_lets_go_of_no_other(desk: Desk) -> None:
    one, two = (desk.settled(number, TRIP, film=film(0)) for number in (1, 2))
    desk.receipt(TRIP, one, two)
    desk.block(excursion(TRIP, 0, 1))
    end(desk, TRIP, one)
    run(desk)
    assert (is_kept(desk, one), is_kept(desk, two)) == (False, True)


def test_the_end_is_signed_in_a_row_and_says_who_when_why_and_what(desk: Desk) -> None:
    desk.settled(1, TRIP, film=film(0))
    desk.block(excursion(TRIP, 0, 1))
    end(desk)
    desk.block(readings(TRIP, signs(Tamper.SHOCK, Tamper.NONE)))
    end(desk, TRIP, recording(1))
    (_, (first, _)), (_, (second, said)) = desk.deletions.hold_ends.listed(0, 10)
    before, after = (open_hold_end(each, {SIGNER.public_key}) for each in (first, second))
    assert after == said
    assert (before.number, before.before_sha256) == (1, b"")
    assert (after.number, after.before_sha256) == (2, sha256(canonical(first)).digest())
    assert (before.who, before.role, before.why) == BY
    assert (before.ended_at_ms, before.site_id, before.trip_id) == (desk.now_ms, "site-b", TRIP)
    assert (before.recording_sha256, after.recording_sha256) == (b"", recording(1))
    assert (before.block_num, before.genesis_id) == (3, "block 0")
    assert list(before.held_for) == [
        (
            "temperature outside the limits of delivery D-1, device truck-1, from "
            "2023-11-14T22:13:20.000Z to 2023-11-14T22:13:21.000Z"
        )
    ]
    assert (before.held_for_count, len(after.held_for)) == (1, 1)


def test_an_end_needs_a_hold_and_a_reason(desk: Desk) -> None:
    desk.settled(1, TRIP, film=film(0))
    for recording_id, what in ((None, "a recording"), (recording(1), "recording ")):
        with pytest.raises(RejectedError, match=f"expected an automatic hold on {what}"):
            end(desk, TRIP, recording_id)
    desk.block(excursion(TRIP, 0, 1))
    for why in ("", "  ", "x" * (WHY_MAX + 1)):
        with pytest.raises(RejectedError, match=r"expected a reason of 1\.\.1000 characters"):
            ended(desk, BY._replace(why=why), TRIP)
    assert desk.deletions.hold_ends.listed(0, 10) == []
    end(desk)
    with pytest.raises(RejectedError, match="none in force"):
        end(desk)


def test_an_end_at_a_block_that_the_ledger_took_back_lets_go_of_nothing(desk: Desk) -> None:
    desk.block(excursion(TRIP, 0, 1))
    desk.settled(1, TRIP, film=film(0))
    kept = len(desk.ledger.block_ids)
    desk.block({})
    end(desk)
    assert held(desk, 1) == []
    del desk.ledger.block_ids[kept:]
    desk.index.cut(kept - 1)
    desk.ledger.block_ids.append("another block")
    desk.index.add({"blocks": [(kept, "another block", b"")]})
    assert len(held(desk, 1)) == 1


def test_a_partial_upload_whose_digest_is_unknown_is_held_by_any_ground_of_its_trip(
    desk: Desk,
) -> None:
    for number, on in ((1, TRIP), (2, trip(2))):
        desk.store.uploads[recording(number)] = Progress(recording(number), 100, 10)
        desk.offer(recording(number), on, State.QUARANTINED)
    desk.block(excursion(TRIP, 0, 1))
    desk.steps()
    desk.days(6)
    desk.steps()
    assert set(desk.store.uploads) == {recording(1)}
    with pytest.raises(RejectedError, match="a recording of trip"):
        end(desk)  # it is not on the trip, on record
    end(desk, TRIP, recording(1))
    desk.steps()
    assert set(desk.store.uploads) == set()


def test_grounds_are_listed_with_what_they_hold(desk: Desk) -> None:
    one = desk.settled(1, TRIP, film=film(0))
    desk.block(excursion(TRIP, 0, 1))
    end(desk)
    two = desk.settled(2, TRIP, film=film(0))
    desk.block(readings(TRIP, signs(Tamper.SHOCK, Tamper.NONE)))
    listed = holds(desk).on_trip
    with pytest.raises(RejectedError, match="no trip"):
        listed(trip(9), 0, 10)
    found = holds(desk).on_trip(TRIP, 0, 10)
    assert [(at, each.ground.kind, each.held, each.ended) for at, each in found] == [
        (1, "tamper", [one, two], []),
        (2, "excursion", [two], [one]),
    ]
    assert [at for at, _ in holds(desk).on_trip(TRIP, 1, 10)] == [2]


@pytest.mark.parametrize(
    "rows",
    [
        readings(TRIP, signs(Tamper.SHOCK, Tamper.NONE)),
        remarked(TRIP, Remark.REBOOTED, 0),
    ],
    ids=["sign", "remark"],
)
def test_film_that_only_a_later_correction_shows_is_held_in_spite_of_an_end(
    desk: Desk, rows: Rows
) -> None:
    wrong_s = -1_000_000
    desk.settled(1, TRIP, film=film(-wrong_s, 1))
    desk.settled(2, TRIP, film=film(0, 1))
    desk.block(rows)
    end(desk)
    assert held(desk, 1) == held(desk, 2) == []
    before = len(desk.ledger.block_ids) - 1
    desk.block(remarked(TRIP, Remark.CLOCK_CORRECTED, FAR_S, sequence=9, ahead_s=-wrong_s))
    assert (len(held(desk, 1)), held(desk, 2)) == (1, [])
    with pytest.raises(RejectedError, match="none in force"):
        holds(desk).end(desk.deletions.hold_ends, TRIP, None, BY, site_id="b", at_ms=1, seen=before)
    end(desk)
    assert held(desk, 1) == held(desk, 2) == []


@pytest.mark.parametrize("one", [True, False], ids=["one", "trip"])
def test_an_end_lets_go_only_of_what_the_person_has_seen(
    desk: Desk,
    one: bool,  # noqa: FBT001
) -> None:
    recording_id = desk.settled(1, TRIP, film=film(0))
    asked = recording_id if one else None

    def end_seen(seen: int) -> HoldEndBody:
        ends = desk.deletions.hold_ends
        return holds(desk).end(ends, TRIP, asked, BY, site_id="b", at_ms=1, seen=seen)[1]

    before = len(desk.ledger.block_ids) - 1
    desk.block(excursion(TRIP, 0, 1))
    with pytest.raises(RejectedError, match=f"by block {before}, got none in force"):
        end_seen(before)
    seen = before + 1
    desk.block(readings(TRIP, signs(Tamper.SHOCK, Tamper.NONE)))
    desk.settled(2, TRIP, film=film(0))
    said = end_seen(seen)
    assert (said.block_num, said.block_id, said.held_for_count) == (seen, f"block {seen}", 1)
    assert held(desk, 1) == ["sign of tampering: shock"]
    assert len(held(desk, 2)) == 2
    assert end_seen(1 << 40).block_num == len(desk.ledger.block_ids) - 1
    assert held(desk, 1) == []


def test_a_rotten_end_ends_nothing(desk: Desk) -> None:
    desk.settled(1, TRIP, film=film(0))
    desk.block(excursion(TRIP, 0, 1))
    end(desk)
    with desk.deletions._db.transaction() as db:  # noqa: SLF001 - no other way to such a row
        db.execute("UPDATE hold_ends SET trip_id = ?", (trip(2),))
    assert len(held(desk, 1)) == 1
    assert desk.deletions.hold_ends.listed(0, 10) == []


def test_words_name_both_times(desk: Desk) -> None:
    desk.block(readings(TRIP, signs(Tamper.SHOCK)))
    desk.block(remarked(TRIP, Remark.CLOCK_CORRECTED, 10, sequence=9, ahead_s=60))
    (ground,) = Records(desk.index).trips.grounds(TRIP)
    assert words(ground) == (
        "sign of tampering: shock, device truck-1, from 2023-11-14T22:13:20.000Z (corrected: "
        "2023-11-14T22:14:20.000Z), not ended"
    )
