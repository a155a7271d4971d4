"""A Sense HAT's temperature, humidity and pressure, by register files of its chips."""

from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.runtime.checks import Severity
from device.commands.check_sensors import sensors
from device.live.drivers import sensehat
from device.live.drivers.sensehat import SenseHat
from device.settings_file import load
from support.trucks.sensehat import HTS221, LPS25H, SenseHatBus

TRUCK = """device_id = "truck-7"
data = "data"
[source]
driver = "sensors"
[[sensors]]
name = "hold"
driver = "sense-hat"
"""


def measured(bus: SenseHatBus) -> tuple[int, int, int]:
    found = SenseHat(bus).measure().quantities
    return found["temperature_mcel"], found["humidity_mpct"], found["pressure_pa"]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ((-5, -12, 4_096 * 1_013), (20_625, 33_000, 101_300)),  # the first point of calibration
        ((755, -9_012, 4_096 * 900), (35_000, 66_000, 90_000)),  # the second one
        ((375, -4_512, 4_096 * 1_000 + 2_048), (27_812, 49_500, 100_050)),  # half way
        ((-1_525, -12, 4_096 * 500), (-8_125, 33_000, 50_000)),  # below both
    ],
)
def test_values_are_those_of_the_data_sheets(
    raw: tuple[int, int, int], expected: tuple[int, int, int]
) -> None:
    warm, wet, steps = raw
    bus = SenseHatBus(temperature_raw=warm, humidity_raw=wet, pressure_raw=steps)
    assert measured(bus) == expected


@pytest.mark.parametrize(("share", "expected"), [(102, 100_000), (-3, 0), (140, 140_000)])
def test_fog_is_a_hundred_percent_and_nonsense_stays_nonsense(share: int, expected: int) -> None:
    raw = round(-12 + (share - 33) / 33 * -9_000)
    assert abs(measured(SenseHatBus(humidity_raw=raw))[1] - expected) <= 4


def test_the_chips_are_set_up_as_their_data_sheets_say() -> None:
    bus = SenseHatBus()
    bus.registers[HTS221] |= {0x20: 0x85, 0x21: 0x02}  # another program left the heater on
    bus.registers[LPS25H] |= {0x20: 0xC4, 0x21: 0x40, 0x2E: 0xC0}  # and a mean of samples
    sensor = SenseHat(bus)
    assert {name: bus.registers[HTS221][name] for name in (0x20, 0x21)} == {0x20: 0x86, 0x21: 0}
    assert {name: bus.registers[LPS25H][name] for name in (0x20, 0x21, 0x2E)} == {
        0x20: 0xA4,
        0x21: 0,
        0x2E: 0,
    }
    assert sensor.measure() == sensor.measure()  # the second one waits for new values
    sensor.close()
    assert bus.closed == 1


@pytest.mark.parametrize("chip", [HTS221, LPS25H])
def test_a_board_that_lost_power_for_a_moment_is_named(chip: int) -> None:
    bus = SenseHatBus()
    sensor = SenseHat(bus)
    bus.plug_in()
    with pytest.raises(UnavailableError, match=r"CTRL_REG1 .* it lost power, or another program"):
        sensor.measure()
    bus = SenseHatBus()
    bus.registers[chip][0x0F] = 0x33
    with pytest.raises(UnavailableError, match="got 0x33, which is another chip"):
        SenseHat(bus)
    assert bus.closed == 1


def test_chips_that_measure_nothing_or_are_not_there_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sensehat, "ANSWER_S", 0.02)
    with pytest.raises(UnavailableError, match=r"the chip at 0x5f measures nothing within 0\.02 s"):
        measured(SenseHatBus(measures=False))
    with pytest.raises(UnavailableError, match="the calibration in its HTS221 is damaged: 0000"):
        measured(SenseHatBus(calibration=bytes(16)))
    with pytest.raises(UnavailableError, match="Remote I/O error; docs/hardware"):
        measured(SenseHatBus(is_lost=True))
    with pytest.raises(UnavailableError, match="Sense HAT on I2C bus 99: No such file"):
        SenseHat(99)


def test_check_config_says_what_it_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "truck.toml"
    file.write_text(TRUCK)
    monkeypatch.setattr("smbus2.SMBus", lambda _number: SenseHatBus())
    [finding] = sensors(load(file, {}))
    assert (finding.severity, finding.subject) == (Severity.OK, "sensor hold")
    assert finding.words == "temperature 20.625 Cel, humidity 33 %, pressure 1013 hPa"
