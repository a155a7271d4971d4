"""A truck that measures: real gpsd, GPIO pins of gpiozero's mock, trips by the site's presence."""

import re
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory

from contracts.errors import UnavailableError
from contracts.records.clock import rfc3339
from contracts.records.reading import ClockOrigin, Tamper
from contracts.runtime.checks import Severity
from contracts.runtime.ports import free_port
from device.commands.check_sensors import sensors, time_of_gpsd
from device.live.drivers.gpio import GpioSensor
from device.live.drivers.gps import GpsSensor
from device.live.drivers.table import connection
from device.live.gnss import GnssClock
from device.settings_file import load
from support.gateways.appliance import QuickAppliance
from support.trucks.gps import LATITUDE_E7, LONGITUDE_E7, gpsd, gpsfake
from support.trucks.pins import mock_pins
from support.trucks.roaming import PIN, READINGS, RoamingTruck
from support.trucks.rogue import Site, running_site, until
from support.trucks.truck import Truck

pytestmark = pytest.mark.integration

NEAR_E7 = 100_000
TRIPS = 2
SIGNS = {
    Tamper.ENCLOSURE_OPEN: "enclosure-open",
    Tamper.DOOR_OPEN: "door-open",
    Tamper.MOTION: "motion",
    Tamper.SHOCK: "shock",
    Tamper.LIGHT: "light",
}


def accuracy_cm(sensor: GpsSensor) -> int:
    position = sensor.measure().position
    return position.accuracy_cm if position else 0


@pytest.mark.parametrize("fed_by", ["us", "gpsfake"])
def test_gpsd_gives_the_newest_position(tmp_path: Path, fed_by: str) -> None:
    receiver = gpsfake(tmp_path) if fed_by == "gpsfake" else gpsd()
    with receiver as address, closing(GpsSensor(address)) as sensor:
        first = sensor.measure().position
        assert first is not None
        assert abs(first.latitude_e7 - LATITUDE_E7) < NEAR_E7
        assert abs(first.longitude_e7 - LONGITUDE_E7) < NEAR_E7
        until("the truck moves", lambda: sensor.measure().position != first)
        until("gpsd knows the error", lambda: accuracy_cm(sensor) > 0)


def test_gpsd_gives_the_time_to_readings_and_to_check_config(tmp_path: Path) -> None:
    with gpsd() as address, closing(GnssClock(address)) as clock:
        until("there is a fix", lambda: clock().origin is ClockOrigin.GNSS)
        assert rfc3339(clock().utc_ms).startswith("2022-01-31T12:")
        truck = Truck(tmp_path, f'[clock]\ngpsd = "{address}"\n')
        [finding] = time_of_gpsd(load(truck.config, {}))
    assert (finding.severity, finding.subject) == (Severity.OK, "clock by gpsd")
    assert re.search(r"2022-01-31T12:.*Z; the machine's clock is .* s ahead", finding.words)


def test_gpsd_without_a_fix_gives_no_position_and_check_config_says_what_to_do(
    tmp_path: Path,
) -> None:
    file = tmp_path / "device.toml"
    with gpsd(has_fix=False) as address:
        file.write_text(
            'device_id = "truck-1"\ndata = "data"\n[source]\ndriver = "sensors"\n'
            f'[[sensors]]\nname = "gps"\ndriver = "gpsd"\ngpsd = "{address}"\n'
            f'[clock]\ngpsd = "{address}"\n'
        )
        with closing(GpsSensor(address)) as sensor:
            assert sensor.measure().position is None
        settings = load(file, {})
        found = [*sensors(settings), *time_of_gpsd(settings)]
    assert [each.subject for each in found] == ["sensor gps", "clock by gpsd"]
    for each in found:
        assert each.severity is Severity.WARNING
        assert "without a value" in each.words
        assert "under open sky" in each.remedy


def test_gpsd_that_is_not_there_or_goes_away_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="is gpsd running"):
        GpsSensor(f"127.0.0.1:{free_port()}")
    with gpsd() as address:
        sensor = GpsSensor(address)
        sensor.measure()
    with closing(sensor):
        said: list[str] = []
        while not said:  # what gpsd sent before it ended comes first
            try:
                sensor.measure()
            except UnavailableError as error:
                said.append(str(error))
    assert said[0].startswith(f"gpsd at {address}: ")


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    with mock_pins() as factory:
        yield factory


def test_a_door_contact_on_a_pin_and_a_pulse_between_two_readings(pins: MockFactory) -> None:
    with closing(GpioSensor(PIN, Tamper.DOOR_OPEN, active_high=True)) as sensor:
        pin = pins.pin(PIN)
        assert sensor.measure().tamper is Tamper.NONE
        pin.drive_high()
        assert sensor.measure().tamper is Tamper.DOOR_OPEN
        pin.drive_low()
        sensor.measure()
        assert sensor.measure().tamper is Tamper.NONE
        pin.drive_high()
        pin.drive_low()
        assert sensor.measure().tamper is Tamper.DOOR_OPEN
        assert sensor.measure().tamper is Tamper.NONE


def test_a_contact_that_closes_to_ground(pins: MockFactory) -> None:
    with closing(GpioSensor(PIN, Tamper.LIGHT, active_high=False)) as sensor:
        assert sensor.measure().tamper is Tamper.NONE
        pins.pin(PIN).drive_low()
        assert sensor.measure().tamper is Tamper.LIGHT


