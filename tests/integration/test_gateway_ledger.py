"""The index and the saga against a ledger that forks, is busy, refuses, forgets, or babbles."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.ledger import BACK_OFF_S, LedgerClient
from contracts.proto.sawtooth_pb2 import Batch
from gateway.admission import admit_records
from gateway.inbox import Inbox, State
from gateway.index.follower import Follower
from gateway.index.schema import TABLES
from gateway.index.store import IndexStore
from gateway.ledgerfacts import LedgerFacts
from gateway.network import Network
from gateway.offload import OffloadSaga
from gateway.receipts import Receipts
from storage.blobs.files import FileBlobs
from storage.recordings.store import RecordingStore
from storage.volumes.directory import VolumeDirectory
from support.chain import genesis_batch
from support.fake_ledger import FakeLedger
from support.rogue import nonce, until, wire_of
from support.world import Trip, key, reading, registrations

pytestmark = pytest.mark.integration

MIB = 1 << 20


@dataclass
class Desk:
    """The gateway's parts around a fake ledger, stepped by hand."""

    ledger: FakeLedger
    inbox: Inbox
    index: IndexStore
    follower: Follower
    saga: OffloadSaga
    waits: list[float]

    def hold(self, batches: list[Batch]) -> list[str]:
        self.inbox.add([admit_records(wire_of(batch), "truck-1") for batch in batches], [])
        return [batch.header_signature for batch in batches]

    def states(self, names: list[str]) -> list[State]:
        found = [self.inbox.batch(name) for name in names]
        return [held.state for held in found if held is not None]

    def follow(self) -> None:
        until("the ledger's head", self._at_head)

    def _at_head(self) -> bool:
        self.follower.catch_up()
        head = self.index.head()
        return head is not None and head[1] == self.ledger.blocks[-1].header_signature


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ExitStack() as stack:
        ledger = stack.enter_context(FakeLedger())
        ledger.extend([[genesis_batch(key("node"))]])
        waits: list[float] = []
        client = LedgerClient(ledger.url, sleep=waits.append)
        stack.callback(client.close)
        recordings = stack.enter_context(
            RecordingStore(
                tmp_path / "recordings",
                FileBlobs(tmp_path / "blobs"),
                VolumeDirectory(tmp_path / "volume"),
            )
        )
        inbox = Inbox(tmp_path / "inbox.db", bytes_max=64 * MIB, quarantine_bytes_max=MIB)
        stack.callback(inbox.close)
        index = IndexStore(tmp_path / "index.db")
        stack.callback(index.close)
        facts = LedgerFacts(client)
        receipts = Receipts(
            inbox,
            index,
            facts,
            recordings,
            Signer.generate(),
            site_id="site-b",
            send=lambda _, __: None,
        )
        network = Network(client, inbox, index)
        saga = OffloadSaga(inbox, client, network, facts, recordings, receipts)
        follower = Follower(client, network, index, lambda: None)
        yield Desk(ledger, inbox, index, follower, saga, waits)


def trip_batches(number: int, readings: int = 4) -> list[Batch]:
    return Trip(nonce=nonce(number)).whole([reading(at) for at in range(readings)], size=3)


def readings_of(desk: Desk) -> set[str]:
    return {row[0] for row in desk.index.query("SELECT trip_id FROM readings")}


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
    for table in TABLES:
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


@pytest.mark.parametrize("order", [1, -1])
def test_a_long_chain_is_handed_over_in_its_order(desk: Desk, order: int) -> None:
    batches = trip_batches(1, readings=150)
    names = desk.hold(batches[::order])[::order]
    desk.saga.step()
    assert desk.ledger.submitted == [names[: len(desk.ledger.submitted[0])]]
    assert len(desk.ledger.submitted[0]) == 20
