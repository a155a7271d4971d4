"""What shows a driver whether the truck may leave: lamp, small display, and both when they fail."""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory

from contracts.errors import UnavailableError
from device.display.board import Board
from device.display.drivers.led import LedLamp
from device.display.drivers.oled import OledDisplay
from device.display.lamp import LAMPS
from device.display.lines import lines_of
from device.display.look import Look
from device.display.port import Display
from device.display.shown import Mood, Shown
from device.journal.offloading import Offloading
from device.journey.states import State
from device.live.health import Finding, Health
from device.live.healthfile import HealthFile
from device.settings_file import load
from device.station import make
from device.troubles import Trouble
from support.machine.waiting import wait_until
from support.project.pages import ROOT
from support.trucks.pins import mock_pins
from support.trucks.truck import Truck

PINS = (5, 6, 13)
WAITS = "1 trip has no final receipt: 10800 readings and 2 recordings"
RUNS = Offloading("dock-b", 0, 4_000_000_000, 1_200_000_000, 42_000_000, 67)
DOCKED = Shown("truck-7", State.DOCKED)
STAYS = Shown("truck-7", State.OFFLOADING, WAITS, RUNS)
ROAD = Shown("truck-7", State.ON_THE_ROAD, WAITS)
LOST = replace(ROAD, trouble="cargo lost")
MOODS = {
    Mood.MAY_LEAVE: DOCKED,
    Mood.MUST_STAY: STAYS,
    Mood.DEPARTING: Shown("truck-7", State.DEPARTING),
    Mood.RECORDS: ROAD,
    Mood.TROUBLE: LOST,
}
luma_reads_pixels_the_old_way = pytest.mark.filterwarnings("ignore:Image.Image.getdata")


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    with mock_pins() as factory:
        yield factory


@pytest.mark.parametrize(("mood", "shown"), MOODS.items())
def test_the_mood_is_what_matters_first(mood: Mood, shown: Shown) -> None:
    assert shown.mood is mood


@pytest.mark.parametrize(
    ("state", "because", "mood"),
    [
        (State.ARRIVING, WAITS, Mood.RECORDS),
        (State.OFFLOADING, "", Mood.MAY_LEAVE),
        (None, WAITS, Mood.MUST_STAY),
        (None, "", Mood.MAY_LEAVE),
    ],
)
def test_moods_at_the_border(state: State | None, because: str, mood: Mood) -> None:
    assert Shown("truck-7", state, because).mood is mood


def test_each_beat_differs_so_that_one_led_says_the_same() -> None:
    assert len({(lamp.on_s, lamp.off_s) for lamp in LAMPS.values()}) == len(Mood)


def test_the_page_has_the_lamp_of_each_mood() -> None:
    page = (ROOT / "docs" / "device.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| ([a-z ]+) \| (\w+, [^|]+) \|", page, re.MULTILINE))
    assert rows == {mood.value: str(lamp) for mood, lamp in LAMPS.items()}


def states(factory: MockFactory) -> tuple[bool, ...]:
    return tuple(bool(factory.pin(pin).state) for pin in PINS)


@pytest.mark.parametrize(("mood", "shown"), MOODS.items())
def test_three_leds_show_the_colour_in_its_beat(
    pins: MockFactory, mood: Mood, shown: Shown
) -> None:
    lamp = LAMPS[mood]
    led = LedLamp(PINS, active_high=True)
    try:
        led.show(shown)
        wait_until(lambda: states(pins) == (lamp.red, lamp.green, lamp.blue))
        if lamp.off_s:
            wait_until(lambda: not any(states(pins)))
            wait_until(lambda: any(states(pins)))
        led.show(MOODS[Mood.MAY_LEAVE])
        wait_until(lambda: states(pins) == (False, True, False))
    finally:
        led.close()


def test_one_led_that_ground_switches_on(pins: MockFactory) -> None:
    led = LedLamp(PINS[:1], active_high=False)
    pin = pins.pin(PINS[0])
    try:
        assert pin.state
        led.show(DOCKED)
        assert not pin.state
        led.show(STAYS)
        wait_until(lambda: bool(pin.state))
        wait_until(lambda: not pin.state)
    finally:
        led.close()


def test_a_pin_that_a_sensor_has_is_one_clear_error(pins: MockFactory) -> None:
    assert pins.pin(PINS[0]) is not None
    first = LedLamp(PINS[:1], active_high=True)
    try:
        with pytest.raises(UnavailableError, match=r"LED on GPIO 5, 6, 13: .*in use"):
            LedLamp(PINS, active_high=True)
    finally:
        first.close()


