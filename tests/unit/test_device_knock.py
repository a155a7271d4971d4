"""Knocks by an LSM9DS1: none between two questions is lost, and no fault is silent."""

import re
import threading
from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.records.reading import Tamper
from contracts.records.remark import Remark, RemarkKind
from contracts.runtime.checks import Severity
from device.commands.check_sensors import sensors
from device.live.drivers import lsm9ds1, table
from device.live.drivers.lsm9ds1 import FIFO_SAMPLES, GRAVITY_S, KnockSensor, poll_s
from device.live.health import Finding, Health
from device.live.port import Sensor
from device.live.remarks import Remarks
from device.live.source import Connection, LiveSource
from device.live.watch import SensorWatch, WatchPlan
from device.settings import SettingsError
from device.settings_file import load
from device.settings_live import SensorSettings
from device.stop import Stop
from support.trucks.lsm9ds1 import POLL, Lsm9ds1, sample
from support.trucks.rogue import until

RATE_HZ = 119
WINDOW_POLLS = round(GRAVITY_S * RATE_HZ) // POLL + 2
DEADLINE_S = 20.0


def opened(chip: Lsm9ds1, shock_mg: int = 4_000) -> KnockSensor:
    return KnockSensor(chip, 0x6A, RATE_HZ, shock_mg)


def polled(sensor: Sensor, count: int = WINDOW_POLLS) -> None:
    for _ in range(count):
        assert sensor.measure().tamper is Tamper.NONE


def test_at_rest_it_shows_gravity_and_no_sign() -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    measured = sensor.measure()
    assert (measured.tamper, measured.quantities, measured.position) == (Tamper.NONE, {}, None)
    assert measured.note == "1.00 g, at most 1.00 g; a shock begins at 4 g"
    polled(sensor, 2 * WINDOW_POLLS)
    sensor.close()
    assert chip.closed == 1


def test_the_chip_is_set_up_as_its_data_sheet_says() -> None:
    chip = Lsm9ds1()
    chip.registers |= {0x10: 0x60, 0x21: 0x85, 0x23: 0x01}  # what another program left
    opened(chip)
    assert {register: chip.registers[register] for register in (0x10, 0x20, 0x21, 0x23, 0x2E)} == {
        0x10: 0x00,
        0x20: 0x68,
        0x21: 0x00,
        0x23: 0x02,
        0x2E: 0xC0,
    }


@pytest.mark.parametrize("rate_hz", [119, 238, 476])
def test_each_rate_is_asked_before_its_fifo_is_full(rate_hz: int) -> None:
    settings = SensorSettings(name="knock", driver="lsm9ds1", rate_hz=rate_hz)  # type: ignore[arg-type]  # one of the parameters above
    plan = table.connection(settings).plan
    assert plan.every_s == poll_s(rate_hz) == FIFO_SAMPLES / rate_hz / 2
    assert plan.late_s == table.LATE_LEAST_S
    assert KnockSensor(Lsm9ds1(), 0x6A, rate_hz, 4_000).measure().note


@pytest.mark.parametrize("knock", [sample(x_g=-5), sample(z_g=4.01), sample(3, 3, 1), sample(99)])
def test_one_sample_of_a_knock_between_two_questions_is_a_shock(knock: tuple[int, ...]) -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    polled(sensor, 2)
    chip.happens(sample(), knock, *[sample()] * 8)
    assert sensor.measure().tamper is Tamper.SHOCK
    polled(sensor)


def test_what_is_below_the_threshold_is_no_shock() -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    chip.happens(*[sample(0, 0, 3.99)] * 2, *[sample()] * 10)
    polled(sensor)
    stricter = opened(Lsm9ds1(), 1_500)
    polled(stricter)


def test_the_first_samples_after_power_up_do_not_count() -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    chip.happens(*[sample(16, 16, 16)] * 4, *[sample()] * 8)
    polled(sensor)


def test_a_knock_in_the_short_first_window_is_told_at_the_next_question() -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    chip.happens(*[sample()] * 4, *[sample(0, 0, 6)] * 3, *[sample()] * 5)
    chip.measures = False
    with pytest.raises(RejectedError, match=r"got 2\.8. g as the mean of 8 samples"):
        sensor.measure()
    chip.measures = True
    assert sensor.measure().tamper is Tamper.SHOCK
    polled(sensor)


def test_a_chip_that_is_wrong_for_long_and_then_right_tells_no_knock() -> None:
    chip = Lsm9ds1(rest=(32_767, 32_767, 32_767))
    sensor = opened(chip)
    for _ in range(WINDOW_POLLS):
        with pytest.raises(RejectedError, match="expected the 1 g of gravity"):
            sensor.measure()
    chip.rest = sample()
    polled(sensor)


def test_an_overrun_is_said_and_the_next_question_is_answered() -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    polled(sensor, 1)
    chip.happens(*[sample()] * 33)
    with pytest.raises(RejectedError, match=r"samples were lost, .* over 0\.27 s; a knock in that"):
        sensor.measure()
    polled(sensor)


