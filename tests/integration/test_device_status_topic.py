"""How a truck stands, over MQTT: retained for whoever asks later, and for operators alone."""

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from contracts.wire import Topic, topic
from device.commands.simulate import TripFiles
from support.gateways.appliance import QuickAppliance
from support.gateways.truck_gateway import FakeGateway, mosquitto_broker
from support.machine.mosquitto import MosquittoAppliance
from support.trucks.roaming import RoamingTruck
from support.trucks.rogue import DEADLINE_S, Site, running_site, until
from support.trucks.truck import Truck

pytestmark = pytest.mark.integration

EVERY = topic("+", Topic.STATUS)


class Yard:
    """A program of the yard, which hears messages."""

    def __init__(self, address: str, name: str, token: str, wanted: str) -> None:
        self.heard: queue.Queue[MQTTMessage] = queue.Queue()
        self.granted = threading.Event()
        self.refused = False
        self._wanted = wanted
        self.client = Client(
            CallbackAPIVersion.VERSION2, client_id=name, reconnect_on_failure=False
        )
        self.client.username_pw_set(name, token)
        self.client.on_connect = lambda client, *_: client.subscribe(self._wanted, 1)
        self.client.on_subscribe = self._subscribed
        self.client.on_message = lambda _client, _userdata, message: self.heard.put(message)
        host, port = address.rsplit(":", 1)
        self.client.connect(host, int(port))
        self.client.loop_start()
        until("an answer of the broker", self.granted.is_set)

    def _subscribed(self, *arguments: Any) -> None:  # noqa: ANN401 - paho's signature
        self.refused = any(reason.is_failure for reason in arguments[3])
        self.granted.set()

    def next(self) -> dict[str, Any]:
        return dict(json.loads(self.heard.get(timeout=DEADLINE_S).payload))

    def until(self, state: str) -> dict[str, Any]:
        while (found := self.next())["state"] != state:
            pass
        return found

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


@contextmanager
def yard(site: Site, name: str, role: str, wanted: str = EVERY) -> Iterator[Yard]:
    token = site.appliance.token(name, role)
    if role == "operator" and isinstance(site.appliance, MosquittoAppliance):
        broker = site.appliance.broker
        assert broker is not None
        broker.refresh()
        broker.stop()  # it reads operators' rights only at its start
        broker.start()
    made = Yard(site.appliance.mqtt, name, token, wanted)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module", params=[QuickAppliance, MosquittoAppliance])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    with running_site(directory, request.param(directory / "site-b")) as made:
        yield made


def test_a_yard_sees_the_truck_come_offload_and_be_free_to_leave(
    roaming: RoamingTruck, site: Site
) -> None:
    with yard(site, "gate", "operator") as gate, roaming.running():
        roaming.drive()
        stays = gate.until("offloading")
        while stays["may_leave"]:
            stays = gate.until("offloading")
        assert "no final receipt" in stays["because"]
        assert stays["device_id"] == roaming.truck.device_id
        free = gate.until("docked")
        while not free["may_leave"]:
            free = gate.until("docked")
        assert (free["because"], free["trouble"]) == ("", "")
    with yard(site, "later", "operator") as later:
        message = later.heard.get(timeout=DEADLINE_S)
        assert message.retain
        assert json.loads(message.payload) == free | {"at": free["at"]}
        assert message.topic == topic(roaming.truck.device_id, Topic.STATUS)


def test_no_truck_hears_or_says_how_another_stands(site: Site) -> None:
    with (
        yard(site, "gate", "operator") as gate,
        yard(site, "truck-1", "device", topic("truck-1", Topic.HELD)) as truck,
        yard(site, "truck-2", "device") as curious,
    ):
        lie = topic("truck-2", Topic.STATUS)
        truck.client.publish(lie, b'{"state": "lie"}', qos=1, retain=True).wait_for_publish(30)
        own = topic("truck-1", Topic.STATUS)
        truck.client.publish(own, b'{"state": "true"}', qos=1, retain=True).wait_for_publish(30)
        found = gate.until("true")
        assert found == {"state": "true"}
        assert all(json.loads(each.payload)["state"] != "lie" for each in gate.heard.queue)
        assert curious.heard.empty()
        truck.client.publish(own, b"", qos=1, retain=True).wait_for_publish(30)


def test_an_operators_program_hears_nothing_else(site: Site) -> None:
    wanted = topic("+", Topic.RECEIPTS)
    with (
        yard(site, "nosy", "operator", wanted) as nosy,
        yard(site, "truck-1", "device", topic("truck-1", Topic.RECEIPTS)) as truck,
    ):
        nosy.client.publish(topic("truck-1", Topic.RECEIPTS), b"lie", qos=1).wait_for_publish(30)
        nosy.client.subscribe(topic("truck-1", Topic.HELD), 1)
        mine = topic("truck-1", Topic.STATUS)
        truck.client.publish(mine, b"{}", qos=1).wait_for_publish(30)
        assert truck.heard.empty()
        assert nosy.heard.empty()


def test_a_broker_that_retains_nothing_still_gets_the_offload(
    tmp_path: Path, files: TripFiles
) -> None:
    """A gateway of an earlier version set up its mosquitto so; it ends the connection."""
    with mosquitto_broker(tmp_path, retains=False) as port, FakeGateway(port) as gateway:
        truck = Truck(tmp_path / "truck", gateway.section)
        truck.must("record", "--readings", files.readings, "--video", files.video)
        status, _, said = truck.run("offload")
        assert status == 0, said
        assert "it gets none for an hour" in said
        assert truck.must("status")["may_leave"] is True
