"""Offloads of one truck after the other, while something is killed at random moments."""

import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from demo.appliance import Appliance
from demo.auditor import Auditor
from demo.truck import Truck
from support.ledgers.walk import committed

KILLS: Final = int(os.environ.get("WAYSEAL_KILLS", "1"))
SEED: Final = int(os.environ.get("WAYSEAL_SEED", "20261121"))
FIRST_WAIT_S, SHORTEST_WAIT_S, LONGEST_WAIT_S = 1.0, 0.1, 2.5
"""Bounds of the wait for a kill. A truck whose offload ends sooner is not killed."""
_GROWS: Final = 1.5
OFFLOAD_TRIES: Final = 20
FILES: Final = {"readings": "readings.csv", "track": "track.gpx", "video": "video.avi"}


class Chaos:
    """Lets trucks offload, and kills as often as asked.

    Args:
        appliance: It serves, and what it keeps is looked at in the end.
        trip_files: What each truck records.
        directory: For the trucks' data.
        kill: It kills something and starts it again; without it, the offloading truck is killed.
    """

    def __init__(
        self,
        appliance: Appliance,
        trip_files: Path,
        directory: Path,
        kill: Callable[[], None] | None = None,
    ) -> None:
        self.trips: dict[str, int] = {}
        self._appliance = appliance
        self._trip_files = trip_files
        self._directory = directory
        self._other = kill
        self._wait_s = FIRST_WAIT_S
        self._moments = random.Random(SEED)  # no secrets here

    def kill_during_offloads(self, kills: int) -> None:
        """Start one offload after the other until there were `kills` kills."""
        left = kills
        while left:
            truck = self._truck(len(self.trips))
            agent = truck.begin("offload")
            while left and self._goes_on(agent):
                agent = self._kill(truck, agent)
                left -= 1
            self._finish(truck, agent)

    def check_all_is_there_once(self) -> None:
        """Check readings and digests on the ledger, and read every byte of every copy."""
        readings, videos = committed(self._appliance.ledger)
        trips = self.trips.items()
        expected = {(trip, number) for trip, count in trips for number in range(count)}
        assert set(readings) == expected
        assert set(readings.values()) == {1}
        assert {trip for trip, _ in videos} == set(self.trips)
        assert set(videos.values()) == {1}
        auditor = Auditor(self._appliance.rest, self._appliance.token("auditor", "auditor"))
        try:
            for trip, count in trips:
                found = auditor.audit(trip)
                assert found.readings == count
                for recording in found.recordings:
                    assert auditor.rotten(recording["recording_id"]) == []
        finally:
            auditor.close()

    def _goes_on(self, agent: subprocess.Popen[str]) -> bool:
        """Wait for a random moment; return whether the agent still works then.

        An offload that is over sooner makes the next waits as short; each other one, longer.
        """
        start_s = time.monotonic()
        try:
            agent.wait(self._moments.uniform(0, self._wait_s))
        except subprocess.TimeoutExpired:
            self._wait_s = min(LONGEST_WAIT_S, self._wait_s * _GROWS)
            return True
        self._wait_s = max(SHORTEST_WAIT_S, time.monotonic() - start_s)
        return False

    def _truck(self, number: int) -> Truck:
        name = f"truck-{number}"
        # Every other one signs runs.
        truck = Truck(self._directory / name, name, per_transaction=60 if number % 2 else 1)
        truck.join(self._appliance)
        files = [f"--{name}={self._trip_files / file}" for name, file in FILES.items()]
        trip = truck.ask("record", *files, "--speed", "max")
        self.trips[trip["trip"]] = trip["readings"]
        return truck

    def _kill(self, truck: Truck, agent: subprocess.Popen[str]) -> subprocess.Popen[str]:
        if self._other is not None:
            self._other()
            return agent
        agent.kill()
        agent.communicate()
        return truck.begin("offload")

    @staticmethod
    def _finish(truck: Truck, agent: subprocess.Popen[str]) -> None:
        """Wait for the offload; as an operator would, start it again when it gave up."""
        for _ in range(OFFLOAD_TRIES):
            said, _ = agent.communicate()
            if agent.returncode == 0:
                return
            agent = truck.begin("offload")
        pytest.fail(f"the offload never ended, it last said: {said[-500:]}")


def kill_gateway(appliance: Appliance) -> None:
    """Kill the gateway and start it again."""
    assert appliance.gateway is not None
    appliance.gateway.kill()
    appliance.start_gateway()


def kill_node(appliance: Appliance) -> None:
    """Kill the ledger's node and start it again."""
    assert appliance.node is not None
    appliance.node.kill()
    appliance.start_node()