def test_an_overrun_hides_no_knock_and_a_knock_hides_no_overrun() -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    polled(sensor, 1)
    chip.happens(*[sample()] * 30, sample(9), *[sample()] * 9)
    assert sensor.measure().tamper is Tamper.SHOCK
    with pytest.raises(RejectedError, match="samples were lost"):
        sensor.measure()
    polled(sensor)


def test_the_knock_that_tore_the_cable_off_is_a_shock_before_the_chip_is_lost() -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    polled(sensor, 1)
    chip.happens(*[sample()] * 3, sample(0, -12, 1), *[sample()] * 9)
    chip.lasts = 5
    assert sensor.measure().tamper is Tamper.SHOCK
    with pytest.raises(UnavailableError, match="Remote I/O error; docs/hardware"):
        sensor.measure()


@pytest.mark.parametrize(
    ("rest", "says"),
    [
        ((0, 0, 0), r"got 0\.00 g"),
        ((-1, -1, -1), r"got 0\.00 g"),
        (sample(0, 0, 0.5), r"got 0\.50 g"),
        (sample(0, 0, 1.5), r"got 1\.50 g"),
        ((32_767, 32_767, 32_767), r"got 41\.5. g"),
        ((-32_768, -32_768, -32_768), r"got 41\.5. g"),
    ],
)
def test_a_chip_without_gravity_is_refused_and_gives_no_sign(
    rest: tuple[int, ...], says: str
) -> None:
    sensor = opened(Lsm9ds1(rest=rest))
    for _ in range(WINDOW_POLLS):
        with pytest.raises(RejectedError, match=rf"expected the 1 g of gravity, .* {says}"):
            sensor.measure()


def test_a_chip_that_stops_showing_gravity_is_refused_until_it_does_again() -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    polled(sensor)
    chip.rest = (0, 0, 0)
    refused = asked_until(sensor, RejectedError)
    assert "expected the 1 g of gravity" in refused
    chip.rest = sample()
    for _ in range(2 * WINDOW_POLLS):
        try:
            measured = sensor.measure()
        except RejectedError:
            continue
        assert measured.tamper is Tamper.NONE
        break
    else:
        pytest.fail("still refused")
    polled(sensor)


def asked_until(sensor: Sensor, error: type[Exception]) -> str:
    for _ in range(2 * WINDOW_POLLS):
        try:
            sensor.measure()
        except error as found:
            return str(found)
    pytest.fail(f"no {error}")


def test_a_stuck_chip_is_found() -> None:
    chip = Lsm9ds1(is_stuck=True)
    sensor = opened(chip)
    polled(sensor, 2)
    assert re.search(
        r"the same values \d+ times in a row: it is stuck", asked_until(sensor, RejectedError)
    )


def test_a_chip_that_is_stuck_and_then_unplugged_is_lost() -> None:
    chip = Lsm9ds1(is_stuck=True)
    sensor = opened(chip)
    asked_until(sensor, RejectedError)
    chip.unplug()
    with pytest.raises(UnavailableError, match="Remote I/O error"):
        sensor.measure()


def test_a_truck_that_brakes_hard_on_a_bad_road_is_not_refused() -> None:
    chip = Lsm9ds1(rest=sample(0.6, 0.2, 1.0))
    polled(opened(chip), 2 * WINDOW_POLLS)


def test_a_chip_that_was_reset_or_that_another_program_uses_is_named() -> None:
    chip = Lsm9ds1()
    sensor = opened(chip)
    chip.registers[0x20] = 0xC0
    with pytest.raises(
        UnavailableError, match=r"CTRL_REG6_XL .* to be 0x68, got 0xc0: it lost power"
    ):
        sensor.measure()
    opened(chip).measure()


def test_a_chip_that_measures_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lsm9ds1, "ANSWER_S", 0.02)
    sensor = opened(Lsm9ds1(measures=False))
    with pytest.raises(UnavailableError, match=r"0x6a measures nothing within 0\.02 s"):
        sensor.measure()


def test_an_impossible_count_of_samples_is_refused() -> None:
    with pytest.raises(RejectedError, match=r"expected 0\.\.32 unread samples, got 63"):
        opened(Lsm9ds1(status=0xFF)).measure()


@pytest.mark.parametrize("found", [0x00, 0x3D, 0x69, 0xFF])
def test_another_chip_at_the_address_is_named(found: int) -> None:
    chip = Lsm9ds1()
    chip.registers[0x0F] = found
    with pytest.raises(
        UnavailableError,
        match=rf"LSM9DS1 at address 0x6a: expected the WHO_AM_I 0x68 .*, got {found:#x}",
    ):
        opened(chip)
    assert chip.closed == 1


def test_nothing_at_the_address_is_named() -> None:
    chip = Lsm9ds1(address=0x6B)
    with pytest.raises(UnavailableError, match="address 0x6a: Remote I/O error; docs/hardware"):
        opened(chip)
    assert chip.closed == 1


def test_a_bus_that_is_not_there_is_named() -> None:
    with pytest.raises(UnavailableError, match="address 0x6a on I2C bus 99: No such file or dir"):
        KnockSensor(99, 0x6A, RATE_HZ, 4_000)


