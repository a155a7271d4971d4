"""What a truck handed over while the gateway was down survives a killed mosquitto."""

import os
import signal
from pathlib import Path

import pytest

from support.machine.mosquitto import MosquittoAppliance
from support.network.world import Trip, reading
from support.trucks.rogue import Rogue, records, running_site, until, wire_of

pytestmark = pytest.mark.integration


def test_a_killed_mosquitto_keeps_messages_for_a_gateway_that_is_down(tmp_path: Path) -> None:
    appliance = MosquittoAppliance(tmp_path / "site")
    with running_site(tmp_path, appliance) as site:
        assert appliance.gateway is not None
        assert appliance.broker is not None
        token = appliance.token("truck-1", "device")
        appliance.gateway.stop()
        trip = Trip()
        batches = trip.whole([reading(number) for number in range(4)], size=2)
        wire = records(map(wire_of, batches))
        with Rogue(appliance.mqtt, "truck-1", token) as truck:
            truck.publish("records", wire)
        kept = tmp_path / "site" / "mosquitto" / "mosquitto.db"
        until("it is on the disk", lambda: kept.exists() and wire in kept.read_bytes())
        os.kill(appliance.broker.pid, signal.SIGKILL)
        appliance.broker.stop()
        appliance.broker.start()
        appliance.start_gateway()
        until("the batches", lambda: site.committed(trip.trip_id) == len(batches))
