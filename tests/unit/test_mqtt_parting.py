"""A connection that is closed just as paho's own thread ends is closed without an error."""

from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from paho.mqtt.client import Client

from device.offload.mqtt import MqttConnection
from device.settings import GatewaySettings
from gateway.intake.inbox import Inbox
from gateway.intake.mqtt import Intake
from support.network.world import key


class Parting(Client):
    """Has a thread when it looks whether to wait for it, and none when it waits.

    paho's thread forgets itself when it ends, which may be between the two.
    """

    ended = False

    @property
    def _thread(self) -> Thread | None:
        return None if self.ended else Thread()

    @_thread.setter
    def _thread(self, _: Thread | None) -> None:
        pass

    @property
    def _thread_terminate(self) -> bool:
        return self.ended

    @_thread_terminate.setter
    def _thread_terminate(self, asked: bool) -> None:
        self.ended = asked


def test_a_truck_s_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.offload.mqtt.Client", Parting)
    settings = GatewaySettings("127.0.0.1:1", "http://127.0.0.1:1", (key("site").public_key,))
    connection = MqttConnection(settings, "truck-1")
    connection.close()


def test_a_gateway_s_connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("gateway.intake.mqtt.Client", Parting)
    with closing(Inbox(tmp_path / "i.db", bytes_max=1 << 20, quarantine_bytes_max=1)) as inbox:
        intake = Intake(
            inbox,
            "site",
            trip_of=lambda *_: None,
            repeat_receipts=lambda *_: None,
            on_change=lambda: None,
        )
        intake.start("127.0.0.1", 1, "gateway", "")
        intake.close()