def test_a_knock_and_each_loss_reach_the_watch_of_the_recorder() -> None:
    chip, found, over = Lsm9ds1(), list[Finding](), threading.Event()
    watch = SensorWatch(WatchPlan("knock", 0.01, late_s=0.1), lambda: opened(chip), found.append)
    thread = threading.Thread(target=watch.run, args=[over], daemon=True)
    thread.start()
    try:
        until("it works", lambda: watch.health is Health.WORKS)
        chip.happens(sample(10))
        until("the knock is there", lambda: watch.take().tamper is Tamper.SHOCK)
        chip.unplug()
        until("it is lost", lambda: watch.health is Health.LOST)
        chip.plug_in()
        until("it works again", lambda: watch.health is Health.WORKS)
    finally:
        over.set()
        thread.join(DEADLINE_S)
    assert [each.health for each in found] == [Health.WORKS, Health.LOST, Health.WORKS]
    assert watch.take().tamper is Tamper.NONE


def test_a_knock_and_a_loss_stand_in_the_readings() -> None:
    chip, heard, signs, told = Lsm9ds1(), Remarks(), list[Tamper](), list[Remark]()
    plan = WatchPlan("knock", 0.01, late_s=DEADLINE_S)
    source = LiveSource([Connection(plan, lambda: opened(chip))], 0.02, heard.hear)
    with closing(Stop()) as stop:
        for reading in source.stream(stop, lambda: None):
            remarks, unplugged = heard.take()
            told += remarks
            signs.append(reading.tamper | unplugged)
            if told:
                stop.request()
            elif len(signs) == 2:
                chip.happens(sample(10))
            elif Tamper.SHOCK in reading.tamper:
                chip.unplug()
    assert [each.kind for each in told] == [RemarkKind.SENSOR_LOST]
    assert Tamper.SENSOR_UNPLUGGED in signs[-1]
    assert signs[:2] == [Tamper.NONE] * 2
    assert any(Tamper.SHOCK in each for each in signs)


TRUCK = """device_id = "truck-7"
data = "data"
[source]
driver = "sensors"
[[sensors]]
name = "knock"
driver = "lsm9ds1"
"""


def truck(folder: Path, more: str = "") -> Path:
    file = folder / "truck.toml"
    file.write_text(TRUCK + more)
    return file


def test_the_settings_of_a_knock_sensor_have_defaults(tmp_path: Path) -> None:
    [knock] = load(truck(tmp_path), {}).sensors
    assert (knock.bus, knock.address, knock.rate_hz, knock.shock_mg) == (1, 0x6A, 119, 4_000)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("shock_mg = 1499", r"sensors\.shock_mg: expected a whole number within 1500\.\.15000"),
        ("shock_mg = 15001", r"sensors\.shock_mg: expected a whole number within 1500\.\.15000"),
        ("shock_mg = 4.5", r"sensors\.shock_mg: expected a whole number within 1500\.\.15000"),
        ("shock_mg = nan", r"sensors\.shock_mg: expected a whole number within 1500\.\.15000"),
        ("shock_mg = '4 g'", r"sensors\.shock_mg: expected a whole number within 1500\.\.15000"),
        ("rate_hz = 50", r"sensors\.rate_hz: expected 119, 238 or 476, got 50"),
        ("address = 0x68", r"sensors\.address: expected 0x6A or 0x6B, got 104"),
        ("bus = -1", r"sensors\.bus: expected a whole number within 0\.\.99, got -1"),
        (
            '[[sensors]]\nname = "other"\ndriver = "lsm9ds1"',
            r"expected no second sensor at address 0x6a of I2C bus 1, where knock is, got 'other'",
        ),
    ],
)
def test_settings_that_make_no_sense_are_one_clear_error(
    tmp_path: Path, line: str, says: str
) -> None:
    with pytest.raises(SettingsError, match=says):
        load(truck(tmp_path, line + "\n"), {})


def test_two_chips_on_one_bus_have_different_addresses(tmp_path: Path) -> None:
    other = '[[sensors]]\nname = "other"\ndriver = "lsm9ds1"\naddress = 0x6B\n'
    assert len(load(truck(tmp_path, other), {}).sensors) == 2


@pytest.mark.parametrize(
    ("chip", "severity", "says"),
    [
        (Lsm9ds1(), Severity.OK, "1.00 g, at most 1.00 g; a shock begins at 4 g"),
        (Lsm9ds1(rest=(0, 0, 0)), Severity.ERROR, "expected the 1 g of gravity"),
        (Lsm9ds1(is_lost=True), Severity.ERROR, "on I2C bus 1: Remote I/O error"),
        (Lsm9ds1(registers={0x0F: 0x69}), Severity.ERROR, "got 0x69, which is another chip"),
    ],
)
def test_check_config_says_in_words_whether_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chip: Lsm9ds1, severity: Severity, says: str
) -> None:
    monkeypatch.setattr("smbus2.SMBus", lambda _number: chip)
    [finding] = sensors(load(truck(tmp_path), {}))
    assert (finding.severity, finding.subject) == (severity, "sensor knock")
    assert says in finding.words
    assert ("group i2c" in finding.remedy) == (severity is Severity.ERROR)
    assert chip.closed == 1
