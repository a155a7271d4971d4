"""What a rogue truck puts into the inbox hurts only itself."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import Chain
from contracts.proto.wire_pb2 import RecordingOffer
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from gateway.intake.admission import admit_offer, admit_records
from gateway.intake.held import HeldBatch, Offer, State
from gateway.intake.inbox import Inbox
from gateway.intake.quotas import DeviceLimits
from gateway.offload.ledgerfacts import LedgerFacts
from gateway.offload.receipts import VISITS_ASKED_MAX
from gateway.offload.saga import MISSES_MAX, OFFERS_LOOKED_AT_MAX
from support.evidence.chain import digest_of
from support.gateways.desk import open_desk
from support.network.world import Trip, key, reading
from support.trucks.rogue import nonce, wire_of
from support.trucks.uploads import offer_of

MIB = 1 << 20
VIDEO = b"the honest truck's video"


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    limits = DeviceLimits(bytes_max=20_000, batches_max=6, quarantine_bytes_max=4_000, visits_max=3)
    with closing(
        Inbox(tmp_path / "i.db", bytes_max=MIB, quarantine_bytes_max=10_000, of_device=limits)
    ) as opened:
        yield opened


def rogue_trip(number: int, device_id: str = "truck-2") -> Trip:
    return Trip(device_id, nonce(number), signer=key(device_id))


def waiting(number: int, device_id: str = "truck-2") -> HeldBatch:
    """Return a batch that waits for a transaction that never comes."""
    _, orphan, *_ = rogue_trip(number, device_id).whole([reading(at) for at in range(3)], size=1)
    return admit_records(wire_of(orphan), device_id)


def test_trips_that_were_released_move_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    """The ledger has a finding on a trip that comes before an earlier one of its device."""
    with closing(Inbox(tmp_path / "i.db", bytes_max=MIB, quarantine_bytes_max=MIB)) as inbox:
        trips = [rogue_trip(number).whole([reading(0)]) for number in range(30)]
        starts = [admit_records(wire_of(trip[0]), "truck-2") for trip in trips]
        assert starts != sorted(starts, key=lambda each: each.trip_id)
        inbox.add(starts, [])
        ids = [each.batch_id for each in starts]
        inbox.mark(ids, State.QUARANTINED, "not registered")
        assert [each.batch_id for each in inbox.in_state(State.QUARANTINED, 100)] == ids
        for released in (ids[:9], ids):
            inbox.mark(released, State.HELD)
            assert [chain[0].batch_id for chain in inbox.chains(10, MIB)] == released


def test_a_released_trip_does_not_overtake_the_one_before(tmp_path: Path) -> None:
    """Their later batches wait, so that both are looked at already when they are released."""
    with closing(Inbox(tmp_path / "i.db", bytes_max=MIB, quarantine_bytes_max=MIB)) as inbox:
        starts, later = [], []
        for number in (1, 2):
            first, second, *_ = rogue_trip(number).whole([reading(at) for at in range(3)], size=1)
            starts.append(admit_records(wire_of(first), "truck-2"))
            later.append(admit_records(wire_of(second), "truck-2"))
            inbox.add([starts[-1], later[-1]], [])
        ids = [each.batch_id for each in starts]
        inbox.mark(ids, State.QUARANTINED, "not registered")
        chains = inbox.chains(10, MIB)
        assert next(chains) == later[:1]
        inbox.mark(ids, State.HELD)
        assert list(chains) == []
        assert [chain[0].batch_id for chain in inbox.chains(10, MIB)] == ids


def nonsense(number: int, device_id: str = "truck-2") -> HeldBatch:
    """Return a batch that no rule accepts."""
    signer = key(device_id)
    transaction = build_transaction(
        signer,
        Family("intkey", "1.0"),
        bytes(1_000) + number.to_bytes(4),
        batcher_public_key=signer.public_key,
        inputs=[],
        outputs=[],
    )
    return admit_records(wire_of(build_batch(signer, [transaction])), device_id)


def video(trip: Trip) -> tuple[Batch, RecordingOffer]:
    """Return a digest and its offer."""
    *_, digest = trip.whole([reading(0)], [digest_of(VIDEO)])
    return digest, offer_of(trip, VIDEO, digest)


def test_another_trucks_digest_is_not_kept_among_records() -> None:
    digest, _ = video(Trip())
    with pytest.raises(RejectedError, match="is of device truck-1, but came from truck-2"):
        admit_records(wire_of(digest), "truck-2")


def test_a_digest_that_its_own_truck_sent_the_wrong_way_is_not_blocked(inbox: Inbox) -> None:
    digest, offer = video(Trip())
    first = admit_records(wire_of(digest), "truck-1")
    inbox.add([first], [])
    assert first.state is State.QUARANTINED
    held, announced = admit_offer(offer, "truck-1")
    inbox.add([held], [announced])
    assert [each.batch_id for each in inbox.offers_in(State.HELD)] == [digest.header_signature]


def test_what_no_rule_accepts_is_kept_in_its_senders_name() -> None:
    assert nonsense(1).device_id == "truck-2"


def test_a_device_has_a_number_of_waiting_batches(inbox: Inbox) -> None:
    mine = [waiting(0)] * 2
    refused = inbox.add([*mine, *(waiting(each) for each in (1, 2))], [])
    assert not refused
    assert inbox.add([waiting(3)], []) == {
        waiting(3).batch_id: "truck-2 has 3 visits without a final receipt, at most 3 allowed"
    }


def test_bytes_of_a_device(inbox: Inbox) -> None:
    batches = [
        admit_records(wire_of(each), "truck-2")
        for each in rogue_trip(1).whole([reading(at) for at in range(40)], size=10)
    ]
    refused = inbox.add(batches, [])
    assert refused
    assert all("inbox of truck-2 is full" in why for why in refused.values())
    honest = Trip().whole([reading(at) for at in range(4)], size=2)
    assert not inbox.add([admit_records(wire_of(each), "truck-1") for each in honest], [])


def test_what_is_held_already_is_never_refused(inbox: Inbox) -> None:
    trip = rogue_trip(1).whole([reading(at) for at in range(20)], size=1)
    batches = [admit_records(wire_of(each), "truck-2") for each in trip]
    first = set(inbox.add(batches, []))
    assert first
    assert set(inbox.add(batches, [])) == first


def test_a_full_quarantine_refuses_only_what_belongs_there(inbox: Inbox) -> None:
    refused = inbox.add([nonsense(each) for each in range(4)], [])
    assert refused
    assert all("quarantine of truck-2 is full" in why for why in refused.values())
    for device in range(3, 9):
        inbox.add([nonsense(each, f"truck-{device}") for each in range(2)], [])
    start, *_ = Trip().whole([reading(0)])
    good, bad = admit_records(wire_of(start), "truck-1"), nonsense(1, "truck-1")
    (why,) = inbox.add([good, bad], []).values()
    assert "quarantine is full" in why
    assert inbox.ids_in(State.HELD, 10) == [good.batch_id]


def test_an_offer_whose_digest_is_refused_is_not_kept(inbox: Inbox) -> None:
    inbox.add([waiting(each) for each in range(3)], [])
    _, offer = video(rogue_trip(9))
    held, announced = admit_offer(offer, "truck-2")
    assert inbox.add([held], [announced])
    assert inbox.offers_of(announced.recording) == []


def test_a_device_whose_chains_wait_for_nothing_costs_the_ledger_few_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def has_transaction(_: LedgerFacts, transaction_id: str) -> bool:
        asked.append(transaction_id)
        return False

    monkeypatch.setattr(LedgerFacts, "has_transaction", has_transaction)
    with open_desk(tmp_path) as desk:
        desk.inbox.add([waiting(number) for number in range(3 * MISSES_MAX)], [])
        mine = waiting(0, "truck-1")
        desk.inbox.add([mine], [])
        desk.saga.step()
        assert len(asked) == MISSES_MAX + 1
        assert mine.dependency in asked
        assert desk.saga.blocked_by().keys() == set(desk.inbox.ids_in(State.HELD, 99))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Trip and device of each chain that the ledger is asked for; it knows none."""
    chains: list[tuple[str, str]] = []

    def chain(_: LedgerFacts, trip_id: str, device_id: str) -> Chain:
        chains.append((trip_id, device_id))
        return Chain()

    monkeypatch.setattr(LedgerFacts, "chain", chain)
    return chains


