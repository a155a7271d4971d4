"""The index and the saga with a ledger that forks, is busy, refuses, forgets, or talks nonsense."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from contracts import address
from contracts.actions.payload import decode
from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.ledger.client import BACK_OFF_S
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.recording import RecordingDigest
from contracts.sawtooth.batches import build_batch
from gateway.intake.admission import admit_records
from gateway.intake.held import State
from gateway.intake.inbox import Inbox
from gateway.offload import saga
from gateway.offload.ledgerfacts import LedgerFacts
from support.gateways.desk import MIB, Desk, open_desk, sealed
from support.gateways.parsing import count_parsing
from support.network.world import Trip, key, reading, registrations
from support.trucks.rogue import nonce, until, wire_of

pytestmark = pytest.mark.integration


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as opened:
        yield opened


def trip_batches(number: int, readings: int = 4) -> list[Batch]:
    return Trip(nonce=nonce(number)).whole([reading(at) for at in range(readings)], size=3)


def readings_of(desk: Desk) -> set[str]:
    return {row[0] for row in desk.index.query("SELECT trip_id FROM warm_readings")}


def test_a_fork_is_rolled_back_and_followed(desk: Desk) -> None:
    common, lost, kept = trip_batches(1), trip_batches(2), trip_batches(3)
    desk.ledger.extend([registrations(), common])
    at = len(desk.ledger.blocks)
    desk.ledger.extend([lost[:1], lost[1:]])
    desk.follow()
    assert readings_of(desk) == {Trip(nonce=nonce(1)).trip_id, Trip(nonce=nonce(2)).trip_id}
    del desk.ledger.blocks[at:]
    desk.ledger.extend([[], kept[:1], kept[1:]], salt="the other side")
    desk.follow()
    assert readings_of(desk) == {Trip(nonce=nonce(1)).trip_id, Trip(nonce=nonce(3)).trip_id}
    ids = [row[0] for row in desk.index.query("SELECT block_id FROM blocks ORDER BY block_num")]
    assert ids == [block.header_signature for block in desk.ledger.blocks]
    trips = "SELECT subject FROM batches WHERE subject = ?"
    assert desk.index.query(trips, f"trip {Trip(nonce=nonce(2)).trip_id}") == []


def test_a_cut_leaves_no_row_above(desk: Desk) -> None:
    desk.ledger.extend([registrations(), trip_batches(1), trip_batches(2)])
    desk.follow()
    desk.index.cut(1)
    for (table,) in desk.index.query("SELECT name FROM sqlite_master WHERE type = 'table'"):
        assert desk.index.query(f"SELECT 1 FROM {table} WHERE block_num > 1") == []  # noqa: S608
    desk.follow()
    assert len(readings_of(desk)) == 2


def test_a_busy_ledger_is_given_time_and_nothing_is_lost(desk: Desk) -> None:
    names = desk.hold(trip_batches(1))
    desk.ledger.busy = len(BACK_OFF_S) + 1
    with pytest.raises(UnavailableError, match="429"):
        desk.saga.step()
    assert desk.waits == list(BACK_OFF_S)
    assert set(desk.states(names)) == {State.HELD}
    desk.saga.step()
    assert desk.ledger.submitted == [names]
    assert set(desk.states(names)) == {State.SUBMITTED}


def test_a_batch_is_parsed_once_on_its_way_to_the_ledger(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = Trip().whole([reading(at) for at in range(8)], size=4)
    names = desk.hold(batches)
    parsed = count_parsing(monkeypatch)
    desk.saga.step()
    assert desk.ledger.submitted == [names]
    for batch in batches:
        assert (parsed[wire_of(batch)], parsed[batch.header]) == (1, 1)
        assert not any(parsed[each.header] for each in batch.transactions)


def test_an_invalid_batch_is_quarantined_with_the_ledgers_words(desk: Desk) -> None:
    names = desk.hold(trip_batches(1))
    desk.saga.step()
    desk.ledger.statuses = dict.fromkeys(names, "COMMITTED") | {names[-1]: "INVALID"}
    desk.saga.step()
    assert desk.states(names) == [*[State.COMMITTED] * (len(names) - 1), State.QUARANTINED]
    held = desk.inbox.batch(names[-1])
    assert held is not None
    assert "told so" in held.reason


def test_what_the_ledger_forgot_is_handed_over_again(desk: Desk) -> None:
    names = desk.hold(trip_batches(1))
    desk.saga.step()
    desk.ledger.statuses = dict.fromkeys(names, "UNKNOWN")
    desk.saga.step()
    assert desk.ledger.submitted == [names, names]
    desk.ledger.statuses = dict.fromkeys(names, "COMMITTED")
    desk.saga.step()
    assert set(desk.states(names)) == {State.COMMITTED}


@pytest.mark.parametrize(
    ("status", "text"), [(200, "{}"), (200, "[]"), (200, "nonsense"), (500, ""), (502, "<html>")]
)
def test_an_answer_that_makes_no_sense_stops_no_worker(desk: Desk, status: int, text: str) -> None:
    names = desk.hold(trip_batches(1))
    desk.ledger.failures = [(status, text)] * 3
    desk.saga.worker.start()
    desk.follower.worker.start()
    try:
        until("the batches at the ledger", lambda: desk.ledger.submitted == [names])
        until("the index at the head", lambda: desk.index.head() is not None)
    finally:
        desk.saga.worker.close()
        desk.follower.worker.close()


def receipted(desk: Desk, readings: int = 4) -> tuple[Trip, list[Batch]]:
    """Bring one trip as far as its receipt, in block 2."""
    trip, batches = desk.committed(readings)
    assert block_of_receipt(desk, trip) == 2
    return trip, batches


def block_of_receipt(desk: Desk, trip: Trip, device_id: str = "truck-1") -> int | None:
    body = desk.receipt(trip, device_id)
    return None if body is None else body.block_num


def test_what_a_ledger_that_went_back_has_no_more_is_handed_over_again(desk: Desk) -> None:
    trip, batches = receipted(desk)
    names = [batch.header_signature for batch in batches]
    desk.go_back(trip)
    desk.saga.step()
    assert block_of_receipt(desk, trip) is None
    assert desk.ledger.submitted == [names, names]
    desk.commit_again(trip, batches, salt="after the copy")
    assert set(desk.states(names)) == {State.COMMITTED}
    assert block_of_receipt(desk, trip) == 3


def test_a_transaction_that_is_gone_is_waited_for_again(desk: Desk) -> None:
    trip, batches = receipted(desk)
    before = batches[0].transactions[-1].header_signature
    desk.ledger.transactions.add(before)
    later = Trip(nonce=nonce(2))
    waiting = build_batch(later.signer, [later.sign(later.start, [before])])
    desk.inbox.add([admit_records(wire_of(waiting), "truck-1")], [])
    desk.saga.step()
    assert desk.ledger.submitted[-1] == [waiting.header_signature]
    desk.go_back(trip)
    desk.ledger.statuses[waiting.header_signature] = "UNKNOWN"
    desk.ledger.transactions.clear()
    desk.saga.step()
    names = [batch.header_signature for batch in batches]
    desk.inbox.mark(names, State.QUARANTINED, "so that they do not come before it again")
    desk.ledger.statuses[waiting.header_signature] = "UNKNOWN"
    desk.saga.step()
    assert desk.saga.blocked_by() == {waiting.header_signature: before}


def test_the_next_batches_follow_while_the_first_are_pending(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saga, "SUBMIT_BATCHES_MAX", 20)
    monkeypatch.setattr(saga, "AHEAD_MAX", 40)
    names = desk.hold(trip_batches(1, readings=3 * 45))
    for _ in range(3):
        desk.saga.step()
    two = [names[:20], names[20:40]]
    assert desk.ledger.submitted == two
    desk.ledger.statuses = {names[0]: "COMMITTED"}
    desk.saga.step()
    assert desk.ledger.submitted == [*two, names[40:]]
    assert set(desk.states(names[1:])) == {State.SUBMITTED}


def test_the_index_is_told_when_batches_are_committed(desk: Desk) -> None:
    told: list[State] = []
    names = desk.hold(trip_batches(1))
    desk.saga.committed = lambda: told.extend(desk.states(names))
    desk.saga.step()
    desk.saga.step()
    assert told == []
    desk.ledger.statuses = dict.fromkeys(names, "COMMITTED")
    desk.saga.step()
    assert told == [State.COMMITTED] * len(names)


def test_many_bytes_of_a_chain_go_in_several_lists(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = desk.hold(trip_batches(1, readings=60))
    size = {name: len(held.wire) for name in names if (held := desk.inbox.batch(name))}
    bytes_max = sum(size[name] for name in names[:5])
    monkeypatch.setattr(saga, "SUBMIT_BYTES", bytes_max)
    monkeypatch.setattr(saga, "AHEAD_BYTES_MAX", 2 * bytes_max)
    for _ in range(4):
        desk.saga.step()
    first, second = desk.ledger.submitted
    assert first + second == names[: len(first) + len(second)]
    for one in (first, second):
        assert sum(size[name] for name in one[:-1]) < bytes_max <= sum(size[name] for name in one)
    desk.ledger.statuses = {names[0]: "COMMITTED", names[1]: "COMMITTED"}
    desk.saga.step()
    assert len(desk.ledger.submitted) == 3


def test_short_chains_share_a_list_as_long_as_there_is_room(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (desk.hold(trip_batches(number)) for number in (1, 2))
    desk.saga.step()
    assert desk.ledger.submitted == [[*one, *other]]
    monkeypatch.setattr(saga, "SUBMIT_BATCHES_MAX", len(one))
    later, last = (desk.hold(trip_batches(number)) for number in (3, 4))
    desk.saga.step()
    assert desk.ledger.submitted == [[*one, *other], later, last]


def test_a_chain_that_cannot_be_looked_at_keeps_no_earlier_one_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unanswered(_facts: LedgerFacts, transaction_id: str) -> bool:
        raise UnavailableError(f"no answer about {transaction_id[:4]}")

    names = desk.hold(trip_batches(1))
    later = Trip(nonce=nonce(2))
    desk.hold([build_batch(later.signer, [later.sign(later.start, ["ab" * 64])])])
    monkeypatch.setattr(LedgerFacts, "has_transaction", unanswered)
    with pytest.raises(UnavailableError, match="no answer about abab"):
        desk.saga.step()
    assert desk.ledger.submitted == [names]


def test_nobody_waits_for_the_ledger_before_it_has_two_lists(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = desk.hold(trip_batches(1, readings=60))
    sizes = [len(held.wire) for name in names if (held := desk.inbox.batch(name))]
    monkeypatch.setattr(saga, "SUBMIT_BYTES", sum(sizes[:5]))
    monkeypatch.setattr(saga, "AHEAD_BYTES_MAX", 2 * sum(sizes[:5]))
    for _ in range(4):
        desk.saga.step()
    assert desk.ledger.waits == [2, 2]


@pytest.mark.parametrize("said", ["INVALID", "UNKNOWN"])
def test_what_follows_a_rejected_batch_is_held_until_that_one_is_released(
    desk: Desk, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    first, *later = names = desk.hold(trip_batches(1, readings=9))
    desk.saga.step()
    desk.ledger.statuses = {first: "INVALID"} | dict.fromkeys(later, said)
    desk.saga.step()
    assert desk.states(names) == [State.QUARANTINED] + [State.HELD] * len(later)
    assert desk.saga.blocked_by().keys() == set(later)
    assert [line for line in caplog.messages if "unknown to the ledger" in line] == []
    desk.ledger.statuses.clear()
    desk.inbox.mark([first], State.HELD)
    desk.saga.step()
    assert desk.ledger.submitted == [names, names]


def test_batches_whose_bytes_were_dropped_are_lost_until_they_come_again(
    desk: Desk, tmp_path: Path
) -> None:
    trip, batches = receipted(desk, readings=60)
    names = [batch.header_signature for batch in batches]
    path, more = tmp_path / "inbox.db", trip_batches(3, readings=40)
    with closing(Inbox(path, bytes_max=150_000, quarantine_bytes_max=MIB)) as full:
        full.add([admit_records(wire_of(batch), "truck-1") for batch in more], [])
    desk.go_back(trip)
    desk.saga.step()
    assert set(desk.states(names)) == {State.LOST}
    desk.hold(batches)
    assert set(desk.states(names)) == {State.HELD}
    desk.saga.step()
    assert desk.ledger.submitted[0] == desk.ledger.submitted[-1] == names


def test_a_kill_before_all_was_looked_at_again_loses_nothing(desk: Desk) -> None:
    trip, batches = receipted(desk)
    desk.go_back(trip)
    desk = desk.restarted()
    desk.saga.step()
    assert set(desk.states([batch.header_signature for batch in batches])) == {State.SUBMITTED}
    assert block_of_receipt(desk, trip) is None


@dataclass
class Rear(Trip):
    """What another device records on the first one's trip."""

    device_id: str = "rear-1"
    signer: Signer = field(default_factory=lambda: key("rear-1"))

    @property
    def trip_id(self) -> str:
        return Trip().trip_id

    def joined(self, start_id: str, made: RecordingDigest) -> list[Batch]:
        """Return its batches of up to three transactions; the batch of its recording is last."""
        first = decode(self.record(reading(0)).payload)
        readings = [self.sign(first, [start_id]), self.record(reading(1)), self.seal([made])]
        return [
            build_batch(self.signer, readings),
            self.video(made, readings[-1].header_signature),
        ]


