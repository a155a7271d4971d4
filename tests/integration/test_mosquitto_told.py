"""The gateway tells a broker that it cannot reach, one that comes later, and a shared session."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from contracts.runtime.ports import free_port
from gateway.intake.inbox import Inbox
from gateway.intake.mqtt import Intake
from gateway.settings import Settings
from gateway.settings_file import load_settings
from support.machine.mosquitto import Mosquitto, tables
from support.machine.private import write_private
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

BYTES = 1 << 20


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    text = f'data = "{tmp_path}/data"\nsite_id = "b"\n{tables(tmp_path, free_port(), free_port())}'
    return load_settings(write_private(tmp_path / "gateway.toml", text))


@pytest.fixture
def broker(settings: Settings) -> Iterator[Mosquitto]:
    """Yield a broker that is not started yet."""
    made = Mosquitto(settings)
    yield made
    made.stop()


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with closing(Inbox(tmp_path / "inbox.db", bytes_max=BYTES, quarantine_bytes_max=BYTES)) as made:
        yield made


def intake(inbox: Inbox, settings: Settings) -> Intake:
    made = Intake(
        inbox,
        "site-b",
        trip_of=lambda *_: None,
        repeat_receipts=lambda *_: None,
        on_change=lambda: None,
    )
    mqtt = settings.mqtt
    made.start(mqtt.host, mqtt.port, mqtt.username, mqtt.password)
    return made


def suspects(intake: Intake) -> bool:
    return "does another gateway use" in intake.broker.reason


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if "broker is" in each.getMessage()]


def test_a_broker_that_comes_later_and_goes_is_told_each_time(
    inbox: Inbox, settings: Settings, broker: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with closing(intake(inbox, settings)) as made:
        until("the failure", lambda: "cannot be reached" in made.broker.reason)
        broker.start()
        until("the broker", lambda: not made.broker.reason)
        broker.stop()
        until("the loss", lambda: bool(made.broker.reason))
    place = f"{settings.mqtt.host}:{settings.mqtt.port}"
    first, back, lost = lines(caplog)
    assert first.startswith(f"the MQTT broker is out: {place} cannot be reached: [Errno 111]")
    assert back.startswith("the MQTT broker is back, after ")
    assert lost.startswith(f"the MQTT broker is out: the connection to {place} was lost: ")


def test_two_gateways_that_share_a_session_are_told_so(
    inbox: Inbox, settings: Settings, broker: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    # Six seconds: each of them waits a second before it connects again.
    caplog.set_level("INFO")
    broker.start()
    with closing(intake(inbox, settings)) as first:
        until("the broker", first.connected.is_set)
        with closing(intake(inbox, settings)) as second:
            for each in (first, second):
                until("the suspicion", partial(suspects, each))
    said = [each.getMessage() for each in caplog.records]
    assert sum("is out" in line for line in said) == 2
    assert sum("does another gateway use" in line for line in said) == 2