def test_visits_of_which_nothing_is_committed_ask_the_ledger_nothing(
    tmp_path: Path, asked: list[tuple[str, str]]
) -> None:
    with open_desk(tmp_path) as desk:
        desk.inbox.add([waiting(number) for number in range(50)], [])
        desk.receipts.issue()
        assert asked == []
        started = [waiting(number) for number in range(50, 50 + 3 * VISITS_ASKED_MAX)]
        desk.inbox.add(started, [])
        desk.inbox.mark([each.batch_id for each in started], State.COMMITTED)
        mine = waiting(0, "truck-1")
        desk.inbox.add([mine], [])
        desk.inbox.mark([mine.batch_id], State.COMMITTED)
        desk.receipts.issue()
        assert len(asked) == VISITS_ASKED_MAX + 1
        assert (mine.trip_id, "truck-1") in asked
        for _ in range(200):  # each visit's turn comes
            desk.receipts.issue()
        assert len(set(asked)) == len(started) + 1


def test_a_visit_whose_batches_the_ledger_decides_now_is_asked_about_afterwards(
    tmp_path: Path, asked: list[tuple[str, str]]
) -> None:
    first, second = (
        admit_records(wire_of(batch), "truck-2")
        for batch in rogue_trip(0).whole([reading(at) for at in range(4)], size=3)
    )
    with open_desk(tmp_path) as desk:
        desk.inbox.add([first, second], [])
        desk.inbox.mark([first.batch_id], State.COMMITTED)
        desk.inbox.mark([second.batch_id], State.SUBMITTED)
        desk.receipts.issue()
        assert asked == []
        desk.inbox.mark([second.batch_id], State.COMMITTED)
        desk.receipts.issue()
        assert asked == [(first.trip_id, "truck-2")]


