"""The intake's thread survives every failure below it, because a dead thread would go unnoticed."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.proto.wire_pb2 import Offer
from contracts.wire import Topic
from gateway.access import Role, Tokens
from gateway.intake.broker import BrokerAccess, EmbeddedBroker
from gateway.intake.inbox import Inbox
from gateway.intake.mqtt import Intake
from support.network.world import Trip, reading
from support.trucks.rogue import DEADLINE_S, Rogue, records, until, wire_of

pytestmark = pytest.mark.integration

KNOWN, UNKNOWN = "a" * 128, "b" * 128


class Index:
    """Tells the trip of one batch, unless its disk fails; may be made to wait."""

    fails = False

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.answers = threading.Event()
        self.answers.set()

    def trip_of(self, batch_id: str, _device_id: str) -> str | None:
        self.asked.set()
        assert self.answers.wait(DEADLINE_S)
        if self.fails:
            raise UnavailableError("index: disk I/O error")
        return "0" * 32 if batch_id == KNOWN else None


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    access = BrokerAccess(tmp_path / "tokens.json", "gateway", "password")
    with closing(EmbeddedBroker("127.0.0.1", 0, access)) as broker:
        yield broker


@pytest.fixture
def intake(tmp_path: Path, index: Index, broker: EmbeddedBroker) -> Iterator[Intake]:
    limit = 1 << 20
    inbox = Inbox(tmp_path / "inbox.db", bytes_max=limit, quarantine_bytes_max=limit)
    with closing(inbox):
        intake = Intake(
            inbox,
            "test",
            trip_of=index.trip_of,
            repeat_receipts=lambda *_: None,
            on_change=lambda: None,
        )
        intake.start("127.0.0.1", broker.port, "gateway", "password")
        with closing(intake):
            assert intake.connected.wait(DEADLINE_S)
            yield intake


@pytest.fixture
def truck(tmp_path: Path, broker: EmbeddedBroker, intake: Intake) -> Iterator[Rogue]:
    assert intake.connected.is_set()
    token = Tokens(tmp_path / "tokens.json").add("truck-1", Role.DEVICE)
    with Rogue(f"127.0.0.1:{broker.port}", "truck-1", token) as made:
        yield made


def test_an_offer_that_cannot_be_answered_is_answered_when_it_is_repeated(
    truck: Rogue, index: Index
) -> None:
    assert truck.ask(KNOWN, UNKNOWN).batch_ids == [KNOWN]
    index.fails = True
    offer = Offer(session=b"some session", batch_ids=[KNOWN])
    (refusal,) = truck.say(Topic.OFFERS, offer.SerializeToString()).refused
    assert refusal.retry
    assert "disk I/O error" in refusal.reason
    index.fails = False
    assert truck.ask(KNOWN).batch_ids == [KNOWN]


def test_an_offer_that_cannot_be_answered_takes_no_other_answer_away(
    truck: Rogue, index: Index, intake: Intake
) -> None:
    index.answers.clear()
    index.fails = True
    offer = Offer(session=b"some session", batch_ids=[UNKNOWN]).SerializeToString()
    batches = Trip().whole([reading(number) for number in range(6)], size=2)
    truck.publish(Topic.OFFERS, offer)
    assert index.asked.wait(DEADLINE_S)  # what comes now is the next group
    truck.publish(Topic.OFFERS, offer)
    for batch in batches:
        truck.publish(Topic.RECORDS, records([wire_of(batch)]))
    until("all messages", lambda: intake._waiting.qsize() == 1 + len(batches))  # noqa: SLF001
    index.answers.set()
    for _ in range(2):
        (refusal,) = truck.hear().refused
        assert (refusal.retry, refusal.reason) == (True, "index: disk I/O error")
    assert truck.hear().batch_ids == [batch.header_signature for batch in batches]


def test_messages_that_wait_together_have_one_answer(
    truck: Rogue, index: Index, intake: Intake
) -> None:
    index.answers.clear()
    offer = Offer(session=b"some session", batch_ids=[KNOWN])
    truck.publish(Topic.OFFERS, offer.SerializeToString())
    assert index.asked.wait(DEADLINE_S)  # what comes now is the next group
    batches = Trip().whole([reading(number) for number in range(6)], size=2)
    for batch in batches:
        truck.publish(Topic.RECORDS, records([wire_of(batch)]))
    until("all messages", lambda: intake._waiting.qsize() == len(batches))  # noqa: SLF001
    index.answers.set()
    assert truck.hear().session == b"some session"
    assert truck.hear().batch_ids == [batch.header_signature for batch in batches]
