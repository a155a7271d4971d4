"""A truck with live sensors that departs and arrives when a test says so."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.trucks.rogue import Site, until
from support.trucks.truck import Truck
from support.trucks.visits import meet

PIN = 17
READINGS = 3


class RoamingTruck:
    """A truck that measures, and the file that says whether it is at a site."""

    def __init__(self, folder: Path, gps: str, site: Site, cameras: str = "") -> None:
        self.presence = folder.with_name(f"{folder.name}.presence")  # on another disk than a card
        self.say("present")
        sections = (
            '[source]\ndriver = "sensors"\n'
            f'[presence]\nby = "file"\nfile = "{self.presence}"\ndebounce_s = 1\n'
            f'[[sensors]]\nname = "gps"\ndriver = "gpsd"\ngpsd = "{gps}"\n'
            f'[[sensors]]\nname = "door"\ndriver = "gpio"\npin = {PIN}\nsign = "door-open"\n'
            '[[sensors]]\nname = "cargo"\ndriver = "iio"\nchip = "no-such-chip"\n'
            f"{cameras}"
        )
        self.truck = Truck(folder / "truck", sections, {"GPIOZERO_PIN_FACTORY": "mock"})
        meet(self.truck, site)

    def say(self, word: str) -> None:
        part = self.presence.with_suffix(".part")
        part.write_text(word)
        part.rename(self.presence)

    def status(self) -> dict[str, Any]:
        return self.truck.must("status")

    def sensor(self, name: str) -> str:
        """Return what is known of a sensor."""
        return str(self.status()["sensors"][name]["health"])

    def await_state(self, state: str) -> None:
        until(f"the truck is {state}", lambda: self.status()["journey"] == state)

    def readings(self) -> int:
        return sum(trip["readings"] for trip in self.status()["trips"] if trip["state"] == "open")

    def drive(self) -> None:
        """Leave the site, record at least so many readings, and come back."""
        before = self.readings()
        self.say("absent")
        until("readings are recorded", lambda: self.readings() >= before + READINGS)
        self.say("present")

    @contextmanager
    def running(self) -> Iterator[list[str]]:
        """Run the agent, and yield the lines that it logs."""
        said: list[str] = []
        with self.truck.start("run") as agent:
            assert agent.stderr is not None
            reader = threading.Thread(target=said.extend, args=[agent.stderr])
            reader.start()
            try:
                yield said
            finally:
                agent.send_signal(signal.SIGTERM)
                agent.wait(60)
                reader.join()

    def ends_whole(self, site: Site, said: list[str]) -> dict[str, Any]:
        """Arrive; the one trip is receipted, with each of its readings once. Return its status."""
        self.say("present")
        self.await_state("docked")
        (trip,) = self.status()["trips"]
        assert trip["state"] == "receipted", said
        site.await_index()
        items = site.ask(f"/v1/trips/{trip['trip']}/readings")["items"]
        assert [each["sequence"] for each in items] == list(range(trip["readings"]))
        assert not any("failed unexpectedly" in line or "Traceback" in line for line in said), said
        return dict(trip)
