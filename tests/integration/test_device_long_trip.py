"""Two live trips of ten minutes each, one after the other, on one device: both arrive whole."""

import hashlib
from pathlib import Path

import pytest

from device.camera.simulated import SimulatedCamera
from gateway.api.paging import PAGE_MAX
from support.gateways.appliance import QuickAppliance
from support.trucks.gps import gpsfake
from support.trucks.roaming import RoamingTruck
from support.trucks.rogue import running_site, until

pytestmark = [pytest.mark.integration, pytest.mark.long, pytest.mark.timeout(3600)]

TRIPS = 2
MINUTES = 10
READINGS = MINUTES * 60
ARRIVED_S = 120.0
CAMERAS = 2
FILMED = 0.95
"""Share of the trip that has to be on film; pictures of a still scene are half a second apart."""


def test_two_trips_of_ten_minutes_with_receiver_pins_and_cameras(tmp_path: Path) -> None:
    film = tmp_path / "dock.avi"
    SimulatedCamera(2).film(film)
    cameras = (
        f'[[cameras]]\nname = "dock"\ndriver = "file"\nfile = "{film}"\n'
        '[[cameras]]\nname = "rear"\ndriver = "simulated"\n'
    )
    with (
        running_site(tmp_path / "site", QuickAppliance(tmp_path / "site-b")) as site,
        gpsfake(tmp_path) as gps,
    ):
        roaming = RoamingTruck(tmp_path / "card", gps, site, cameras)
        with roaming.running() as said:
            for _ in range(TRIPS):
                roaming.say("absent")
                until(
                    "ten minutes are recorded",
                    lambda: roaming.readings() >= READINGS,
                    MINUTES * 60 * 1.5,
                )
                roaming.say("present")
                until("it is offloaded", lambda: roaming.status()["journey"] == "docked", ARRIVED_S)
        trips = roaming.status()["trips"]
        assert [trip["state"] for trip in trips] == ["receipted"] * TRIPS, said
        for trip in trips:
            path = f"/v1/trips/{trip['trip']}"
            readings = site.ask(f"{path}/readings?limit={PAGE_MAX}")["items"]
            assert [each["sequence"] for each in readings] == list(range(trip["readings"]))
            films = site.ask(f"{path}/recordings?limit={PAGE_MAX}")["items"]
            for each in films:
                found = site.operator.get(f"/v1/recordings/{each['recording_id']}/content")
                assert hashlib.sha256(found.content).hexdigest() == each["recording_id"]
            filmed_s = sum(each["duration_s"] for each in films)
            assert filmed_s > FILMED * CAMERAS * MINUTES * 60
            verdict = site.operator.post(f"{path}/verify").json()
            assert verdict["verdict"] == "holds", verdict
    assert not any("failed unexpectedly" in line or "Traceback" in line for line in said), said
