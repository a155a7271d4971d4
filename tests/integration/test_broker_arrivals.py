"""Many trucks that come at the same time: each has its answer from the broker."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from contracts.wire import Topic, topic
from gateway.access import Role, Tokens
from gateway.intake.broker import BrokerAccess, EmbeddedBroker
from support.trucks.rogue import DEADLINE_S, Rogue

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