def test_each_device_of_a_trip_gets_its_receipt_for_what_is_its_own(desk: Desk) -> None:
    front = Trip()
    batches = front.whole([reading(at) for at in range(4)], [desk.stored(b"front")], size=3)
    rear = Rear().joined(batches[0].transactions[0].header_signature, desk.stored(b"rear"))
    for device_id, mine in (("truck-1", batches), ("rear-1", rear)):
        desk.inbox.visits.note(front.trip_id, device_id)
        desk.ledger.state[address.chain(front.trip_id, device_id)] = sealed(mine)
    desk.ledger.extend([registrations(), batches, rear[:1]])
    desk.follow()
    desk.saga.step()
    assert block_of_receipt(desk, front) == 2
    assert block_of_receipt(desk, front, "rear-1") is None
    desk.ledger.extend([[], rear[1:], []])
    desk.follow()
    desk.saga.step()
    assert block_of_receipt(desk, front, "rear-1") == 5


def test_what_joins_a_trip_waits_for_its_start(desk: Desk) -> None:
    batches = trip_batches(0)
    start_id = batches[0].transactions[0].header_signature
    rear = Rear().joined(start_id, RecordingDigest(bytes(32), 1, bytes(32)))[0]
    desk.inbox.add([admit_records(wire_of(rear), "rear-1")], [])
    desk.saga.step()
    assert desk.states([rear.header_signature]) == [State.HELD]
    assert desk.saga.blocked_by() == {rear.header_signature: start_id}
    assert desk.ledger.submitted == []
    desk.ledger.transactions.add(start_id)
    desk.saga.step()
    assert desk.ledger.submitted == [[rear.header_signature]]


@pytest.mark.parametrize("order", [1, -1])
def test_a_long_chain_is_handed_over_in_its_order(
    desk: Desk, order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saga, "SUBMIT_BATCHES_MAX", 20)
    batches = trip_batches(1, readings=150)
    names = desk.hold(batches[::order])[::order]
    desk.saga.step()
    assert desk.ledger.submitted == [names[: len(desk.ledger.submitted[0])]]
    assert len(desk.ledger.submitted[0]) == 20