def test_a_chain_is_read_up_to_a_number_of_bytes(tmp_path: Path) -> None:
    batches = rogue_trip(0).whole([reading(at) for at in range(9)], size=1)
    with closing(Inbox(tmp_path / "i.db", bytes_max=MIB, quarantine_bytes_max=MIB)) as inbox:
        held = [admit_records(wire_of(batch), "truck-2") for batch in batches]
        inbox.add(held, [])
        sizes = [len(each.wire) for each in held]
        for count in range(1, len(held) + 1):
            for bytes_max in (sum(sizes[: count - 1]) + 1, sum(sizes[:count])):
                assert list(inbox.chains(99, bytes_max)) == [held[:count]]
        assert list(inbox.chains(3, MIB)) == [held[:3]]


def test_digests_that_wait_for_bytes_take_a_bounded_part_of_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[bytes] = []
    with open_desk(tmp_path) as desk:
        for number in range(OFFERS_LOOKED_AT_MAX + 5):
            held = waiting(number)
            recording = number.to_bytes(32)
            offer = Offer(held.trip_id, "truck-2", recording, 1, bytes(32), held.batch_id)
            desk.inbox.add([replace(held, recording=recording)], [offer])
        monkeypatch.setattr(desk.shelf.store, "manifest", looked.append)
        desk.saga.step()
    assert len(looked) == OFFERS_LOOKED_AT_MAX
