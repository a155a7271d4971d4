"""Judges on the host a trip that a truck recorded inside the machine."""

from pathlib import Path
from typing import Final

from support.evidence.verdicts import verdict
from support.trucks.bme280 import COLD, WARM, Weather
from support.trucks.rogue import running_site
from support.trucks.truck import Truck
from support.trucks.visits import meet

MCEL: Final = 10
PA: Final = 2
MPCT: Final = 50
"""The kernel computes in integers: so much it may differ from the data sheet's formulas."""


def verdict_of(truck: Truck, folder: Path) -> str:
    """Offload the truck's only trip, and hold its evidence to what happened.

    Returns:
        What was seen.
    """
    with running_site(folder) as site:
        meet(truck, site)
        (trip_id,) = truck.must("offload")["receipted"]
        story, words = verdict(site, trip_id, folder)
        readings = site.ask(f"/v1/trips/{trip_id}/readings?limit=1000")["items"]
        films = site.ask(f"/v1/trips/{trip_id}/recordings")["items"]
    remarks = {(each["kind"], each["change"], each["subject"]) for each in story["remarks"]}
    for kind, subject in (("sensor-lost", "cargo"), ("camera-lost", "dock")):
        assert {(kind, "began", subject), (kind, "ended", subject)} <= remarks, remarks
    seen = [each for each in readings if each["temperature_cel"] is not None]
    cold, warm = (sum(_is(each, weather) for each in seen) for weather in (COLD, WARM))
    # The weather may change between the temperature of a reading and its pressure.
    assert min(cold, warm) > 0, seen
    assert cold + warm >= len(seen) - 1, seen
    signs = {sign for each in story["tampers"] for sign in each["signs"]}
    assert {"sensor-unplugged", "camera-blocked"} <= signs, signs
    assert len(films) > 2, films
    return (
        f"offloaded and verified: {words.splitlines()[0]}; {len(seen)} of {len(readings)} readings "
        f"as the data sheet computes them, {len(films)} films, {len(remarks)} remarks"
    )


def _is(reading: dict[str, float], weather: Weather) -> bool:
    return (
        abs(reading["temperature_cel"] * 1_000 - weather.mcel) <= MCEL
        and abs(reading["pressure_hpa"] * 100 - weather.pa) <= PA
        and abs(reading["humidity_pct"] * 1_000 - weather.mpct) <= MPCT
    )
