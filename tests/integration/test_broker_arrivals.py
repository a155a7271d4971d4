"""Trucks at the broker: many at the same time are answered, and their records give way."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from contracts.wire import Topic, topic
from gateway.access import Role, Tokens
from gateway.intake.broker import RECORDS_BYTES_MIN, BrokerAccess, EmbeddedBroker
from support.trucks.rogue import DEADLINE_S, Rogue, until

pytestmark = pytest.mark.integration

TRUCKS = 8
VISITS = 12


@pytest.fixture
def admitted(tmp_path: Path) -> Iterator[tuple[EmbeddedBroker, dict[str, str]]]:
    made = Tokens(tmp_path / "tokens.json")
    names = {f"truck-{number}": Role.DEVICE for number in range(TRUCKS)}
    given = {name: made.add(name, role) for name, role in names.items()}
    access = BrokerAccess(tmp_path / "tokens.json", "gateway", "password")
    with closing(EmbeddedBroker("127.0.0.1", 0, access)) as broker:
        yield broker, given


def test_trucks_that_come_at_once_are_all_answered(
    admitted: tuple[EmbeddedBroker, dict[str, str]],
) -> None:
    broker, given = admitted
    at_once = threading.Barrier(TRUCKS)

    def come(name: str) -> int:
        answered = 0
        for _ in range(VISITS):
            at_once.wait(DEADLINE_S)
            with Rogue(f"127.0.0.1:{broker.port}", name, given[name]) as truck:
                truck.publish(topic(name, Topic.STATUS), b"{}")
                answered += not truck.refused.is_set()
        return answered

    with ThreadPoolExecutor(TRUCKS) as trucks:
        assert list(trucks.map(come, given)) == [VISITS] * TRUCKS


def test_records_give_way_before_the_broker_reads_them_and_passes_them_on(tmp_path: Path) -> None:
    token = Tokens(tmp_path / "tokens.json").add("truck-1", Role.DEVICE)
    access = BrokerAccess(tmp_path / "tokens.json", "gateway", "password")
    asked: list[str] = []
    with (
        closing(
            EmbeddedBroker(
                "127.0.0.1", 0, access, lambda: asked.append(threading.current_thread().name)
            )
        ) as broker,
        Rogue(f"127.0.0.1:{broker.port}", "truck-1", token) as truck,
    ):
        before = len(asked)
        truck.publish(Topic.RECORDS, bytes(RECORDS_BYTES_MIN))
        until("the message is passed on", lambda: len(asked) >= before + 2)
    assert set(asked) == {"broker"}
