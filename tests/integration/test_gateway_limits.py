"""Strangers and lost keys cannot use up connections or memory, or forge receipts that count."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

import gateway.intake.broker
from contracts.errors import RejectedError
from gateway.intake.broker import PACKET_BYTES_MAX, BrokerAccess, EmbeddedBroker
from gateway.ownkey import own_key
from gateway.settings import Settings

pytestmark = pytest.mark.integration

DEADLINE_S = 15.0


@pytest.fixture
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedBroker]:
    monkeypatch.setattr(gateway.intake.broker, "CONNECT_TIMEOUT_S", 0.2)
    access = BrokerAccess(tmp_path / "tokens.json", "gateway", "secret")
    with closing(EmbeddedBroker("127.0.0.1", 0, access)) as made:
        yield made


def test_a_connection_that_says_nothing_is_ended(broker: EmbeddedBroker) -> None:
    with socket.create_connection(("127.0.0.1", broker.port), DEADLINE_S) as silent:
        assert silent.recv(1) == b""


def test_a_packet_larger_than_any_of_ours_ends_its_connection(broker: EmbeddedBroker) -> None:
    lost = threading.Event()
    client = Client(CallbackAPIVersion.VERSION2, client_id="gateway")
    client.on_disconnect = lambda *_: lost.set()
    client.username_pw_set("gateway", "secret")
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    try:
        ticket = client.publish("wayseal/v1/truck-1/records", bytes(PACKET_BYTES_MAX + 1), qos=1)
        assert lost.wait(DEADLINE_S)
        assert not ticket.is_published()
    finally:
        client.disconnect()
        client.loop_stop()


def test_no_log_line_is_made_of_the_bytes_of_a_message(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "amqtt")
    came = threading.Event()
    client = Client(CallbackAPIVersion.VERSION2, client_id="gateway")
    client.on_message = lambda *_: came.set()
    client.username_pw_set("gateway", "secret")
    client.connect("127.0.0.1", broker.port)
    client.subscribe("wayseal/v1/+/records", 1)
    client.publish("wayseal/v1/truck-1/records", b"bytes " * 9, 1)
    client.loop_start()
    try:
        assert came.wait(DEADLINE_S)
    finally:
        client.disconnect()
        client.loop_stop()
    assert any("wayseal/v1/truck-1/records" in line for line in caplog.messages)
    assert [line for line in caplog.messages if "bytes bytes" in line] == []


def test_a_gateway_that_worked_does_not_make_another_key(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, site_id="site-b")
    first = own_key(settings).public_key
    (tmp_path / "inbox.db").touch()
    assert own_key(settings).public_key == first
    settings.key_file.unlink()
    with pytest.raises(RejectedError, match=r"gateway\.key is missing"):
        own_key(settings)
    assert not settings.key_file.exists()