@dataclass
class RegisterFile:
    """An SSD1306 on a bus of smbus2's interface: its picture, and what it was told.

    Source: Solomon Systech SSD1306, 8.1.5.2 (control byte 0x00: commands, 0x40: data) and 10.1.3
    (horizontal addressing: the pointer goes through the columns of a page, then to the next one).
    """

    address: int = 0x3C
    commands: list[int] = field(default_factory=list)
    memory: bytearray = field(default_factory=lambda: bytearray(1024))
    at: int = 0
    fails: bool = False

    def write_i2c_block_data(self, address: int, control: int, data: Sequence[int]) -> None:
        if self.fails or address != self.address:
            raise OSError(121, "Remote I/O error")
        if control == 0x00:
            self.commands += data
            self.at = 0
            return
        assert control == 0x40
        for byte in data:
            self.memory[self.at] = byte
            self.at += 1

    def close(self) -> None:
        pass

    def row(self, y: int) -> int:
        """Return how many pixels of a row are lit."""
        return sum(self.memory[y // 8 * 128 + x] >> y % 8 & 1 for x in range(128))


@luma_reads_pixels_the_old_way
def test_the_picture_of_a_small_display() -> None:
    bus = RegisterFile()
    oled = OledDisplay(0x3C, bus, 64)
    assert 0xAF in bus.commands  # display on
    assert not any(bus.memory)
    oled.show(DOCKED)
    picture = bytes(bus.memory)
    assert any(bus.row(y) for y in range(18))
    assert any(bus.row(y) for y in range(18, 29))
    assert not any(bus.row(y) for y in range(32, 64))
    oled.show(STAYS)
    assert bytes(bus.memory) != picture
    count = len(bus.commands)
    oled.show(replace(STAYS))
    assert len(bus.commands) == count  # nothing changed, and nothing goes over the bus
    oled.close()


@luma_reads_pixels_the_old_way
def test_a_small_display_that_is_not_there_or_goes_away() -> None:
    with pytest.raises(UnavailableError, match=r"OLED at address 0x3c: .*check its wires"):
        OledDisplay(0x3C, RegisterFile(address=0x3D), 32)
    bus = RegisterFile()
    oled = OledDisplay(0x3C, bus, 32)
    bus.fails = True
    with pytest.raises(UnavailableError, match=r"OLED at address 0x3c"):
        oled.show(DOCKED)
    oled.close()
    bus.fails = False
    oled.show(DOCKED)
    assert any(bus.memory)


def test_the_lines_of_each_mood_fit() -> None:
    assert lines_of(DOCKED, 21, 5) == ["MAY LEAVE", "nothing waits here"]
    assert lines_of(STAYS, 21, 5) == ["MUST STAY", "1.2 GB of 4.0 GB", "about 67 s left"]
    waiting = lines_of(replace(STAYS, offloading=None), 21, 5)
    assert " ".join(waiting) == f"MUST STAY {WAITS}"
    assert lines_of(LOST, 21, 5) == ["LOOK AT ME", "cargo lost", "must stay"]
    long = replace(STAYS, trouble="offload: " + "a broker answers nothing at all " * 9)
    for count in (2, 5):
        lines = lines_of(long, 21, count)
        assert len(lines) <= count
        assert all(len(line) <= 21 for line in lines)


@dataclass
class Fake:
    """A display that notes what it shows, and fails when it is told to."""

    shows: list[Mood] = field(default_factory=list)
    problem: Exception | None = None

    def show(self, shown: Shown) -> None:
        if self.problem is not None:
            raise self.problem
        self.shows.append(shown.mood)

    def close(self) -> None:
        self.shows.append(Mood.DEPARTING)


@pytest.mark.parametrize(
    "problem", [UnavailableError("unplugged"), RuntimeError("a driver's defect")]
)
def test_a_display_that_fails_is_told_tried_again_and_delays_no_other(problem: Exception) -> None:
    broken, works = Fake(problem=problem), Fake()
    found: list[Finding] = []
    board = Board({"oled": lambda: broken, "lamp": lambda: works}, lambda: DOCKED, found.append)
    with board.running():
        wait_until(lambda: Mood.MAY_LEAVE in works.shows)
        wait_until(lambda: any(each.health is Health.LOST for each in found))
        broken.problem = None
        wait_until(lambda: Mood.MAY_LEAVE in broken.shows)
    of_broken = [each.health for each in found if each.sensor == "oled"]
    assert of_broken == [Health.LOST, Health.WORKS]
    assert str(problem) in next(each.detail for each in found if each.health is Health.LOST)
    assert works.shows[-1] is Mood.DEPARTING  # it was closed


def test_a_display_that_hangs_and_a_look_that_fails_stop_nothing() -> None:
    for_ever = threading.Event()
    works = Fake()
    looks: list[int] = []

    def hangs() -> Display:
        for_ever.wait()
        return Fake()

    def look() -> Shown:
        looks.append(1)
        if len(looks) == 1:
            raise OSError("the journal cannot be read")
        return DOCKED

    board = Board({"oled": hangs, "lamp": lambda: works}, look, lambda _: None)
    with board.running():
        wait_until(lambda: Mood.MAY_LEAVE in works.shows)
    for_ever.set()


@pytest.mark.parametrize(
    ("finding", "trouble"),
    [
        (Finding("hold", Health.STOPPED, "the card has 63 MiB left", "camera"), "hold stopped"),
        (Finding("cargo", Health.LOST, "unplugged"), "cargo lost"),
        (Finding("cargo", Health.WORKS, ""), ""),
    ],
)
def test_film_that_stops_and_a_lost_sensor_are_an_alarm_on_the_road(
    tmp_path: Path, finding: Finding, trouble: str
) -> None:
    settings = load(Truck(tmp_path).config, {})
    signer = make(settings)
    HealthFile(settings.data).tell(finding)
    shown = Look(settings, signer, lambda: State.ON_THE_ROAD, {})()
    assert shown.trouble == trouble
    assert shown.mood is (Mood.TROUBLE if trouble else Mood.RECORDS)
    assert shown.document()["trouble"] == trouble
    paused = {Trouble.RECORDING: "recording is paused: disk is full"}
    assert (
        Look(settings, signer, lambda: State.ARRIVING, paused)().trouble
        == paused[Trouble.RECORDING]
    )
    assert Look(settings, signer, lambda: State.DOCKED, {})().mood is Mood.MAY_LEAVE


def test_a_document_for_programs() -> None:
    assert STAYS.document() == {
        "device_id": "truck-7",
        "state": "offloading",
        "may_leave": False,
        "because": WAITS,
        "offloading": {
            "site": "dock-b",
            "batches": 0,
            "video_bytes": 4_000_000_000,
            "video_bytes_sent": 1_200_000_000,
            "bytes_per_s": 42_000_000,
            "left_s": 67,
        },
        "trouble": "",
    }
    assert DOCKED.document()["may_leave"] is True
