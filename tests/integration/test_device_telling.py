"""A truck that says what is wrong with it: the real agent, gateway and node, and the verdict."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from support.evidence.verdicts import verdict
from support.gateways.appliance import QuickAppliance
from support.trucks.gps import gpsd
from support.trucks.roaming import READINGS, RoamingTruck
from support.trucks.rogue import Site, until

pytestmark = pytest.mark.integration

DAY_MS = 86_400_000
YEARS_MS = 20 * 365 * DAY_MS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    made = Site(directory, QuickAppliance(directory / "site-b"))
    made.start()
    try:
        yield made
    finally:
        made.stop()


class Clock:
    """The file that says what time it is on the truck."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.section = f'[clock]\nfile = "{path}"\n'

    def say(self, words: str) -> None:
        part = self.path.with_suffix(".part")
        part.write_text(words)
        part.rename(self.path)

    def drive(self, words: str, yard: RoamingTruck) -> None:
        """Set the clock, and record some readings with it."""
        before = yard.readings()
        self.say(words)
        until("readings are recorded", lambda: yard.readings() >= before + READINGS)


def test_a_trip_with_wrong_clocks_a_lost_sensor_and_a_kill(tmp_path: Path, site: Site) -> None:
    clock = Clock(tmp_path / "clock")
    clock.say(f"-{YEARS_MS} none")
    with ExitStack() as receiver:
        address = receiver.enter_context(gpsd())
        yard = RoamingTruck(tmp_path, address, site, clock.section)
        with yard.truck.start("run") as agent:
            yard.say("absent")
            until("readings are recorded", lambda: yard.readings() >= READINGS)
            clock.drive("0 ntp 80", yard)
            receiver.close()  # the receiver is unplugged
            until("the loss is noticed", lambda: yard.sensor("gps") == "lost")
            clock.drive(f"-{DAY_MS} rtc", yard)
            clock.drive(f"-{YEARS_MS} none", yard)
            clock.drive("0 gnss 40", yard)
            agent.kill()
    with yard.truck.start("run") as agent:
        try:
            clock.drive("0 gnss 40", yard)
            yard.say("present")
            yard.await_state("docked")
            (trip,) = yard.status()["trips"]
        finally:
            agent.send_signal(signal.SIGTERM)
            _, said = agent.communicate(timeout=60)
    assert trip["state"] == "receipted", said
    story, words = verdict(site, trip["trip"], tmp_path)
    told = [(each["kind"], each["change"], each["subject"]) for each in story["remarks"]]
    for expected in (
        ("sensor-lost", "began", "cargo"),
        ("sensor-lost", "began", "gps"),
        ("clock-ahead", "happened", None),
        ("clock-back", "happened", None),
        ("clock-corrected", "happened", None),
        ("interrupted", "happened", None),
    ):
        assert expected in told, (told, said)
    kinds = [kind for kind, _, _ in told]
    assert (kinds.count("clock-back"), kinds.count("clock-corrected")) == (2, 2), told
    assert kinds.count("interrupted") == 1
    first, second = story["corrections"]
    assert (first["clock_origin"], first["clock_error_s"]) == ("ntp", 0.08)
    assert (second["clock_origin"], second["clock_error_s"]) == ("gnss", 0.04)
    assert first["readings"] >= READINGS
    assert second["readings"] >= 2 * READINGS
    assert first["first_reading_at"] < story["first_reading_corrected_at"]
    signs = {sign for each in story["tampers"] for sign in each["signs"]}
    assert {"sensor-unplugged", "clock-set-back"} <= signs
    (telling,) = story["telling"]
    assert telling["readings"] == telling["readings_telling"] == trip["readings"]
    for line in (
        "says: sensor gps is lost: unplugged, or its driver fails",
        "says: the clock was set back by 86",
        " days)",
        "its clock was right at ",
        "says: recording stopped, and went on ",
    ):
        assert line in words, words
    _rest(site, trip["trip"], story)


def _rest(site: Site, trip_id: str, story: dict[str, Any]) -> None:
    """The gateway tells the same, and corrected times beside the claimed ones."""
    items = site.ask(f"/v1/trips/{trip_id}/remarks")["items"]
    named = ("device_id", "sequence", "kind", "change", "subject", "since", "says")
    assert [[each[name] for name in named] for each in items] == [
        [each[name] for name in named] for each in story["remarks"]
    ]
    assert site.ask(f"/v1/trips/{trip_id}/tampers")["items"] == story["tampers"]
    assert any(each["corrected_time"] for each in story["tampers"])
    readings = site.ask(f"/v1/trips/{trip_id}/readings")["items"]
    assert [each["sequence"] for each in readings] == list(range(len(readings)))
    times = [each["corrected_time"] or each["time"] for each in readings]
    assert times == sorted(times)
    claimed = [each["time"] for each in readings]
    assert claimed != sorted(claimed)
    trip = site.ask(f"/v1/trips/{trip_id}")
    assert trip["started_at"] < trip["started_corrected_at"] <= times[0]
