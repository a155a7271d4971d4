"""kill -9 of gateway, node and agent, at random moments of an offload: nothing lost, none doubled.

WAYSEAL_KILLS sets how often each is killed (default 10), WAYSEAL_SEED which moments.
"""

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from demo.appliance import Appliance
from demo.auditor import Auditor
from demo.truck import Truck
from support.ledgerwalk import committed

pytestmark = pytest.mark.e2e

KILLS = int(os.environ.get("WAYSEAL_KILLS", "10"))
SEED = int(os.environ.get("WAYSEAL_SEED", "20261121"))
LONGEST_WAIT_S = 2.5
OFFLOAD_TRIES = 20
VICTIMS = ("gateway", "node", "agent")


class Chaos:
    """Lets trucks offload, and kills one of the processes as often as asked."""

    def __init__(self, appliance: Appliance, drive: Path, directory: Path, victim: str) -> None:
        self.appliance = appliance
        self.drive = drive
        self.directory = directory
        self.victim = victim
        self.moments = random.Random(SEED)  # no secrets here
        self.trips: dict[str, int] = {}

    def kill_during_offloads(self, kills: int) -> None:
        """Start one offload after the other until the victim was killed `kills` times."""
        left = kills
        while left:
            truck = self._truck(len(self.trips))
            agent = truck.begin("offload")
            while left and agent.poll() is None:
                time.sleep(self.moments.uniform(0, LONGEST_WAIT_S))
                if agent.poll() is None:
                    agent = self._kill(truck, agent)
                    left -= 1
            self._finish(truck, agent)

    def _truck(self, number: int) -> Truck:
        name = f"truck-{number}"
        # Every other one signs runs.
        truck = Truck(self.directory / name, name, per_transaction=60 if number % 2 else 1)
        truck.join(self.appliance)
        files = [f"--{name}={self.drive / file}" for name, file in FILES.items()]
        trip = truck.ask("record", *files, "--speed", "max")
        self.trips[trip["trip"]] = trip["readings"]
        return truck

    def _kill(self, truck: Truck, agent: subprocess.Popen[str]) -> subprocess.Popen[str]:
        if self.victim == "agent":
            agent.kill()
            agent.communicate()
            return truck.begin("offload")
        service = self.appliance.node if self.victim == "node" else self.appliance.gateway
        assert service is not None
        service.kill()
        if self.victim == "node":
            self.appliance.start_node()
        else:
            self.appliance.start_gateway()
        return agent

    @staticmethod
    def _finish(truck: Truck, agent: subprocess.Popen[str]) -> None:
        """Wait for the offload; as an operator would, start it again when it gave up."""
        for _ in range(OFFLOAD_TRIES):
            said, _ = agent.communicate()
            if agent.returncode == 0:
                return
            agent = truck.begin("offload")
        pytest.fail(f"the offload never ended, it last said: {said[-500:]}")


FILES = {"readings": "readings.csv", "track": "track.gpx", "video": "video.avi"}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("victim", VICTIMS)
def test_nothing_is_lost_or_doubled(
    victim: str, appliance: Appliance, drive: Path, tmp_path: Path
) -> None:
    chaos = Chaos(appliance, drive, tmp_path, victim)
    chaos.kill_during_offloads(KILLS)

    readings, videos = committed(appliance.ledger)
    expected = {(trip, number) for trip, count in chaos.trips.items() for number in range(count)}
    assert set(readings) == expected
    assert set(readings.values()) == {1}
    assert {trip for trip, _ in videos} == set(chaos.trips)
    assert set(videos.values()) == {1}
    auditor = Auditor(appliance.rest, appliance.token("auditor", "auditor"))
    try:
        for trip in chaos.trips:
            found = auditor.audit(trip)
            assert found.readings == chaos.trips[trip]
            for recording in found.recordings:
                assert auditor.rotten(recording["recording_id"]) == []
    finally:
        auditor.close()
