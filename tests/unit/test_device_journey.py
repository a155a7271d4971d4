"""The journey: each transition, by the network and by hand, and after a reboot."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from device.journey.file import ORDER_NAME, STATE_NAME, JourneyFile
from device.journey.states import FIRST, Command, Journey, Seen, State
from device.journey.watch import SILENT_S, JourneyWatch
from device.stop import Stop

DEBOUNCE_S = 10.0
PRESENT, ABSENT, UNKNOWN = Seen(present=True), Seen(present=False), Seen(present=None)


def after(state: State, *steps: tuple[float, Seen], by_hand: bool = False) -> State:
    """Return the state after what was seen at each time, seconds; the journey began at 0."""
    journey = Journey(state, 0.0, by_hand)
    for now_s, seen in steps:
        journey = journey.step(seen, now_s, DEBOUNCE_S)
    return journey.state


@pytest.mark.parametrize(
    ("state", "steps", "ends"),
    [
        (State.DOCKED, [(1, PRESENT)], State.DOCKED),
        (State.DOCKED, [(1, ABSENT)], State.DEPARTING),
        (State.DEPARTING, [(9.9, ABSENT)], State.DEPARTING),
        (State.DEPARTING, [(10, ABSENT)], State.ON_THE_ROAD),
        (State.DEPARTING, [(9, PRESENT)], State.OFFLOADING),
        (
            State.DEPARTING,
            [(9, PRESENT), (10, Seen(present=True, all_receipted=True))],
            State.DOCKED,
        ),
        (State.ON_THE_ROAD, [(500, ABSENT)], State.ON_THE_ROAD),
        (State.ON_THE_ROAD, [(1, PRESENT)], State.ARRIVING),
        (State.ON_THE_ROAD, [(1, PRESENT), (10.9, PRESENT)], State.ARRIVING),
        (State.ON_THE_ROAD, [(1, PRESENT), (11, PRESENT)], State.OFFLOADING),
        (State.ON_THE_ROAD, [(1, PRESENT), (5, ABSENT), (12, PRESENT)], State.ARRIVING),
        (State.OFFLOADING, [(1, PRESENT)], State.OFFLOADING),
        (State.OFFLOADING, [(1, Seen(present=True, all_receipted=True))], State.DOCKED),
        (State.DOCKED, [(1, Seen(present=True, all_receipted=False))], State.OFFLOADING),
        (State.ON_THE_ROAD, [(1, Seen(present=False, all_receipted=True))], State.ON_THE_ROAD),
        (State.OFFLOADING, [(1, ABSENT)], State.DEPARTING),
        (State.OFFLOADING, [(1, ABSENT), (11, ABSENT)], State.ON_THE_ROAD),
    ],
)
def test_the_network_moves_the_truck(
    state: State, steps: list[tuple[float, Seen]], ends: State
) -> None:
    assert after(state, *steps) is ends


@pytest.mark.parametrize("state", State)
def test_an_unknown_presence_changes_nothing(state: State) -> None:
    assert after(state, (1, UNKNOWN), (1000, UNKNOWN)) is state


@pytest.mark.parametrize("state", State)
def test_a_person_is_obeyed_in_each_state_at_once(state: State) -> None:
    assert after(state, (1, Seen(present=True, order=Command.DEPART))) is State.ON_THE_ROAD
    arrived = after(state, (1, Seen(present=False, order=Command.ARRIVE)))
    assert arrived is (State.DOCKED if state is State.DOCKED else State.OFFLOADING)


def test_an_order_holds_until_the_network_agrees_and_then_the_network_counts_again() -> None:
    departed = (1.0, Seen(present=True, order=Command.DEPART))
    still_near = [(5.0, PRESENT), (500.0, PRESENT)]
    assert after(State.DOCKED, departed, *still_near) is State.ON_THE_ROAD
    gone, back = (600.0, ABSENT), [(700.0, PRESENT), (711.0, PRESENT)]
    assert after(State.DOCKED, departed, *still_near, gone, *back) is State.OFFLOADING
    arrived = (1.0, Seen(present=False, order=Command.ARRIVE))
    assert after(State.ON_THE_ROAD, arrived, (500, ABSENT)) is State.OFFLOADING
    left = [(600.0, PRESENT), (700.0, ABSENT), (711.0, ABSENT)]
    assert after(State.ON_THE_ROAD, arrived, *left) is State.ON_THE_ROAD


def test_an_order_given_twice_begins_nothing_again() -> None:
    ordered = Seen(present=None, order=Command.DEPART)
    first = Journey(State.DOCKED, 0.0).step(ordered, 5.0, DEBOUNCE_S)
    assert first.step(ordered, 9.0, DEBOUNCE_S) == first


class Script:
    """Presence: what a test says, or an error."""

    def __init__(self) -> None:
        self.now: bool | None = True
        self.error = ""
        self.defect = False

    def look(self) -> bool | None:
        if self.defect:
            raise KeyError("Ssid")
        if self.error:
            raise UnavailableError(self.error)
        return self.now


class Yard:
    """A journey watch with a scripted presence and clock."""

    def __init__(self, folder: Path) -> None:
        self.presence, self.file, self.now_s = Script(), JourneyFile(folder), 0.0
        self.watch = self.restarted()

    def restarted(self) -> JourneyWatch:
        self.watch = JourneyWatch(self.presence, self.file, DEBOUNCE_S, lambda: self.now_s)
        return self.watch

    def pass_s(self, seconds: float, *, present: bool | None) -> State:
        self.presence.now = present
        for _ in range(round(seconds)):
            self.now_s += 1
            self.watch.look()
        return self.watch.state


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


@pytest.fixture
def stop() -> Iterator[Stop]:
    with closing(Stop()) as made:
        yield made


def test_a_trip_begins_on_the_road_and_ends_at_the_arrival(yard: Yard, stop: Stop) -> None:
    assert yard.pass_s(3, present=True) is State.DOCKED
    assert yard.pass_s(12, present=False) is State.ON_THE_ROAD
    with yard.watch.departed(stop) as end:
        assert end is not None
        assert yard.pass_s(5, present=True) is State.ARRIVING
        assert yard.pass_s(2, present=False) is State.ON_THE_ROAD
        on_the_way = end.requested
        assert yard.pass_s(12, present=True) is State.OFFLOADING
        assert (on_the_way, end.requested) == (False, True)
    assert not yard.watch.records


def test_an_arrival_after_a_recording_that_failed_writes_into_no_other_file(
    yard: Yard, stop: Stop, tmp_path: Path
) -> None:
    """A closed pipe's number goes to the next file that is opened, such as the journal."""
    yard.pass_s(12, present=False)

    def fail() -> None:
        with yard.watch.departed(stop):
            raise UnavailableError("the journal is full")

    with pytest.raises(UnavailableError, match="journal is full"):
        fail()
    with ExitStack() as opened:
        files = [opened.enter_context((tmp_path / str(n)).open("wb")) for n in range(4)]
        assert yard.pass_s(12, present=True) is State.OFFLOADING
        assert [os.fstat(file.fileno()).st_size for file in files] == [0] * len(files)


