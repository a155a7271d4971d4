"""What a truck has to say comes into the journal, whatever fails before a reading says it."""

from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from contracts.errors import UnavailableError
from contracts.records.reading import Tamper
from contracts.records.remark import RemarkKind
from device.camera.filming.plan import CameraPlan
from device.camera.filming.reel import Reel
from device.camera.filming.segments import part_of, place_of
from device.journal.logbook import Logbook
from device.journal.status import Status, status_of
from device.live.health import Finding, Health
from device.live.remarks import PER_READING
from device.live.source import LiveCamera
from device.live.telling import file_id
from device.settings import BatchSettings, BufferSettings
from device.station import open_journal, videos_of
from support.trucks.road import PICTURES, SEGMENT, START_MS, Hold, Lens, Road, Torn
from support.trucks.rogue import until

pytestmark = pytest.mark.integration
STILL = CameraPlan("dock", still_pictures_per_s=50, in_the_dark=True)
SHORT = CameraPlan("dock", still_pictures_per_s=50, in_the_dark=True, segment_s=1)
OTHER = CameraPlan("hold", still_pictures_per_s=50, in_the_dark=True, segment_s=1)
SECOND = 100
"""Pictures that a camera of these tests takes in about a second."""


@pytest.fixture(params=[BatchSettings(), BatchSettings(readings_per_transaction=50)])
def road(tmp_path: Path, request: pytest.FixtureRequest) -> Road:
    made = Road(tmp_path / "truck")
    made.settings = replace(made.settings, batch=request.param)
    return made


def full(*_: object, **__: object) -> None:
    raise UnavailableError("disk is full")