@pytest.mark.parametrize("sign", ["enclosure-open", "door-open", "motion", "shock", "light"])
@pytest.mark.parametrize("active", ["high", "low"])
def test_each_sign_of_the_settings_is_that_of_a_pin(
    tmp_path: Path, pins: MockFactory, sign: str, active: str
) -> None:
    file = tmp_path / "device.toml"
    file.write_text(
        'device_id = "truck-1"\ndata = "data"\n[source]\ndriver = "sensors"\n'
        f'[[sensors]]\nname = "it"\ndriver = "gpio"\npin = {PIN}\nsign = "{sign}"\n'
        f'active = "{active}"\n'
    )
    [settings] = load(file, {}).sensors
    with closing(connection(settings).connect()) as sensor:
        pin = pins.pin(PIN)
        (pin.drive_low if active == "high" else pin.drive_high)()
        sensor.measure()
        assert sensor.measure().tamper is Tamper.NONE
        (pin.drive_high if active == "high" else pin.drive_low)()
        assert SIGNS[sensor.measure().tamper] == sign


def test_a_pin_that_is_in_use_is_unavailable(pins: MockFactory) -> None:
    assert pins.pin(PIN) is not None
    with (
        closing(GpioSensor(PIN, Tamper.LIGHT, active_high=True)),
        pytest.raises(UnavailableError, match=f"GPIO {PIN}: .*in use"),
    ):
        GpioSensor(PIN, Tamper.LIGHT, active_high=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    with running_site(directory, QuickAppliance(directory / "site-b")) as made:
        yield made


def test_each_departure_begins_a_trip_and_each_arrival_ends_it(
    roaming: RoamingTruck, site: Site
) -> None:
    with roaming.truck.start("run") as agent:
        try:
            for _ in range(TRIPS):
                roaming.drive()
                roaming.await_state("docked")
            status = roaming.status()
        finally:
            agent.send_signal(signal.SIGTERM)
            _, said = agent.communicate(timeout=60)
    assert agent.returncode == 0, said
    states = [trip["state"] for trip in status["trips"]]
    assert states == ["receipted"] * TRIPS, said
    for trip in status["trips"]:
        page = site.ask(f"/v1/trips/{trip['trip']}/readings")["items"]
        assert len(page) == trip["readings"] >= READINGS
        assert all(each["position"] for each in page[1:]), page
        assert not any(each["derived"] for each in page)
    sensors = status["sensors"]
    assert sensors["gps"]["health"] == "works"
    assert sensors["cargo"]["health"] == "lost"
    assert "expected a chip 'no-such-chip'" in sensors["cargo"]["detail"]
    assert said.count("sensor cargo is lost") == TRIPS, said
    assert said.count("is sealed with") == TRIPS, said
    assert said.count("no sensor gives temperature, which the deliveries limit") == TRIPS, said


def test_a_killed_agent_goes_on_with_its_trip_and_seals_it_at_the_site(
    roaming: RoamingTruck, site: Site
) -> None:
    with roaming.truck.start("run") as agent:
        try:
            roaming.say("absent")
            until("readings are recorded", lambda: roaming.readings() >= READINGS)
        finally:
            agent.kill()
    (trip,) = roaming.status()["trips"]
    roaming.say("present")
    with roaming.truck.start("run") as agent:
        try:
            roaming.await_state("docked")
            (after,) = roaming.status()["trips"]
        finally:
            agent.send_signal(signal.SIGTERM)
            agent.communicate(timeout=60)
    assert after["trip"] == trip["trip"]
    assert after["state"] == "receipted"
    items = site.ask(f"/v1/trips/{trip['trip']}/readings")["items"]
    assert [each["sequence"] for each in items] == list(range(after["readings"]))
    assert after["readings"] >= trip["readings"]


def test_a_person_departs_and_arrives_by_hand(roaming: RoamingTruck) -> None:
    roaming.truck.must("depart")
    with roaming.truck.start("run") as agent:
        try:
            until("readings are recorded", lambda: roaming.readings() >= READINGS)
            assert roaming.status()["journey"] == "on the road"
            roaming.truck.must("arrive")
            roaming.await_state("docked")
        finally:
            agent.send_signal(signal.SIGTERM)
            agent.communicate(timeout=60)


def test_check_config_asks_each_sensor_and_looks_for_a_site(roaming: RoamingTruck) -> None:
    code, said, _ = roaming.truck.run("check-config")
    assert code == 1
    assert re.search(r"ok +sensor gps: position 47\.0\d+ 15\.4\d+", said), said  # it moves
    assert re.search(r"ok +sensor door: no door-open now", said), said
    assert re.search(r"error +sensor cargo: .*expected a chip 'no-such-chip'", said), said
    assert re.search(r"ok +presence by file: a site is near", said), said
    assert re.search(
        r"warning +sensors: no sensor gives temperature, which the deliveries", said
    ), said


def test_check_config_leaves_the_sensors_of_a_running_agent_alone(roaming: RoamingTruck) -> None:
    with roaming.truck.start("run") as agent:
        roaming.say("absent")
        until("readings are recorded", lambda: roaming.readings() >= READINGS)
        _, said, _ = roaming.truck.run("check-config", "--offline")
        agent.kill()
    assert re.search(r"ok +sensor gps: works since .*, says the running agent", said), said
    assert re.search(r"error +sensor cargo: lost since .*expected a chip", said), said


def test_orders_need_a_presence(tmp_path: Path) -> None:
    code, _, err = Truck(tmp_path / "truck").run("depart")
    assert (code, err.count("\n")) == (2, 1)
    assert "section [presence]: expected for this command, got none" in err
