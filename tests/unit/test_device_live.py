"""Live sensors: drivers on the kernel's files, and a watch that no sensor can stop."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.records.reading import Position, Tamper
from device.live.drivers.hwmon import HwmonSensor
from device.live.drivers.iio import IioSensor
from device.live.drivers.onewire import OneWireSensor
from device.live.health import Finding, Health
from device.live.port import Measured, Sensor
from device.live.source import Connection, LiveSource, mixed
from device.live.watch import SensorWatch, WatchPlan
from device.sensors.port import Sample
from device.stop import Stop

DEADLINE_S = 20.0
LATE_S = 0.2
COLD = Measured({"temperature_mcel": 4_000})


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")
    return folder


def test_a_bme280_behind_the_kernel_s_driver(tmp_path: Path) -> None:
    written(tmp_path / "iio:device0", name="adc")
    written(
        tmp_path / "iio:device1",
        name="bme280",
        in_temp_input="4730",
        in_humidityrelative_input="51212",
        in_pressure_input="96.812345",
    )
    measured = IioSensor.find("bme280", tmp_path).measure()
    assert measured.quantities == {
        "temperature_mcel": 4_730,
        "humidity_mpct": 51_212,
        "pressure_pa": 96_812,
    }


def test_a_chip_that_gives_raw_values_is_scaled(tmp_path: Path) -> None:
    written(
        tmp_path / "iio:device0",
        name="hts221",
        in_temp_raw="120",
        in_temp_offset="-20.5",
        in_temp_scale="50",
    )
    measured = IioSensor.find("hts221", tmp_path).measure()
    assert measured.quantities == {"temperature_mcel": 4_975}


def test_an_sht31_behind_the_kernel_s_driver(tmp_path: Path) -> None:
    written(tmp_path / "hwmon0", name="cpu_thermal", temp1_input="48000")
    written(tmp_path / "hwmon1", name="sht3x", temp1_input="-4250", humidity1_input="80120")
    sensor = HwmonSensor.find("sht3x", tmp_path)
    assert sensor.measure().quantities == {"temperature_mcel": -4_250, "humidity_mpct": 80_120}
    cpu = HwmonSensor.find("cpu_thermal", tmp_path)
    assert cpu.measure().quantities == {"temperature_mcel": 48_000}


def test_a_ds18b20_on_the_bus(tmp_path: Path) -> None:
    folder = written(tmp_path / "28-0316a2795cff", temperature="4812")
    assert OneWireSensor.find("", tmp_path).measure().quantities == {"temperature_mcel": 4_812}
    (folder / "temperature").write_text("85000\n")
    with pytest.raises(RejectedError, match="before it has measured"):
        OneWireSensor.find("28-0316a2795cff", tmp_path).measure()
    written(tmp_path / "28-0416a2795c00", temperature="1")
    with pytest.raises(UnavailableError, match="expected one chip, or `chip` with its serial"):
        OneWireSensor.find("", tmp_path)


@pytest.mark.parametrize("text", ["", "nan", "inf", "warm", "4 7"])
def test_a_file_without_a_number_is_refused(tmp_path: Path, text: str) -> None:
    written(tmp_path / "iio:device0", name="bme280", in_temp_input=text)
    with pytest.raises(RejectedError, match="in_temp_input: expected a number"):
        IioSensor.find("bme280", tmp_path).measure()


@pytest.mark.parametrize(
    ("find", "says"),
    [
        (IioSensor.find, "expected a chip 'bme280', the kernel knows no chip"),
        (HwmonSensor.find, "expected a chip 'bme280', the kernel knows no chip"),
        (OneWireSensor.find, "expected chip bme280, got no DS18B20"),
    ],
)
def test_a_chip_that_is_not_there_is_named(
    tmp_path: Path, find: Callable[[str, Path], Sensor], says: str
) -> None:
    with pytest.raises(UnavailableError, match=says):
        find("bme280", tmp_path)


def test_an_unplugged_chip_is_unavailable(tmp_path: Path) -> None:
    folder = written(tmp_path / "iio:device0", name="bme280", in_temp_input="1")
    sensor = IioSensor.find("bme280", tmp_path)
    (folder / "in_temp_input").unlink()
    with pytest.raises(UnavailableError, match="gives no temperature, humidity or pressure"):
        sensor.measure()


class Scripted:
    """Sensor: gives what a test says; an error is raised, an Event is waited for."""

    def __init__(self, *answers: Measured | Exception | threading.Event) -> None:
        self.answers = [*answers]
        self.asked = 0
        self.closed = 0

    def measure(self) -> Measured:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        if isinstance(answer, threading.Event):
            answer.wait(DEADLINE_S)
            return COLD
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.closed += 1


class Found:
    """Collects findings; a test waits for one."""

    def __init__(self) -> None:
        self.all: list[Finding] = []
        self._changed = threading.Condition()

    def __call__(self, finding: Finding) -> None:
        with self._changed:
            self.all.append(finding)
            self._changed.notify_all()

    def wait_for(self, health: Health) -> Finding:
        with self._changed:
            assert self._changed.wait_for(
                lambda: any(each.health is health for each in self.all), DEADLINE_S
            ), self.all
            return next(each for each in self.all if each.health is health)


@pytest.fixture
def stop() -> Iterator[Stop]:
    with closing(Stop()) as stop:
        yield stop


@pytest.fixture
def over() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def watched(
    sensor: Sensor,
    found: Found,
    over: threading.Event,
    *,
    offset_mcel: int = 0,
    frozen_after_s: float = 0,
) -> tuple[SensorWatch, threading.Thread]:
    plan = WatchPlan("cargo", 0.01, {"temperature_mcel": offset_mcel}, frozen_after_s, LATE_S)
    watch = SensorWatch(plan, lambda: sensor, found)
    thread = threading.Thread(target=watch.run, args=[over], daemon=True)
    thread.start()
    return watch, thread


def test_a_shock_of_a_sensor_that_hangs_is_taken_once_and_an_open_door_stays_open(
    over: threading.Event,
) -> None:
    both = Measured(tamper=Tamper.SHOCK | Tamper.DOOR_OPEN)
    sensor = Scripted(both, threading.Event())
    watch = SensorWatch(WatchPlan("cargo", 0.01), lambda: sensor, Found())
    threading.Thread(target=watch.run, args=[over], daemon=True).start()
    while sensor.asked < 2:
        over.wait(0.001)
    assert [watch.take().tamper for _ in range(3)] == [
        Tamper.SHOCK | Tamper.DOOR_OPEN,
        Tamper.DOOR_OPEN,
        Tamper.DOOR_OPEN,
    ]


@pytest.mark.parametrize(
    ("answer", "health", "says"),
    [
        (UnavailableError("no answer on I2C"), Health.LOST, "no answer on I2C"),
        (RejectedError("CRC is wrong"), Health.REFUSED, "CRC is wrong"),
        (ZeroDivisionError("a defect"), Health.LOST, "its driver failed: ZeroDivisionError"),
        (Measured({"temperature_mcel": 130_000}), Health.REFUSED, "-60000..125000, got 130000"),
        (Measured({"humidity_mpct": -1}), Health.REFUSED, "0..100000, got -1"),
    ],
)
def test_a_sensor_that_fails_or_lies_is_found_and_asked_again(
    over: threading.Event, answer: Measured | Exception, health: Health, says: str
) -> None:
    found, sensor = Found(), Scripted(COLD, answer, answer, COLD)
    watch, thread = watched(sensor, found, over)
    assert says in found.wait_for(health).detail
    assert [each.health for each in found.all[:2]] == [Health.WORKS, health]
    while watch.health is not Health.WORKS:
        assert not over.wait(0.01)
    over.set()
    thread.join(DEADLINE_S)
    assert watch.take() == COLD
    assert sensor.closed >= 1


def test_a_sensor_that_hangs_gives_no_old_value_and_is_found(over: threading.Event) -> None:
    found, released = Found(), threading.Event()
    watch, thread = watched(Scripted(COLD, released), found, over)
    found.wait_for(Health.WORKS)
    while watch.take() != Measured():
        assert not over.wait(0.01)
    assert found.wait_for(Health.SILENT).detail.startswith("no answer for")
    over.set()
    released.set()
    thread.join(DEADLINE_S)


def test_a_lost_sensor_gives_no_earlier_value_but_the_sign_that_nobody_has_taken(
    over: threading.Event,
) -> None:
    opened = Measured({"temperature_mcel": 4_000}, tamper=Tamper.DOOR_OPEN)
    found = Found()
    watch, thread = watched(Scripted(opened, UnavailableError("unplugged")), found, over)
    found.wait_for(Health.LOST)
    over.set()
    thread.join(DEADLINE_S)
    assert watch.take() == Measured(tamper=Tamper.DOOR_OPEN)
    assert watch.take() == Measured()


def test_a_value_that_never_changes_is_found_and_still_given(over: threading.Event) -> None:
    found = Found()
    watch, thread = watched(Scripted(COLD), found, over, frozen_after_s=0.05)
    found.wait_for(Health.FROZEN)
    over.set()
    thread.join(DEADLINE_S)
    assert watch.take() == COLD


def test_calibration_is_added(over: threading.Event) -> None:
    found = Found()
    watch, thread = watched(Scripted(COLD), found, over, offset_mcel=-250)
    found.wait_for(Health.WORKS)
    over.set()
    thread.join(DEADLINE_S)
    assert watch.take().quantities == {"temperature_mcel": 3_750}


def test_a_sign_between_two_readings_is_not_lost(over: threading.Event) -> None:
    opened, shut = Measured(tamper=Tamper.DOOR_OPEN), Measured()
    found, sensor = Found(), Scripted(shut, opened, shut)
    watch, thread = watched(sensor, found, over)
    while sensor.asked < len(sensor.answers) + 1:
        assert not over.wait(0.01)
    over.set()
    thread.join(DEADLINE_S)
    assert watch.take().tamper is Tamper.DOOR_OPEN
    assert watch.take().tamper is Tamper.NONE


def test_the_first_sensor_that_gives_a_quantity_counts_and_all_signs_do() -> None:
    here, there = Position(1, 2), Position(3, 4)
    assert mixed(
        [
            Measured({"temperature_mcel": 1}, tamper=Tamper.LIGHT),
            Measured({"temperature_mcel": 2, "humidity_mpct": 3}, here, Tamper.SHOCK),
            Measured(position=there),
        ]
    ) == Measured({"temperature_mcel": 1, "humidity_mpct": 3}, here, Tamper.LIGHT | Tamper.SHOCK)


def refusing() -> Sensor:
    raise UnavailableError("not plugged in")


def test_one_lost_sensor_delays_no_other(stop: Stop) -> None:
    found, samples, idles = Found(), list[Sample](), 0

    def idle() -> None:
        nonlocal idles
        idles += 1

    source = LiveSource(
        [
            Connection(WatchPlan("gone", 0.01), refusing),
            Connection(WatchPlan("cargo", 0.01), lambda: Scripted(COLD)),
        ],
        0.02,
        found,
    )
    for sample in source.stream(stop, idle):
        samples.append(sample)
        if len(samples) == 5:
            stop.request()
    assert [sample.temperature_mcel for sample in samples] == [4_000] * 5
    assert idles == 4 + 1
    offsets = [sample.offset_ms for sample in samples]
    assert offsets == sorted(set(offsets))
    assert found.wait_for(Health.LOST) == Finding("gone", Health.LOST, "not plugged in")


def test_a_sign_between_the_last_tick_and_the_end_is_not_lost(stop: Stop) -> None:
    sensor = Scripted(Measured())
    source = LiveSource([Connection(WatchPlan("door", 0.001), lambda: sensor)], 3_600.0)
    samples = source.stream(stop, lambda: None)
    assert next(samples).tamper is Tamper.NONE
    sensor.answers.append(Measured(tamper=Tamper.DOOR_OPEN))
    asked = sensor.asked
    while sensor.asked < asked + 3:
        stop.wait(0.001)
    stop.request()
    assert [each.tamper for each in samples] == [Tamper.DOOR_OPEN]


@pytest.mark.parametrize("sign", [Tamper.SHOCK, Tamper.MOTION])
def test_a_second_shock_between_the_last_tick_and_the_end_is_not_lost(
    stop: Stop, sign: Tamper
) -> None:
    sensor = Scripted(Measured(tamper=sign))
    source = LiveSource([Connection(WatchPlan("knocks", 0.001), lambda: sensor)], 3_600.0)
    samples = source.stream(stop, lambda: None)
    assert next(samples).tamper is sign
    asked = sensor.asked
    while sensor.asked < asked + 3:  # the last answer is given again
        stop.wait(0.001)
    stop.request()
    assert [each.tamper for each in samples] == [sign]


def test_a_sign_that_nobody_has_taken_when_recording_fails_is_handed_over(stop: Stop) -> None:
    sensor, missed = Scripted(Measured()), list[Tamper]()
    door = Connection(WatchPlan("door", 0.001), lambda: sensor)

    def fails() -> None:
        sensor.answers.append(Measured(tamper=Tamper.DOOR_OPEN))
        asked = sensor.asked
        while sensor.asked < asked + 3:
            stop.wait(0.001)
        raise UnavailableError("disk is full")

    samples = LiveSource([door], 0.01, missed=missed.append).stream(stop, fails)
    next(samples)
    with pytest.raises(UnavailableError):
        next(samples)
    assert missed == [Tamper.DOOR_OPEN]


def test_a_sensor_that_hangs_beyond_the_trip_says_nothing_later(over: threading.Event) -> None:
    class Hanging(Scripted):
        def measure(self) -> Measured:
            measured = super().measure()
            if released.is_set():
                raise UnavailableError("unplugged")
            return measured

    found, released = Found(), threading.Event()
    watch, thread = watched(Hanging(COLD, released), found, over)
    found.wait_for(Health.WORKS)
    while watch.take() != Measured():
        assert not over.wait(0.01)
    over.set()
    watch.end(thread)
    released.set()
    thread.join(DEADLINE_S)
    assert [each.health for each in found.all] == [Health.WORKS, Health.SILENT]


@pytest.mark.parametrize(("limited", "said"), [(("humidity",), 1), (("temperature",), 0)])
def test_a_limited_quantity_that_nobody_measures_is_said(
    stop: Stop, caplog: pytest.LogCaptureFixture, limited: tuple[str, ...], said: int
) -> None:
    cargo = Connection(WatchPlan("cargo", 0.01), lambda: Scripted(COLD))
    stream = LiveSource([cargo], 0.02, limited=limited).stream(stop, lambda: None)
    assert [next(stream).temperature_mcel for _ in range(2)] == [4_000] * 2
    assert caplog.text.count("no sensor gives humidity, which the deliveries limit") == said


def test_no_sensor_at_all_still_gives_readings_without_values(stop: Stop) -> None:
    source = LiveSource([Connection(WatchPlan("gone", 0.01), refusing)], 0.02)
    first = next(source.stream(stop, lambda: None))
    assert (first.temperature_mcel, first.position, first.tamper) == (None, None, Tamper.NONE)