@pytest.mark.parametrize("fails", ["add_recording", "owe"])
def test_lost_film_is_said_once_though_the_journal_was_full_when_it_was_found(
    road: Road, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    road.leaves_film(road.drives(2))
    with monkeypatch.context() as patch:
        patch.setattr(Logbook, fails, full)
        with pytest.raises(UnavailableError):
            road.drives(2)
    road.reboots()
    road.drives(2)
    road.drives(2)
    road.arrives()
    lost = [each for each in road.said() if each.kind is RemarkKind.FILM_LOST]
    assert [each.subject for each in lost] == [SEGMENT]


def test_lost_film_is_said_though_the_power_was_cut_again_before_the_first_reading(
    road: Road,
) -> None:
    road.leaves_film(road.drives(2))
    road.drives(0)
    road.reboots()
    road.arrives()
    lost = [each for each in road.said() if each.kind is RemarkKind.FILM_LOST]
    assert [each.subject for each in lost] == [SEGMENT]


def test_a_sensor_that_was_lost_while_nothing_could_be_kept_is_said(
    road: Road, monkeypatch: pytest.MonkeyPatch
) -> None:
    road.drives(2)
    with monkeypatch.context() as patch:
        patch.setattr(Logbook, "append", full)

        def loses(_: int) -> None:
            road.remarks.hear(Finding("cargo", Health.LOST, "unplugged"))
            road.remarks.take(4, Tamper.DOOR_OPEN)

        with pytest.raises(UnavailableError):
            road.drives(2, loses)
    road.remarks.hear(Finding("cargo", Health.WORKS, ""))
    road.drives(2)
    road.arrives()
    of_cargo = [each for each in road.said() if each.subject == "cargo"]
    assert [(each.kind, each.ended) for each in of_cargo] == [
        (RemarkKind.SENSOR_LOST, False),
        (RemarkKind.SENSOR_LOST, True),
    ]
    signs = [tamper for _, tamper in road.told()]
    assert [each & Tamper.DOOR_OPEN for each in signs].count(Tamper.DOOR_OPEN) == 1


@pytest.mark.parametrize("journal", ["roomy", "full"])
def test_all_that_is_left_at_the_arrival_is_said_also_by_a_full_journal(
    road: Road, journal: str
) -> None:
    road.drives(2)
    names = [f"s{number}" for number in range(3 * PER_READING)]
    for name in names:
        road.remarks.hear(Finding(name, Health.LOST, "why"))
    if journal == "full":
        road.settings = replace(road.settings, buffer=BufferSettings(journal_bytes_max=1))
    road.arrives()
    assert [each.subject for each in road.said()] == names
    assert [len(remarks) for remarks, _ in road.told()] == [0, 0, *[PER_READING] * 3]


def test_a_trip_is_not_sealed_before_all_is_said(
    road: Road, monkeypatch: pytest.MonkeyPatch
) -> None:
    road.drives(2)
    road.remarks.hear(Finding("cargo", Health.LOST, "why"))
    with monkeypatch.context() as patch:
        patch.setattr(Logbook, "append", full)
        with pytest.raises(UnavailableError):
            road.arrives()
    road.arrives()
    assert [each.subject for each in road.said()] == ["cargo"]


def test_a_trip_that_arrives_after_its_recording_failed_says_since_when(
    road: Road, monkeypatch: pytest.MonkeyPatch
) -> None:
    road.drives(2)
    with monkeypatch.context() as patch:
        patch.setattr(Logbook, "append", full)
        with pytest.raises(UnavailableError):
            road.drives(2)
    road.arrives()
    assert [each.kind for each in road.said()] == [RemarkKind.INTERRUPTED]


def test_a_truck_that_was_killed_and_arrives_before_its_next_reading_says_since_when(
    road: Road,
) -> None:
    road.drives(2)
    road.reboots()
    road.drives(0)
    road.arrives()
    assert [each.kind for each in road.said()] == [RemarkKind.INTERRUPTED]


def test_a_trip_that_arrives_in_order_has_no_reading_more(road: Road) -> None:
    road.drives(2)
    road.arrives()
    assert road.told() == [((), Tamper.NONE)] * 2


def test_film_has_the_time_of_the_readings_whatever_the_machine_s_clock_says(
    tmp_path: Path,
) -> None:
    road = Road(tmp_path / "truck")
    road.drives(30, cameras=[LiveCamera(CameraPlan("dock"), Lens)])
    (film,) = road.films()
    assert abs(film.started_at_ms - START_MS) < 60_000


@pytest.mark.parametrize(
    ("finding", "marked"),
    [
        (None, False),
        (Finding("cargo", Health.LOST, "why"), True),
        (Finding("cargo", Health.REFUSED, "why"), True),
        (Finding("cargo", Health.WORKS, ""), False),
    ],
)
def test_film_of_what_a_truck_says_is_wrong_is_marked_as_that_of_a_sign(
    tmp_path: Path, finding: Finding | None, *, marked: bool
) -> None:
    road, taken = Road(tmp_path / "truck"), list[int]()

    def says(readings: int) -> None:
        if readings in {2, 25}:  # so the film is there before what is said, and after it
            enough = len(taken) + PICTURES
            until("pictures are taken", lambda: len(taken) > enough)
        if readings == 2:
            road.remarks.spare("dock", True)  # noqa: FBT003 - as cameras call it
            if finding is not None:
                road.remarks.hear(finding)

    road.drives(30, says, [LiveCamera(STILL, partial(Hold, taken))])
    (film,) = road.films()
    assert film.marked is marked


def test_a_sensor_that_stays_lost_marks_no_more_film_than_that_of_its_loss_and_its_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    road, marks = Road(tmp_path / "truck"), []
    monkeypatch.setattr(Reel, "mark", lambda _, at_s, __="": marks.append(at_s))
    health = {2: Health.LOST, 20: Health.WORKS}

    def says(readings: int) -> None:
        if readings in health:
            road.remarks.hear(Finding("cargo", health[readings], "why"))

    road.drives(30, says, [LiveCamera(STILL, partial(Hold, []))])
    road.arrives()
    assert sum(Tamper.SENSOR_UNPLUGGED in signs for _, signs in road.told()) > len(health)
    assert len(marks) == len(health)


def test_a_camera_that_is_torn_off_marks_of_other_film_only_that_of_the_moment(
    tmp_path: Path,
) -> None:
    road, taken = Road(tmp_path / "truck"), list[int]()

    def goes_on(readings: int) -> None:
        if readings == 2:
            until("the camera is lost", lambda: Health.LOST in road.found)
        if readings == 20:  # all of it is said
            enough = len(taken) + 4 * SECOND
            until("the other camera films", lambda: len(taken) > enough)

    cameras = [LiveCamera(SHORT, partial(Torn, [])), LiveCamera(OTHER, partial(Hold, taken))]
    road.drives(40, goes_on, cameras)
    marked = {"dock": list[bool](), "hold": list[bool]()}
    for each in road.films():
        marked[place_of(each.name)[0]].append(each.marked)
    assert marked["dock"] == [True]
    assert sum(marked["hold"]) <= 2 < len(marked["hold"]), marked


def test_each_event_names_a_moment_that_is_in_the_film(tmp_path: Path) -> None:
    road, taken = Road(tmp_path / "truck"), list[int]()

    def says(readings: int) -> None:
        if readings in range(2, 12):
            enough = len(taken) + SECOND // 2
            until("half a second is filmed", lambda: len(taken) > enough)
            road.remarks.hear(Finding("cargo", (Health.LOST, Health.WORKS)[readings % 2], "why"))

    trip = road.drives(30, says, [LiveCamera(SHORT, partial(Hold, taken))])
    road.arrives()
    films = {file_id(trip, each.name): each.duration_ms for each in road.films()}
    moments = [moment for reading in road.readings() for moment in reading.told.film]
    assert len(moments) > 9
    assert all(offset_ms <= films[name] for name, offset_ms in moments), (films, moments)


@pytest.mark.parametrize(
    "batch",
    [
        BatchSettings(),
        BatchSettings(max_readings=1),
        BatchSettings(readings_per_transaction=50),
        BatchSettings(max_readings=2, readings_per_transaction=2),
    ],
)
def test_status_names_the_signs_of_the_latest_reading_and_the_film_that_is_marked(
    tmp_path: Path, batch: BatchSettings
) -> None:
    road, taken = Road(tmp_path / "truck"), list[int]()
    road.settings = replace(road.settings, batch=batch)

    def says(readings: int) -> None:
        if readings == 2:
            until("pictures are taken", lambda: len(taken) > PICTURES)
            road.remarks.hear(Finding("cargo", Health.LOST, "why"))

    def status() -> Status:
        settings = road.settings
        with open_journal(settings, road.signer) as database:
            return status_of(database, "truck-1", road.signer.public_key, settings.buffer)

    road.drives(6, says, [LiveCamera(STILL, partial(Hold, taken))])
    assert status().document()["signs"] == ["sensor-unplugged"]
    assert status().document()["tamper_flags"] == Tamper.SENSOR_UNPLUGGED
    assert "signs in the latest reading: sensor-unplugged" in status().text()
    (trip,) = status().trips
    assert [each["marked"] for each in trip.recordings] == [True]
    assert "bytes, marked" in status().text()
    road.arrives()
    assert status().document()["signs"] == []


def test_film_of_a_trip_that_the_journal_does_not_know_is_never_removed(
    road: Road, caplog: pytest.LogCaptureFixture
) -> None:
    trip = road.drives(1)
    folder = videos_of(road.settings) / trip.trip_id
    road.leaves_film(trip)
    for journal in road.truck.data.glob("journal.sqlite*"):
        journal.unlink()
    road.reboots()
    road.drives(1)
    assert [each.name for each in folder.iterdir()] == [part_of(folder / SEGMENT).name]
    assert "its trip is not in the journal" in caplog.text