def test_a_stop_ends_the_wait_for_a_departure_and_a_trip(yard: Yard, stop: Stop) -> None:
    stop.request()
    with yard.watch.departed(stop) as end:
        assert end is None


def test_the_end_of_the_watch_ends_the_trip(yard: Yard, stop: Stop) -> None:
    yard.pass_s(12, present=False)
    with yard.watch.departed(stop) as end:
        assert end is not None
        stop.request()
        yard.watch.watch(stop)
        assert end.requested


def test_a_look_that_fails_in_a_way_that_nobody_foresaw_ends_nothing(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    yard.presence.defect = True
    assert yard.pass_s(3, present=False) is State.DOCKED
    assert caplog.text.count("cannot be told: its driver failed: KeyError") == 1
    yard.presence.defect = False
    assert yard.pass_s(12, present=False) is State.ON_THE_ROAD


def test_what_was_receipted_before_the_trip_docks_no_truck_after_it(yard: Yard) -> None:
    yard.watch.note_receipted(everything=True)
    yard.pass_s(12, present=False)
    yard.watch.note_receipted(everything=True)  # the trip is not begun yet
    assert yard.pass_s(30, present=True) is State.OFFLOADING
    yard.watch.note_receipted(everything=True)
    assert yard.pass_s(1, present=True) is State.DOCKED


def test_a_truck_with_something_to_offload_is_not_shown_as_docked(yard: Yard) -> None:
    yard.watch.note_receipted(everything=False)
    assert yard.pass_s(1, present=True) is State.OFFLOADING
    yard.watch.note_receipted(everything=True)
    assert yard.pass_s(1, present=True) is State.DOCKED


@pytest.mark.parametrize("state", State)
def test_a_reboot_goes_on_where_the_truck_was(yard: Yard, state: State) -> None:
    yard.file.keep(Journey(state, 5.0))
    assert yard.restarted().state is state
    near = state in (State.DOCKED, State.ARRIVING, State.OFFLOADING)
    assert yard.pass_s(1, present=near) is state


def test_time_before_a_reboot_does_not_count_as_lasting(yard: Yard) -> None:
    yard.pass_s(9, present=False)
    yard.restarted()
    assert yard.pass_s(9, present=False) is State.DEPARTING
    assert yard.pass_s(3, present=False) is State.ON_THE_ROAD


def test_an_order_is_carried_out_once_also_after_a_restart(yard: Yard) -> None:
    yard.file.order(Command.DEPART)
    assert yard.restarted().state is State.DOCKED
    assert yard.pass_s(1, present=True) is State.ON_THE_ROAD
    assert not (yard.file.folder / ORDER_NAME).exists()
    assert yard.restarted().state is State.ON_THE_ROAD
    assert yard.pass_s(100, present=True) is State.ON_THE_ROAD


def test_damaged_files_are_named_and_stop_nothing(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    (yard.file.folder / STATE_NAME).write_text('{"state": "flying"}')
    (yard.file.folder / ORDER_NAME).write_text("fly")
    with pytest.raises(RejectedError, match=r"expected a state, one of docked, .*flying"):
        yard.file.load()
    assert yard.restarted().state is FIRST.state
    assert yard.pass_s(12, present=False) is State.ON_THE_ROAD
    assert caplog.text.count("journey.json: expected a state") == 1
    assert caplog.text.count("an order is not carried out") == 1
    yard.file.order(Command.ARRIVE)
    yard.pass_s(1, present=False)
    (yard.file.folder / ORDER_NAME).write_text("fly")
    yard.pass_s(2, present=False)
    assert caplog.text.count("an order is not carried out") == 2


def test_a_presence_that_cannot_be_told_is_said_once_and_its_return_too(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "device")
    yard.presence.error = "iw is not installed"
    assert yard.pass_s(5, present=False) is State.DOCKED
    assert caplog.text.count("cannot be told: iw is not installed") == 1
    yard.presence.error = ""
    yard.pass_s(5, present=True)
    assert caplog.text.count("it is known again whether a site is near") == 1


def test_a_look_that_hangs_is_said_once_and_its_end_too(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "device")
    yard.pass_s(1, present=True)
    for _ in range(3):
        yard.now_s += SILENT_S
        yard.watch.check_looking()
    assert caplog.text.count("takes over 60 s") == 1
    yard.pass_s(1, present=True)
    yard.watch.check_looking()
    assert caplog.text.count("a look for a site has ended") == 1


def test_a_card_that_takes_no_writes_stops_no_truck(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise UnavailableError("write: no space left on device")

    monkeypatch.setattr(JourneyFile, "keep", full)
    assert yard.pass_s(12, present=False) is State.ON_THE_ROAD
    assert "the journey's state is not kept: write: no space left" in caplog.text
