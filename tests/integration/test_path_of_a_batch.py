"""How many files a batch of readings crosses from the broker's message to the inbox.

A truck may be hostile, so more stands on this way than on a reading's: topic, size, encoding, ids,
each signature, form and range of each reading, and the device's share of the inbox. The rest is
durability (the database and its page checksums) and the gateway's own account of when a batch came
and how long it took. ADR 0020 names the files.
"""

from contextlib import closing
from pathlib import Path

import pytest

from contracts.encoding import canonical
from contracts.proto.wire_pb2 import Records
from contracts.runtime.ports import free_port
from contracts.wire import Topic
from gateway.access import Role, Tokens
from gateway.intake.inbox import Inbox
from gateway.intake.mqtt import Intake
from gateway.metrics import Metrics
from gateway.settings_file import load_settings
from storage.stages import Stage
from support.machine.mosquitto import Mosquitto, tables
from support.machine.private import write_private
from support.network.world import Trip, reading
from support.project.crossed import Crossed
from support.trucks.rogue import DEADLINE_S, Rogue

pytestmark = pytest.mark.integration

FILES_MAX = 10
"""The steady state: what is opened before the first message does not count, and no reader is there
to whom the intake would give way (`gateway/peoplefirst.py`)."""
BYTES = 1 << 24
READINGS = 30


def test_a_batch_from_the_broker_to_the_inbox(tmp_path: Path) -> None:
    text = f'data = "{tmp_path}/data"\nsite_id = "b"\n{tables(tmp_path, free_port(), free_port())}'
    settings = load_settings(write_private(tmp_path / "gateway.toml", text))
    token = Tokens(settings.tokens_file).add("truck-1", Role.DEVICE)
    messages = [
        Records(batches=[canonical(batch)]).SerializeToString()
        for batch in Trip().whole([reading(at) for at in range(READINGS)])
    ]
    broker, crossed = Mosquitto(settings), Crossed()
    inbox = Inbox(tmp_path / "inbox.db", bytes_max=BYTES, quarantine_bytes_max=BYTES)
    intake = Intake(
        inbox,
        "site-b",
        trip_of=lambda *_: None,
        repeat_receipts=lambda *_: None,
        on_change=lambda: None,
        meter=Metrics().meter(Stage.INTAKE),
    )
    broker.start()
    try:
        with closing(inbox), closing(intake):
            crossed.follow_threads()
            mqtt = settings.mqtt
            intake.start(mqtt.host, mqtt.port, mqtt.username, mqtt.password)
            crossed.follow_threads(follow=False)
            assert intake.connected.wait(DEADLINE_S)
            with Rogue(broker.address, "truck-1", token) as truck:
                first, *between, _ = messages
                assert truck.say(Topic.RECORDS, first).batch_ids
                crossed.noting = True
                for message in between:
                    assert truck.say(Topic.RECORDS, message).batch_ids
                crossed.noting = False
    finally:
        broker.stop()
    assert {"gateway/intake/mqtt.py", "gateway/intake/inbox.py"} <= crossed.files
    assert len(crossed.files) <= FILES_MAX, "\n".join(sorted(crossed.files))
