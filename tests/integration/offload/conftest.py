"""A truck beside a broker and a small gateway."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gateways.truck_gateway import FakeGateway, amqtt_broker, mosquitto_broker
from support.machine.mosquitto import SERVER
from support.trucks.truck import Truck


@pytest.fixture(scope="module", params=[pytest.param("amqtt", marks=pytest.mark.long), "mosquitto"])
def broker_port(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    if request.param == "mosquitto" and not SERVER.exists():
        pytest.fail(f"{SERVER} is not installed; `make test` installs it")
    folder = tmp_path_factory.mktemp("broker")
    broker = amqtt_broker if request.param == "amqtt" else mosquitto_broker
    with broker(folder) as port:
        yield port


@pytest.fixture
def truck(gateway: FakeGateway, tmp_path: Path) -> Truck:
    return Truck(tmp_path / "truck", gateway.section)
